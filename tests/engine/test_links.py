"""Every element, queue and box of links before Linux, each seen to do what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

from engine.machines import Machine
from mptcplab import _core
from mptcplab.results.run import Run
from mptcplab.scenario import long
from mptcplab.scenario.scenario import load

Row = dict[str, Any]
RTT_MS = 20
DELAY = {"element": "delay", "delay": "10 ms"}
FAST = {"element": "rate", "rate": "20 Mbit/s", "queue": {"queue": "drop-tail", "packets": 100}}
# A packet without data is smaller.
DATA_BYTES = 100


@dataclass(frozen=True)
class Seen:
    """What a run shows of the link."""

    run: Run
    log: pl.DataFrame

    def dropped(self, reason: str, direction: str = "down") -> int:
        """Count packets that the link dropped for a reason."""
        return self.log.filter(event="drop", reason=reason, direction=direction).height

    def arrived(self) -> int:
        """Count packets with data that came to it on the way down."""
        arrivals = self.log.filter(event="arrival", direction="down")
        return arrivals.filter(pl.col("bytes") > DATA_BYTES).height

    def longest_pause_ms(self) -> float:
        """Give the longest time from a packet's departure to the next's."""
        return float(self._departures()["at_ns"].diff().max()) / 1e6  # type: ignore[arg-type]

    def usual_pause_ms(self, least: int) -> float:
        """Give the median of such times of at least so many ms."""
        pauses_ms = self._departures()["at_ns"].diff().drop_nulls() / 1e6
        return float(pauses_ms.filter(pauses_ms >= least).median() or 0)  # type: ignore[arg-type]

    def fastest_mbps(self, bin_ms: int) -> float:
        """Give the greatest rate of departures over bins."""
        bins = pl.col("at_ns") // (bin_ms * 1_000_000)
        passed = self._departures().group_by(bins).agg(pl.sum("bytes"))["bytes"]
        return float(passed.max()) * 8e-3 / bin_ms  # type: ignore[arg-type]

    def usual_mbps(self) -> float:
        """Give the median of what left per time since the packet before, which no pause moves."""
        gaps_ms = pl.col("at_ns").diff() / 1e6
        rates = self._departures().select(pl.col("bytes") * 8e-3 / gaps_ms).to_series()
        return float(rates.median())  # type: ignore[arg-type]

    def most_queued(self) -> int:
        """Give the most packets that waited on the way down."""
        return int(self.log.filter(direction="down")["queued_packets"].max())  # type: ignore[arg-type]

    def losses_heard_of_ms(self) -> list[float]:
        """Give the times from a first drop to an ACK that is larger than most: it has SACK."""
        usual = self.log.filter(event="arrival", direction="up")["bytes"].median()
        found, lost_ns, has_sack = [], None, False
        columns = self.log.select("at_ns", "event", "direction", "bytes")
        for at_ns, event, direction, size in columns.iter_rows():
            if event == "drop" and lost_ns is None and not has_sack:
                lost_ns = at_ns
            elif event == "arrival" and direction == "up":
                has_sack = size > usual
                if has_sack and lost_ns is not None:
                    found.append((at_ns - lost_ns) / 1e6)
                    lost_ns = None
        return found

    @property
    def mbps(self) -> float:
        """The connection's throughput."""
        return self.run.throughput_mbps or 0

    @property
    def handshake_ms(self) -> float:
        """Round-trip time of the first subflow's handshake at the client."""
        return float(self.run.subflows["handshake_rtt_ms"][0])

    def rtt(self, figure: str) -> float:
        """Give a figure of the server's round-trip times in ms."""
        return float(self.run.flows.filter(direction="down")[f"rtt_ms_{figure}"][0])

    def said(self, word: str) -> bool:
        """Tell whether the analysis has an event or a diagnostic of that name."""
        names = self.run.events["event"], self.run.diagnostics["diagnostic"]
        return any(word in column.to_list() for column in names)

    def _departures(self) -> pl.DataFrame:
        return self.log.filter(event="departure", direction="down")


