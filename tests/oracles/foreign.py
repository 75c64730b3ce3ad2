"""Compare our figures with tcptrace's and its model's over captures that nobody chose.

python -m oracles.foreign DIRECTORY prints a line for each difference, and how many files are equal.
A line ends with what of ours explains it; one that ends with a question mark is to be looked at.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import mptcplab
from oracles import tcptrace, tcptrace_rules, tshark
from oracles.order import in_order
from oracles.tcptrace_rules import OURS

Row = dict[str, Any]
LARGEST_BYTES = 6_000_000
FIGURES = {
    "packets": "packets",
    "data_packets": "data_packets",
    "data_bytes": "data_bytes",
    "bytes": "unique_bytes",
    "duplicate_packets": "repeated_packets",
    "gap_filled_packets": "gap_packets",
    "zero_window_probe_packets": "zero_window_probes",
    "keep_alive_packets": "keep_alives",
    "retransmitted_packets": "resent_packets",
}
# What of ours explains a difference where it is said of the connection, or of the capture.
EXPLAIN = {
    "duplicate_capture",
    "stray_packets",
    "late_packets",
    "translated_copies",
    "clock_jumped",
    "fragments",
    "truncated_headers",
    "malformed",
    "not_reordered",
    "unanswered_syns",
}


def compare(capture: pathlib.Path) -> tuple[int, list[str]]:
    """Give the number of 4-tuples, and the differences."""
    try:
        analysis = mptcplab.analyze(capture)
        packets = in_order(tshark.read(capture))
    except (mptcplab.Error, subprocess.CalledProcessError, ValueError) as error:
        return 0, [f"{capture.name}: not read: {str(error)[:120]}"]
    ours = _ours(analysis)
    theirs: dict[tshark.FourTuple, list[Any]] = defaultdict(list)
    for key, up, down in tcptrace_rules.flows(packets, OURS):
        theirs[key].append((up, down))
    said = _said(analysis)
    lines = []
    for key, models in theirs.items():
        own = ours.get(key, [])
        if len(own) != len(models):
            lines.append(_line(capture, key, "flows", len(own), len(models), said))
            continue
        for (connection, both), model in zip(own, models, strict=True):
            for direction, sent in zip(("up", "down"), model, strict=True):
                why = said[None] | said[connection]
                for what, mine, other in _figures(both[direction], sent):
                    if mine is not None and mine != other:
                        where = f"{direction} {what}"
                        lines.append(_line(capture, key, where, mine, other, {None: why}))
    return len(theirs), lines + list(_beside_tcptrace(capture, ours, said))


def _figures(row: Row, sent: Any) -> Iterator[tuple[str, Any, Any]]:
    for name, other in FIGURES.items():
        yield name, row[name], getattr(sent, other)
    times = sent.rtts_of_data()
    if row["rtt_samples"] is not None:
        yield "rtt_samples", row["rtt_samples"], len(times)
        if times:
            yield "rtt_ms_min", round(row["rtt_ms_min"] or 0, 6), round(min(times) / 1e6, 6)


def _beside_tcptrace(
    capture: pathlib.Path, ours: dict[tshark.FourTuple, list[tuple[int, Row]]], said: Any
) -> Iterator[str]:
    try:
        theirs = tcptrace.by_four_tuple(tcptrace.read(capture))
    except (subprocess.CalledProcessError, ValueError, KeyError) as error:
        yield f"{capture.name}: tcptrace: {str(error)[:80]}"
        return
    for key, own in ours.items():
        found = theirs.get(key, [])
        if len(found) != 1 or len(own) != 1:
            continue
        (flow,), ((connection, both),) = found, own
        ends = (flow.a, flow.b) if flow.four_tuple == key else (flow.b, flow.a)
        for direction, sent in zip(("up", "down"), ends, strict=True):
            if both[direction]["bytes"] != sent.unique_bytes:
                why = {None: said[None] | said[connection]}
                what = f"tcptrace {direction} bytes"
                mine = both[direction]["bytes"]
                yield _line(capture, key, what, mine, sent.unique_bytes, why)


def _ours(analysis: mptcplab.Analysis) -> dict[tshark.FourTuple, list[tuple[int, Row]]]:
    rows: dict[tuple[int, int], Row] = defaultdict(dict)
    for row in analysis.flows.iter_rows(named=True):
        rows[row["connection"], row["subflow"]][row["direction"]] = row
    found = defaultdict(list)
    for subflow in analysis.subflows.sort("start_s").iter_rows(named=True):
        both = rows[subflow["connection"], subflow["subflow"]]
        client = (subflow["client_address"], subflow["client_port"])
        server = (subflow["server_address"], subflow["server_port"])
        found[*client, *server].append((subflow["connection"], both))
        if client != server:
            turned = {"up": both["down"], "down": both["up"]}
            found[*server, *client].append((subflow["connection"], turned))
    return found


def _said(analysis: mptcplab.Analysis) -> dict[int | None, set[str]]:
    said: dict[int | None, set[str]] = defaultdict(set)
    for row in analysis.diagnostics.iter_rows(named=True):
        if row["diagnostic"] in EXPLAIN:
            said[row["connection"]].add(row["diagnostic"])
    return said


def _line(
    capture: pathlib.Path, key: tshark.FourTuple, what: str, ours: Any, theirs: Any, said: Any
) -> str:
    why = " ".join(sorted(said[None])) or "?"
    return f"{capture.name} {key}: {what}: {ours}, theirs {theirs}: {why}"


def main(directory: pathlib.Path) -> None:
    """Compare all captures in a directory."""
    captures = [
        file
        for file in sorted(directory.rglob("*"))
        if "cap" in file.suffix and file.is_file() and file.stat().st_size <= LARGEST_BYTES
    ]
    kinds = Counter[str]()
    flows = 0
    with ProcessPoolExecutor(2) as pool:
        for found in as_completed([pool.submit(compare, capture) for capture in captures]):
            count, lines = found.result()
            flows += count
            kinds["with differences" if lines else "equal" if count else "without TCP"] += 1
            for line in lines:
                print(line, flush=True)
    print(f"{len(captures)} files, {flows} flows: {dict(kinds)}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
