"""Two LTE modems in Prague: alone, together, and with an antenna unplugged."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.study import comparing, judging, scenes, singles
from mptcplab.study.experiment import Drawing, Experiment, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mptcplab.study.experiment import Comparison, Extent
    from mptcplab.study.judging import Verdict
    from mptcplab.study.measured import Measured

ALONE, TOGETHER, UNPLUGGED = "ctu-lte/2/ppp1", "ctu-lte/3/two-modems-4", "ctu-lte/4/disconnection-4"
LINKS = {"ppp0": "o2-lte-weak", "ppp1": scenes.profile(ALONE)}
AT_S, AWAY_S = (16, 67), 10


def campaigns(extent: Extent) -> dict[str, dict[str, Any]]:
    """One modem; two; two of which one loses its antenna twice."""
    row = measurements.load().single_path[ALONE]
    return {
        "alone": singles.campaign(
            [row], extent, extent.repetitions(30, 6), "one LTE modem, uploads"
        ),
        "together": _together(extent, "25 s"),
        "unplugged": _together(extent, "120 s", _unplugged(), baselines=False),
    }


def compare(measured: Measured) -> Iterator[Comparison]:
    """Tables 2, 3 and 4."""
    data = measurements.load()
    alone = data.single_path[ALONE]
    yield from singles.compare([alone], measured, "alone")
    for row, name in ((TOGETHER, "together"), (UNPLUGGED, "unplugged")):
        yield from comparing.multipath(
            data.multipath[row], measured, {"ppp1": alone}, campaign=name
        )


def _together(
    extent: Extent,
    duration: str,
    timeline: tuple[dict[str, Any], ...] = (),
    *,
    baselines: bool = True,
) -> dict[str, Any]:
    scene = scenes.scenario(LINKS, "upload", duration=duration, addresses=2, timeline=timeline)
    return scenes.campaign(
        scene,
        extent,
        extent.repetitions(30, 6),
        title="two LTE modems, uploads",
        both=_window(extent),
        baselines=baselines,
        tables=["throughput"],
    )


def _window(extent: Extent) -> dict[str, Any]:
    if extent.engine.linux:
        # With so little Linux of today stands still: what came out of order takes all the room.
        return {}
    # One for all subflows (RFC 8684 §3.3.5), as the one that iperf asked for.
    settings = singles.settings(measurements.load().single_path[ALONE])
    return {key: value for key, value in settings.items() if "receive_buffer" in key}


def _unplugged() -> tuple[dict[str, Any], ...]:
    return tuple(
        {"at": f"{at} s", "path": "ppp1", "verb": verb}
        for start in AT_S
        for at, verb in ((start, "detach"), (start + AWAY_S, "attach"))
    )


def _sum(measured: Measured) -> Verdict:
    sample = measured.sample("together")
    first, second = (sample.alone(path) for path in LINKS)
    sums = [None if None in (a, b) else a + b for a, b in zip(first, second, strict=True)]  # type: ignore[operator]
    return judging.above(
        judging.Ratio(sample.figure("throughput_mbps"), sums), 0.9, "MPTCP / sum of both alone"
    )


def _more_than_alone(measured: Measured) -> Verdict:
    sample = measured.sample("together")
    within, alone = sample.path("ppp1"), sample.alone("ppp1")
    more = judging.more(within, alone, "within MPTCP, alone", "Mbit/s")
    return judging.sized(more, judging.Ratio(within, alone), 3.46 / 2.74, "the ratio")


def _goes_on(measured: Measured) -> Verdict:
    sample = measured.sample("unplugged")
    return judging.above(
        sample.between(AT_S[0] + 2, AT_S[0] + AWAY_S), 0.5, "while unplugged", "Mbit/s"
    )


def _comes_back(measured: Measured) -> Verdict:
    sample = measured.sample("unplugged")
    back = AT_S[0] + AWAY_S
    return judging.above(
        sample.between(back, back + 3, "ppp1"), 0.5, "the modem's first 3 s after", "Mbit/s"
    )


EXPERIMENT = Experiment(
    name="prague-lte",
    title="uploads over one LTE modem, over two, and while one loses its antenna twice",
    reproduces="Multipath TCP in LTE Networks, tables 2 to 4, figures 3 to 7",
    on_linux=True,
    campaigns=campaigns,
    compare=compare,
    findings=(
        Finding(
            "ctu-lte",
            "§3",
            "The final bandwidth is the sum of the subflows' bandwidths.",
            "MPTCP carries more than 90 % of what both modems carry alone",
            _sum,
        ),
        Finding(
            "ctu-lte",
            "§2.2",
            "A modem carries more within MPTCP than alone: 3.46 against 2.74 Mbit/s.",
            "the better modem carries more within MPTCP, run by run",
            _more_than_alone,
        ),
        Finding(
            "ctu-lte",
            "figure 6",
            "When a modem fails the connection goes on with the other one.",
            "it carries more than 0.5 Mbit/s while the modem is away",
            _goes_on,
        ),
        Finding(
            "ctu-lte",
            "§3",
            "When it is back, new subflows are added almost at once.",
            "within 3 s it carries more than 0.5 Mbit/s",
            _comes_back,
        ),
    ),
    drawings=(
        Drawing("shares", "share", "together"),
        *(
            Drawing(f"figure-{number}-{kind}", kind, campaign, of_run=True)
            for number, kind, campaign in (
                (3, "throughput", "alone"),
                (3, "rtt", "alone"),
                (4, "throughput", "together"),
                (5, "rtt", "together"),
                (6, "throughput", "unplugged"),
                (7, "rtt", "unplugged"),
            )
        ),
    ),
    remarks=(
        "For how long the antenna was off is not printed: 10 s each time is a guess.",
        "On the kernel engine both modems together have Linux's own receive buffer: with one of "
        "64 KiB for four subflows Linux 6.18 stood still.",
        "The paper's second finding contradicts a link of one capacity; see its inconsistencies.",
    ),
)