@dataclass(frozen=True)
class Case:
    """What stands in a link, and what is to be seen of it."""

    name: str
    settings: Row
    effect: Callable[[Seen], bool]
    key: str = "downlink"
    # Whether another path begins the connection, which is then to carry on.
    further: bool = False

    def scenario(self) -> str:
        """Write the scenario."""
        element = {"element": self.name} | self.settings
        paced = self.name in ("trace", "rate-trace") or any(
            key.endswith("rate") or key in ("mean", "high") for key in element
        )
        link: Row = {"uplink": [DELAY], "downlink": [DELAY] if paced else [FAST, DELAY]}
        link[self.key] = [*link.get(self.key, []), element]
        others = {"lte": {"rate": "5 Mbit/s", "delay": "10 ms"}} if self.further else {}
        made = {
            "schema": 1,
            "transfer": {"direction": "download", "size": "1 MB"},
            "link": {"air": link},
            "path": others | {"wifi": {"link": "air"}},
            "mptcp": {"checksum": self.name == "alter-payload"},
            "kernel": {"congestion_control": "reno", "link_log": True},
            "run": {"stop": "30 s"},
        }
        return long.write(load(made)[1])


def box(name: str, effect: Callable[[Seen], bool], further: bool = False, **settings: Any) -> Case:
    return Case(name, settings, effect, "middleboxes", further)


def reports(name: str, word: str, **settings: Any) -> Case:
    """Make a case of a box that the analysis has a word for."""
    return box(name, lambda seen: seen.said(word), **settings)


def queue(name: str, effect: Callable[[Seen], bool], **settings: Any) -> Case:
    return Case("rate", {"rate": "5 Mbit/s", "queue": {"queue": name} | settings}, effect)


