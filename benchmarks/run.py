"""How fast the command is, and how much memory it takes, beside tcptrace and tshark on the same captures.

    python benchmarks/run.py [--bulk FILE] [--short FILE] [--quick]

Without files it records them with this machine's kernel (needs root, and what examples/record.py needs): one download
of 1.4 GB and 4000 short ones. They are kept in build/bench. --quick leaves tshark out, which takes a minute and more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from cost import Cost, least

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "build" / "bench"
MPTCPLAB = str(Path(sys.executable).parent / "mptcplab")
EXAMPLE = str(ROOT / "examples" / "download" / "client.pcapng.gz")
TSHARK_FIELDS = [
    "frame.number",
    "frame.time_epoch",
    "tcp.stream",
    "mptcp.stream",
    "tcp.len",
    "tcp.options.mptcp.subtype",
    "tcp.options.mptcp.rawdataseqno",
    "tcp.options.mptcp.rawdataack",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.retransmission",
]
LEAST_MEMORY_GOAL_MB = 64
START_UP_GOAL = 20


def main() -> None:
    options = arguments()
    if options.bulk:
        compare("one download", options.bulk, options.quick)
    if options.short:
        compare("short connections", options.short, options.quick)
    start_up()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bulk", type=Path, default=os.environ.get("MPTCPLAB_BULK"))
    parser.add_argument("--short", type=Path, default=os.environ.get("MPTCPLAB_SHORT"))
    parser.add_argument("--quick", action="store_true", help="leave tshark out")
    options = parser.parse_args()
    options.bulk = Path(options.bulk) if options.bulk else recorded("bulk", 1_400_000_000)
    options.short = Path(options.short) if options.short else recorded("short", 4_000)
    return options


def recorded(kind: str, number: int) -> Path | None:
    """The capture of a kind, recorded when it is not there yet."""
    directory = KEPT / kind
    found = sorted(directory.glob("client.pcap*"))
    if found:
        return found[0]
    if os.geteuid() or not shutil.which("dumpcap"):
        print(f"no capture for '{kind}': recording needs root and dumpcap; name one with --{kind}")
        return None
    print(f"recording '{kind}' with this machine's kernel …", flush=True)
    directory.mkdir(parents=True, exist_ok=True)
    recorder = [sys.executable, str(ROOT / "examples" / "record.py"), kind, str(number)]
    subprocess.run([*recorder, str(directory)], check=True)
    return sorted(directory.glob("client.pcap*"))[0]


def compare(name: str, capture: Path, quick: bool) -> None:
    packets = count_packets(capture)
    megabytes = capture.stat().st_size / 1e6
    print(f"\n{name}: {capture.name}, {packets:,} packets, {megabytes:.0f} MB")
    print(
        f"{'':34} {'wall s':>8} {'CPU s':>8} {'packets/s':>12} {'MB/s':>7} {'memory MB':>10} {'×':>7}"
    )
    path = str(capture)
    fields = [word for field in TSHARK_FIELDS for word in ("-e", field)]
    peers = [
        ("mptcplab analyze", [MPTCPLAB, "analyze", path], 3),
        ("mptcplab analyze --json", [MPTCPLAB, "analyze", "--json", path], 3),
        ("tcptrace -n -l -r -W", ["tcptrace", "-n", "-l", "-r", "-W", path], 3),
        ("tshark -T fields (10)", ["tshark", "-n", "-r", path, "-T", "fields", *fields], 1),
    ]
    ours: Cost | None = None
    for label, command, times in peers:
        if not shutil.which(command[0]) or (quick and command[0] == "tshark"):
            print(f"  {label:32} {'not run' if quick else 'not installed':>8}")
            continue
        cost = least(command, times)
        ours = ours or cost
        print(
            f"  {label:32} {cost.wall_s:8.2f} {cost.cpu_s:8.2f} {packets / cost.wall_s:12,.0f} "
            f"{megabytes / cost.wall_s:7.0f} {cost.memory_mb:10.0f} {cost.wall_s / ours.wall_s:7.2f}"
        )
    if ours and ours.memory_mb > LEAST_MEMORY_GOAL_MB:
        print(f"  more memory than the {LEAST_MEMORY_GOAL_MB} MB aimed at")


def start_up() -> None:
    nothing = least([sys.executable, "-c", "pass"], 20)
    print(
        f"\nstart-up, as multiples of python -c pass ({nothing.wall_s * 1000:.0f} ms); aim: below {START_UP_GOAL}"
    )
    for label, command in (
        ("mptcplab --help", [MPTCPLAB, "--help"]),
        ("mptcplab analyze, small capture", [MPTCPLAB, "analyze", EXAMPLE]),
    ):
        cost = least(command, 20)
        print(f"  {label:32} {cost.wall_s * 1000:5.0f} ms {cost.wall_s / nothing.wall_s:6.1f} ×")


def count_packets(capture: Path) -> int:
    """Packets in the capture, by capinfos where it is there, else by tcpdump's or our own count."""
    if shutil.which("capinfos"):
        done = subprocess.run(
            ["capinfos", "-M", "-c", str(capture)], capture_output=True, text=True, check=True
        )
        return int(done.stdout.split()[-1])
    import mptcplab

    return int(mptcplab.analyze(capture, samples=False).flows["packets"].sum())


if __name__ == "__main__":
    main()
