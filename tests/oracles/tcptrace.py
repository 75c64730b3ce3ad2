"""tcptrace's figures per TCP connection and direction; rules.py says what they count."""

from __future__ import annotations

import csv
import io
import pathlib
import subprocess
from dataclasses import dataclass

# Sender and receiver of the first packet seen: (address, port, address, port).
FourTuple = tuple[str, int, str, int]

# Column of the CSV (without its direction), the name here. Times are printed in tenths of a
# millisecond.
FIGURES = {
    "total_packets": "packets",
    "unique_bytes_sent": "unique_bytes",
    "actual_data_pkts": "data_packets",
    "actual_data_bytes": "data_bytes",
    "rexmt_data_pkts": "rexmt_packets",
    "rexmt_data_bytes": "rexmt_bytes",
    "zwnd_probe_pkts": "zero_window_probes",
    "zwnd_probe_bytes": "zero_window_probe_bytes",
    "outoforder_pkts": "outoforder_packets",
    "SYN/FIN_pkts_sent": "syn_fin",
    "resets_sent": "resets",
    "adv_wind_scale": "window_scale",
    "mss_requested": "mss",
    "max_win_adv": "window_max",
    "min_win_adv": "window_min",
    "avg_win_adv": "window_mean",
    "zero_win_adv": "zero_windows",
    "hardware_dups": "hardware_duplicates",
    "throughput": "throughput_bytes_per_s",
    "RTT_samples": "rtt_samples",
    "RTT_min": "rtt_min_ms",
    "RTT_max": "rtt_max_ms",
    "RTT_avg": "rtt_mean_ms",
    "RTT_stdev": "rtt_stdev_ms",
    "RTT_from_3WHS": "rtt_handshake_ms",
    "post-loss_acks": "post_loss_acks",
    "ambiguous_acks": "ambiguous_acks",
    "segs_cum_acked": "cumulatively_acked",
    "duplicate_acks": "duplicate_acks",
}


@dataclass(frozen=True)
class Direction:
    """What one end sent. ACK and RTT figures are about its data, so they come from the other."""

    packets: int
    unique_bytes: int
    data_packets: int
    data_bytes: int
    rexmt_packets: int
    rexmt_bytes: int
    zero_window_probes: int
    zero_window_probe_bytes: int
    outoforder_packets: int
    syns: int
    fins: int
    resets: int
    window_scale: int
    mss: int
    window_max: int
    window_min: int
    window_mean: int
    zero_windows: int
    hardware_duplicates: int
    throughput_bytes_per_s: int | None
    rtt_samples: int
    rtt_min_ms: float
    rtt_max_ms: float
    rtt_mean_ms: float
    rtt_stdev_ms: float
    rtt_handshake_ms: float
    post_loss_acks: int
    ambiguous_acks: int
    cumulatively_acked: int
    duplicate_acks: int


@dataclass(frozen=True)
class Flow:
    """A TCP connection; `a` sent the first packet seen."""

    four_tuple: FourTuple
    first_us: int
    last_us: int
    a: Direction
    b: Direction


def read(capture: pathlib.Path) -> list[Flow]:
    """All TCP connections, in order of their first packet."""
    command = ["tcptrace", "-n", "-l", "-r", "-W", "--csv", str(capture)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    table = "".join(
        line for line in done.stdout.splitlines(keepends=True) if line.strip() and line[0] != "#"
    )
    rows = csv.DictReader(io.StringIO(table.replace(" ", "")))
    return [_flow(row) for row in rows]


def by_four_tuple(flows: list[Flow]) -> dict[FourTuple, list[Flow]]:
    """The flows of each 4-tuple, either end first; more than one where ports were used again."""
    found: dict[FourTuple, list[Flow]] = {}
    for flow in flows:
        address, port, other, other_port = flow.four_tuple
        for key in (flow.four_tuple, (other, other_port, address, port)):
            found.setdefault(key, []).append(flow)
    return found


def _flow(row: dict[str, str]) -> Flow:
    four_tuple = (row["host_a"], int(row["port_a"]), row["host_b"], int(row["port_b"]))
    first, last = _microseconds(row["first_packet"]), _microseconds(row["last_packet"])
    return Flow(four_tuple, first, last, _direction(row, "a2b"), _direction(row, "b2a"))


def _direction(row: dict[str, str], which: str) -> Direction:
    cells = {name: row[f"{column}_{which}"] for column, name in FIGURES.items()}
    syns, fins = cells.pop("syn_fin").split("/")
    figures = {name: _number(name, cell) for name, cell in cells.items()}
    return Direction(syns=int(syns), fins=int(fins), **figures)  # type: ignore[arg-type]


def _number(name: str, cell: str) -> int | float | None:
    if name.endswith("_ms"):
        return float(cell)
    return None if cell == "NA" else int(cell)


def _microseconds(seconds: str) -> int:
    # The microseconds are printed without leading zeros: 12.5214 is 12.005214 s.
    whole, fraction = seconds.split(".")
    return int(whole) * 1_000_000 + int(fraction)