ELEMENTS = [
    Case("rate", {"rate": "5 Mbit/s"}, lambda seen: 4.5 < seen.usual_mbps() < 5.5),
    Case(
        "rate-process",
        {"mean": "5 Mbit/s", "deviation": "1 Mbit/s", "correlation": "200 ms"},
        lambda seen: 2.5 < seen.usual_mbps() < 7.5,
    ),
    Case(
        "rate-markov",
        {"high": "10 Mbit/s", "high_time": "200 ms", "low_time": "100 ms"},
        lambda seen: seen.longest_pause_ms() > 50 and seen.fastest_mbps(50) > 8,
    ),
    # 1500 bytes every 2 ms.
    Case("trace", {"trace": [2, 4, 6, 8, 10]}, lambda seen: 4.5 < seen.usual_mbps() <= 6.5),
    Case(
        "rate-trace",
        {"trace": [[0, 5], [500, 0], [800, 5]], "period": "1 s"},
        # A pause that begins late is shorter. Of each second 0.7 s have 5 Mbit/s.
        lambda seen: (
            seen.longest_pause_ms() > 280 and 4.5 < seen.usual_mbps() < 5.5 and seen.mbps < 4
        ),
    ),
    Case(
        "base-station",
        {"rate": "5 Mbit/s", "drain_rate": "20 Mbit/s", "delay": "60 ms"},
        lambda seen: seen.dropped("queue-full") > 0 and seen.fastest_mbps(20) > 10,
    ),
    Case("delay", {"delay": "40 ms"}, lambda seen: 60 <= seen.rtt("min") < 65),
    Case(
        "delay-trace",
        {"trace": [[0, 40, 3]], "period": "30 s"},
        lambda seen: 60 <= seen.rtt("min") < 65 and 5 < seen.dropped("loss") < 50,
    ),
    Case("loss", {"ratio": "3 %"}, lambda seen: 5 < seen.dropped("loss") < 50),
    Case(
        "periodic-loss",
        {"every": 100},
        lambda seen: seen.dropped("loss") == seen.arrived() // 100,
    ),
    Case("round-loss", {"ratio": "1 %", "rest": "5 ms"}, lambda seen: seen.dropped("loss") > 5),
    Case("gilbert-elliott", {"p": "1 %", "r": "50 %"}, lambda seen: seen.dropped("loss") > 3),
    Case(
        "gilbert-elliott-time",
        {"good_time": "100 ms", "bad_time": "5 ms"},
        lambda seen: seen.dropped("loss") > 3,
    ),
    Case(
        "arq",
        {"error_ratio": "30 %", "round_trip": "30 ms", "tries": 20},
        lambda seen: seen.rtt("max") > RTT_MS + 30 and seen.dropped("given-up") == 0,
    ),
    Case(
        "grants",
        {"request": "50 ms"},
        lambda seen: seen.handshake_ms >= RTT_MS + 50,
        key="uplink",
    ),
    Case(
        "promotion",
        {"takes": "500 ms", "idle_after": "10 s"},
        lambda seen: seen.handshake_ms >= 500 and seen.rtt("min") < 100,
        key="middleboxes",
    ),
    Case(
        "handover",
        {"every": "100 ms", "shortest": "60 ms", "longest": "80 ms"},
        lambda seen: 60 <= seen.usual_pause_ms(least=50) < 100,
    ),
    Case("ack-delay", {"delay": "200 ms"}, lambda seen: seen.rtt("min") > 200, key="uplink"),
]
BOXES = [
    reports("nat", "address_translated"),
    box(
        "firewall",
        lambda seen: seen.dropped("filtered", "up") > 0 and seen.said("join_unanswered"),
        True,
        joins=False,
    ),
    reports("strip-options", "options_stripped", segments="syn"),
    reports("garble-options", "options_stripped", segments="syn"),
    reports("rewrite-sequence", "sequence_rewritten"),
    reports("split-segments", "segments_split", largest="500 B"),
    # On the only subflow Linux does not survive it: see docs/kernel.md.
    box("coalesce-segments", lambda seen: seen.said("segments_joined"), True),
    reports("clamp-mss", "mss_clamped", bytes="1000 B"),
    reports("clamp-window", "window_clamped", bytes="20 kB"),
    box("mtu", lambda seen: seen.dropped("too-big") > 0, bytes="1200 B"),
    box("alter-payload", lambda seen: seen.said("fail"), True, every=40),
]
QUEUES = [
    # 20 packets take 48 ms, which the one behind a gap waits for, or does not. When the machine is
    # late, what it took so long for is taken at once: not every time says so.
    queue(
        "drop-tail",
        lambda seen: seen.most_queued() == 20 and max(seen.losses_heard_of_ms()) > 40,
        packets=20,
    ),
    queue(
        "drop-head",
        lambda seen: seen.most_queued() == 20 and min(seen.losses_heard_of_ms()) < 30,
        packets=20,
    ),
    queue("codel", lambda seen: seen.dropped("queue-managed") > 0),
    queue("fq-codel", lambda seen: seen.dropped("queue-managed") > 0),
    queue("pie", lambda seen: seen.dropped("queue-managed") > 0),
]


def shown(case: Case) -> str:
    return str(case.settings["queue"]["queue"] if "queue" in case.settings else case.name)


@pytest.mark.parametrize("case", ELEMENTS + BOXES + QUEUES, ids=shown)
def test_what_stands_in_a_link_does_what_it_is_for(host: Machine, case: Case) -> None:
    run = host.undisturbed(case.scenario())
    assert run.outcome["finished"] is True, run.outcome
    seen = Seen(run, pl.read_csv(run.directory / "links.csv").filter(link="air"))
    assert case.effect(seen), (seen.mbps, run.flows, seen.log.filter(event="drop"), run.events)


def test_all_that_there_is_has_its_turn() -> None:
    # A proxy is made of the simulator's payload, and refused here. 464XLAT has a scenario.
    elements = {one["name"] for one in _core.elements()} - {"proxy", "clat", "nat64"}
    assert {case.name for case in ELEMENTS + BOXES} == elements
    assert {shown(case) for case in QUEUES} == {one["name"] for one in _core.queues()}
