"""Compare our figures with tcptrace's and its model's over captures that nobody chose.

python -m oracles.foreign DIRECTORY prints a line for each difference, and how many files are equal.
A line ends with the rule that explains it (RULES.md); one that ends with a question mark is to be
looked at. At the end stands how many differences, of how many files, each rule explains.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import fields, replace
from typing import Any

import mptcplab
from oracles import tcptrace, tcptrace_rules, tshark
from oracles.order import in_order
from oracles.tcptrace_rules import OURS, TCPTRACE, Rules

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
    "refused_syns",
    "lone_syn_acks",
}


# What we read TCP in.
LINKS = {"eth", "raw", "null", "sll"}


def compare(capture: pathlib.Path) -> tuple[int, list[str]]:
    """Give the number of 4-tuples, and the differences."""
    try:
        analysis = mptcplab.analyze(capture)
        packets = in_order(tshark.read(capture))
    except mptcplab.Error as error:
        return 0, [f"{capture.name}: {str(error)[-80:]}: not read by us"]
    except (subprocess.CalledProcessError, ValueError):
        return 0, [f"{capture.name}: not read to its end by tshark"]
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
                        merged = what.endswith("packets") and connection in said["merged"]
                        why_this = why or ({"merged_segments"} if merged else set())
                        lines.append(_line(capture, key, where, mine, other, {None: why_this}))
    if theirs:
        lines += _beside_tcptrace(capture, ours, said, packets)
    if any(line.endswith("?") for line in lines):
        nested = _nested(capture)
        lines = [_of_nested(line, nested) for line in lines]
    return len(theirs), lines


def _figures(row: Row, sent: Any) -> Iterator[tuple[str, Any, Any]]:
    for name, other in FIGURES.items():
        yield name, row[name], getattr(sent, other)
    times = sent.rtts_of_data()
    if row["rtt_samples"] is not None:
        yield "rtt_samples", row["rtt_samples"], len(times)
        if times:
            yield "rtt_ms_min", round(row["rtt_ms_min"] or 0, 6), round(min(times) / 1e6, 6)


def _beside_tcptrace(
    capture: pathlib.Path,
    ours: dict[tshark.FourTuple, list[tuple[int, Row]]],
    said: Any,
    packets: Any,
) -> Iterator[str]:
    try:
        theirs = tcptrace.by_four_tuple(tcptrace.read(capture))
    except (subprocess.CalledProcessError, ValueError, KeyError):
        yield f"{capture.name}: not read by tcptrace"
        return
    for key, own in ours.items():
        found = theirs.get(key, [])
        if len(found) != 1 or len(own) != 1:
            continue
        (flow,), ((connection, both),) = found, own
        ends = (flow.a, flow.b) if flow.four_tuple == key else (flow.b, flow.a)
        for direction, sent in zip(("up", "down"), ends, strict=True):
            if both[direction]["bytes"] != sent.unique_bytes:
                why = said[None] | said[connection]
                if sent.packets < both[direction]["packets"]:
                    why = why or {"left_out_by_tcptrace"}
                why = why or _switches(packets, key, direction, sent.unique_bytes)
                what = f"tcptrace {direction} bytes"
                mine = both[direction]["bytes"]
                yield _line(capture, key, what, mine, sent.unique_bytes, {None: why})


def _switches(packets: Any, key: tshark.FourTuple, direction: str, theirs: int) -> set[str]:
    """Name the rule of tcptrace's, or all together, by which our model counts as it does."""
    own = set(key)
    concerned = [packet for packet in packets if set(packet.four_tuple) == own]
    names = [field.name for field in fields(Rules)]
    one = {name: replace(OURS, **{name: getattr(TCPTRACE, name)}) for name in names}
    for name, rules in {**one, "all rules of tcptrace": TCPTRACE}.items():
        for found, up, down in tcptrace_rules.flows(concerned, rules):
            sent = (up, down) if found == key else (down, up)
            if sent[direction == "down"].unique_bytes == theirs:
                return {name}
    return set()


def _nested(capture: pathlib.Path) -> dict[frozenset[str], str]:
    """Give what tshark found TCP in, by ports, where that is no mere IP on a link that we read.

    Or where a packet is longer than its frame was, by its IP header: we believe the header.
    """
    command = ["tshark", "-n", "-r", str(capture), "-Y", "tcp", "-T", "fields"]
    for name in ("frame.protocols", "frame.len", "ip.len", "tcp.srcport", "tcp.dstport"):
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines():
        protocols, frame_bytes, ip_bytes, *ports = line.split("\t")
        layers = protocols.split(":")
        layers = layers[: layers.index("tcp")]
        if "icmp" in layers or "icmpv6" in layers:
            how = "quoted_by_icmp"
        elif layers.count("ip") + layers.count("ipv6") > 1:
            how = "tunnels"
        elif layers[0] not in LINKS or "mpls" in layers:
            how = "link_types"
        elif int(ip_bytes.split(",")[0] or 0) > int(frame_bytes):
            how = "longer_than_frame"
        else:
            continue
        found[frozenset(port.split(",")[0] for port in ports)] = how
    return found


def _of_nested(line: str, nested: dict[frozenset[str], str]) -> str:
    if not line.endswith("?"):
        return line
    _, port, _, other = line.partition("(")[2].partition(")")[0].split(", ")
    return line[:-1] + nested.get(frozenset((port, other)), "?")


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


def _said(analysis: mptcplab.Analysis) -> dict[Any, set[Any]]:
    said: dict[Any, set[Any]] = defaultdict(set)
    for row in analysis.diagnostics.iter_rows(named=True):
        if row["diagnostic"] in EXPLAIN:
            said[row["connection"]].add(row["diagnostic"])
        if row["diagnostic"] == "merged_segments":
            said["merged"].add(row["connection"])
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
    rules, files = Counter[str](), defaultdict[str, set[str]](set)
    flows = 0
    with ProcessPoolExecutor(2) as pool:
        for found in as_completed([pool.submit(compare, capture) for capture in captures]):
            count, lines = found.result()
            flows += count
            kinds["with differences" if lines else "equal" if count else "without TCP"] += 1
            for line in lines:
                print(line, flush=True)
                rule = line.rpartition(": ")[2]
                rules[rule] += 1
                files[rule].add(line.partition(":")[0].partition(" (")[0])
    for rule, count in rules.most_common():
        print(f"{count} in {len(files[rule])} files: {rule}")
    print(f"{len(captures)} files, {flows} flows: {dict(kinds)}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
