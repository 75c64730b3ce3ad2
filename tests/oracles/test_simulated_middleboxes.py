"""Past every middlebox: all arrives as it was sent, and the analysis knows what happened.

RFC 8684 sections 3.7 and 6, RFC 6182 section 7: a connection falls back to TCP, does without the
subflow, or goes on.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field
from typing import Any

import pytest

from oracles import simulated

Row = dict[str, Any]
PLAIN, WITHOUT, ON = "falls back to TCP", "does without the subflow", "goes on"
SIZE = 800_000
IDLE = {
    "application": "request-response",
    "direction": "download",
    "request": "300 B",
    "response": "50 kB",
    "requests": 3,
    "think": "8 s",
}


@dataclass(frozen=True)
class Case:
    """A box on a path, what MPTCP is to do about it, and words of the analysis."""

    box: Row
    outcome: str
    events: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()
    path: str = "wifi"
    more: Row = field(default_factory=dict)

    def name(self) -> str:
        """Name it by the box and where that stands."""
        values = [str(value) for key, value in self.box.items() if key != "element"]
        return "-".join([self.box["element"], *values, self.path, *self.more])


def strip(**more: str) -> Row:
    return {"element": "strip-options", **more}


def garble(**more: str) -> Row:
    return {"element": "garble-options", **more}


ALTER = {"element": "alter-payload", "every": 40}
ONE_PATH = {"one": True}
CHECKSUMS = {"checksum": True}
ALONE = ONE_PATH | CHECKSUMS

CASES = [
    # Options are gone: of the first subflow's handshake (RFC 8684 section 3.7) ...
    Case(strip(), PLAIN, ("tcp_established",), ("options_stripped",)),
    Case(strip(segments="syn"), PLAIN, ("tcp_established",), ("options_stripped",)),
    Case(strip(segments="syn-ack"), PLAIN, ("tcp_established",), ("options_stripped",)),
    Case(strip(direction="up"), PLAIN, ("tcp_established",), ("options_stripped",)),
    Case(strip(direction="down"), PLAIN, ("tcp_established",), ("options_stripped",)),
    Case(strip(option="mp-capable"), PLAIN, ("tcp_established",), ("options_stripped",)),
    # ... of its data, where it is alone ...
    Case(strip(segments="data"), PLAIN, ("fallback",), more=ONE_PATH),
    Case(strip(segments="data", direction="down"), PLAIN, ("fallback",), more=ONE_PATH),
    # ... and of one that joins.
    Case(strip(), WITHOUT, ("join_refused",), ("options_stripped",), path="lte"),
    Case(strip(segments="syn"), WITHOUT, ("join_refused",), ("options_stripped",), path="lte"),
    Case(strip(segments="syn-ack"), WITHOUT, ("join_refused",), ("options_stripped",), path="lte"),
    Case(strip(segments="data"), WITHOUT, ("join_refused",), path="lte"),
    Case(strip(option="mp-join"), WITHOUT, ("join_refused",), ("options_stripped",), path="lte"),
    Case(strip(option="dss", direction="down"), WITHOUT, ("reset",), path="lte"),
    Case(strip(option="add-addr"), ON),
    # They are something else.
    Case(garble(how="replace", segments="syn"), PLAIN, ("tcp_established",), ("options_stripped",)),
    Case(garble(how="length", segments="syn"), PLAIN, ("tcp_established",), ("options_stripped",)),
    Case(garble(how="replace"), WITHOUT, ("join_refused",), ("options_stripped",), path="lte"),
    Case(garble(how="length"), WITHOUT, ("join_refused",), ("options_stripped",), path="lte"),
    # What they say of the payload is not true any more.
    Case(ALTER, PLAIN, ("fail", "fallback"), more=ALONE),
    Case(ALTER, WITHOUT, ("reset",), path="lte", more=CHECKSUMS),
    # Numbers and sizes are others.
    Case({"element": "rewrite-sequence"}, ON, (), ("sequence_rewritten",)),
    Case({"element": "rewrite-sequence"}, ON, (), ("sequence_rewritten",), path="lte"),
    Case({"element": "rewrite-sequence", "sack": False}, ON, (), ("sequence_rewritten",)),
    Case({"element": "nat"}, ON, (), ("address_translated",)),
    Case({"element": "nat"}, ON, (), ("address_translated",), path="lte"),
    Case({"element": "clamp-mss", "bytes": "1000 B"}, ON, (), ("mss_clamped",)),
    Case({"element": "clamp-window", "bytes": "20 kB"}, ON, (), ("window_clamped",)),
    Case({"element": "split-segments", "largest": "500 B"}, ON, (), ("segments_split",)),
    Case(
        {"element": "split-segments", "largest": "500 B", "options": "first"},
        ON,
        (),
        ("segments_split",),
    ),
    Case({"element": "split-segments", "largest": "500 B"}, ON, more=CHECKSUMS),
    Case({"element": "coalesce-segments"}, WITHOUT, ("reset",), ("segments_joined",), path="lte"),
    Case(
        {"element": "coalesce-segments"}, PLAIN, ("fallback",), ("segments_joined",), more=ONE_PATH
    ),
    Case({"element": "mtu", "bytes": "1200 B"}, ON, (), ("large_segments_lost",)),
    Case({"element": "mtu", "bytes": "1200 B"}, ON, (), more=ONE_PATH),
    Case(
        {"element": "mtu", "bytes": "1200 B", "answer": "silent"}, WITHOUT, ("timeout",), path="lte"
    ),
    # Nobody is let in, or remembered.
    Case({"element": "firewall"}, ON),
    # A join is unanswered after 1 s: before, it is one that may still be answered.
    Case(
        {"element": "firewall", "joins": False},
        WITHOUT,
        ("join_unanswered",),
        path="lte",
        more={"transfer": IDLE},
    ),
    Case(
        {"element": "firewall", "joins": False, "reset": True},
        WITHOUT,
        ("join_refused",),
        path="lte",
    ),
    Case(
        {"element": "firewall", "idle": "5 s", "reset": True},
        WITHOUT,
        ("forgotten",),
        more={"transfer": IDLE},
    ),
    Case({"element": "firewall", "idle": "5 s"}, ON, ("timeout",), more={"transfer": IDLE}),
    Case({"element": "nat", "idle": "5 s"}, ON, ("timeout",), more={"transfer": IDLE}),
    Case(
        {"element": "nat", "idle": "5 s", "forgotten": "rebind"},
        ON,
        ("timeout",),
        more={"transfer": IDLE},
    ),
    # Somebody answers in the server's place.
    Case({"element": "proxy"}, PLAIN, ("tcp_established",), more=ONE_PATH),
    Case({"element": "proxy"}, PLAIN, ("tcp_established",)),
    Case({"element": "proxy"}, WITHOUT, ("join_refused",), path="lte"),
    Case({"element": "proxy", "cached": True}, PLAIN, ("tcp_established",), more=ONE_PATH),
    Case({"element": "proxy", "cached": True}, WITHOUT, ("join_refused",), path="lte"),
    # The probe for split connections, where there is none.
    Case({"element": "ack-delay", "delay": "300 ms"}, ON),
]


@pytest.mark.parametrize("case", CASES, ids=Case.name)
def test_what_a_box_does_is_survived_and_seen(case: Case, tmp_path: pathlib.Path) -> None:
    scenario = simulated.base()
    scenario["path"][case.path]["middleboxes"] = [case.box]
    scenario["path"]["wifi"]["loss"] = 0
    scenario["transfer"] = case.more.get("transfer", scenario["transfer"])
    scenario["mptcp"]["checksum"] = case.more.get("checksum", False)
    scenario["run"]["stop"] = "300 s"
    if case.more.get("one"):
        del scenario["path"]["lte"]
    run = simulated.simulate("box", simulated.planned(scenario), tmp_path)
    assert run.outcome["finished"], run.outcome

    tables = run.tables
    first = tables.connections.row(0, named=True)
    plain = first["mptcp_version"] is None or first["fallback"] is not None
    assert plain == (case.outcome == PLAIN), first
    events = tables.events.filter(connection=0)["event"].to_list()
    assert set(case.events) <= set(events), events
    remarks = tables.diagnostics.filter(connection=0)["diagnostic"].to_list()
    assert set(case.diagnostics) <= set(remarks), remarks
    if case.outcome == WITHOUT:
        assert first["mptcp_version"] == 1
    if case.outcome == ON and case.path == "lte":
        (number,) = tables.subflows.filter(connection=0, path="lte")["subflow"]
        assert tables.flows.filter(connection=0, subflow=number)["delivered_bytes"].sum() > 0
