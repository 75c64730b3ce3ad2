"""The papers' probe for split connections: ACKs are held back; do round trips grow?"""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import judging, scenes, singles
from mptcplab.study.experiment import Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Values, Verdict
    from mptcplab.study.measured import Measured, Sample

ROWS = {
    "verizon": "umass-tr/II/boston-verizon-lte",
    "att": "umass-tr/II/boston-att-lte-adjusted",
    "sprint": "umass-tr/II/boston-sprint-wimax",
}
WIFI = "umass-tr/II/boston-rcn-wifi"
#: How far the server is from a carrier's proxy is not told.
BEHIND = {"element": "delay", "delay": "10 ms"}
PROXY = {"element": "proxy", "congestion_control": "cubic"}
CACHE = PROXY | {"cached": True}
#: AT&T's proxy answered the server within this.
NEAR_MS = 1000


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """The probe over each carrier, with AT&T's web proxy on the way, and MPTCP through that."""
    repetitions = extent.repetitions(30, 4)
    probe = {"element": "ack-delay", "delay": _told()["delay"]}
    carriers = {
        name: {f"link.{singles.PATH}.profile": scenes.profile(row)} for name, row in ROWS.items()
    }
    ways = {"open": (), "proxy": (PROXY,), "cache": (CACHE,)}
    boxes = {
        name: {f"link.{singles.PATH}.middleboxes": [probe, *on_the_way, BEHIND]}
        for name, on_the_way in ways.items()
    }
    alone = scenes.scenario(
        {singles.PATH: scenes.profile(ROWS["att"])}, "download", size=extent.size("2 MB")
    )
    both = {"att": scenes.profile(ROWS["att"]), "rcn": scenes.profile(WIFI)}
    return {
        "probe": scenes.campaign(
            alone,
            extent,
            repetitions,
            title="ACKs held back",
            both=singles.PLAIN,
            baselines=False,
            axes={"carrier": {"points": carriers}, "way": {"points": boxes}},
        ),
        "mptcp": scenes.campaign(
            scenes.scenario(both, "download", size="2 MB"),
            extent,
            repetitions,
            title="MPTCP through a web proxy",
            baselines=False,
            axes={
                "way": {
                    "points": {
                        name: {"link.att.middleboxes": [*ways[name], BEHIND]}
                        for name in ("open", "proxy")
                    }
                }
            },
        ),
    }


def compare(_: Measured) -> Iterator[Comparison]:
    """What is printed are bounds."""
    return iter(())


def _told() -> dict[str, Any]:
    told: dict[str, Any] = measurements.load().findings["split_connections"]
    return told


def _delay_ms() -> float:
    number, _, unit = str(_told()["delay"]).partition(" ")
    assert unit == "ms"  # noqa: S101 - the data says so
    return float(number)


def _shortest(measured: Measured, carrier: str, way: str) -> Values:
    return measured.sample("probe", carrier=carrier, way=way).shortest_at_the_sender()


def _transparent(measured: Measured) -> Verdict:
    return judging.both(
        *(
            judging.above(
                _shortest(measured, carrier, "open"), _delay_ms(), f"{carrier}, shortest", "ms"
            )
            for carrier in ROWS
        )
    )


def _split(measured: Measured) -> Verdict:
    words = "AT&T with a proxy, shortest"
    return judging.below(_shortest(measured, "att", "proxy"), NEAR_MS, words, "ms")


def _unheard(measured: Measured) -> Verdict:
    new, known = (
        measured.sample("probe", carrier="att", way=way).heard() for way in ("proxy", "cache")
    )
    return judging.both(
        judging.in_most([not one for one in known], "the server hears nothing"),
        judging.in_most(new, "it hears of a file that the proxy has not"),
    )


def _subflows(sample: Sample) -> list[int]:
    established = sample.established()
    return [established.get(run, 0) for run in sample.runs["run"]]


def _one_path(measured: Measured) -> Verdict:
    proxied, open_ = (measured.sample("mptcp", way=way) for way in ("proxy", "open"))
    return judging.both(
        judging.in_most([one == 1 for one in _subflows(proxied)], "one path with the proxy"),
        judging.in_most([one > 1 for one in _subflows(open_)], "several without it"),
    )


EXPERIMENT = Experiment(
    name="split-connections",
    title="the probe for split connections: ACKs held back for 5 s, with a web proxy and without",
    reproduces="UM-CS-2012-022, §IV-C.1",
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "umass-tr",
            "§IV-C",
            "Where nobody splits the connection, no round trip is shorter than the ACKs are held.",
            "over each carrier the shortest round trip at the server is above 5000 ms",
            _transparent,
        ),
        Finding(
            "umass-tr",
            "§IV-C",
            "AT&T's web proxy splits: round trips stay below 1000 ms, though ACKs wait for 5000.",
            "with a proxy on the way the shortest round trip at the server is below 1000 ms",
            _split,
        ),
        Finding(
            "umass-tr",
            "§IV-C",
            "Of several downloads of the same file the server hears but of the first.",
            "in most runs the server sees a connection where the proxy is new to the file, and "
            "none where it has it",
            _unheard,
        ),
        Finding(
            "umass-tr",
            "§IV-C",
            "Through it there is one path: MPTCP's options are wiped out, further flows end.",
            "one subflow is established with the proxy, several without, in most runs",
            _one_path,
        ),
    ),
    remarks=(
        "Where carriers put their proxies is not told: 10 ms before the server. That FTP, SSH and "
        "POP were not split is a fact about 2012's carriers, and nothing that runs here.",
    ),
)
