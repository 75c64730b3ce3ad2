"""What our packet ring loses, beside what dumpcap loses of the same packets at the same time.

    python benchmarks/capturing.py [PACKETS_PER_SECOND ...]

Both capture one end of a veth pair between two networks of their own, with 64 MiB each and 128
bytes of a packet; packets of 1500 bytes are sent into the other end. At each rate once as it comes,
and once while both are kept from the processor for some seconds. Prints a table of Markdown.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RATES = (5_000, 20_000, 100_000)
SECONDS = 12
STOPPED_SECONDS = (0, 8)
# Until both have read what waits.
REST_SECONDS = 5
PORT = 7443
SNAP = 128
ALONE = ["unshare", "--user", "--map-root-user", "--net"]
SENDER = ["unshare", "--net", sys.executable, __file__, "--send"]
DUMPCAP = ["dumpcap", "-q", "-f", "tcp", "-s", str(SNAP), "-B", "64", "-i", "far", "-w"]
# A hundredth of a second's packets go at once.
STEPS_PER_SECOND = 100
# Of pcapng (draft-ietf-opsawg-pcapng §4).
PACKET = 6
_BLOCK = struct.Struct("<II")


def frame() -> bytes:
    """Give a segment from a server to a client, in a packet of 1500 bytes."""
    ethernet = bytes(5) + b"\2" + bytes(5) + b"\1" + struct.pack(">H", 0x0800)
    addresses = socket.inet_aton("192.0.2.1") + socket.inet_aton("192.0.2.2")
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 1500, 0, 0, 64, 6, 0) + addresses
    tcp = struct.pack(">HHIIBBHHH", PORT, 40_000, 1, 1, 5 << 4, 0x10, 500, 0, 0)
    return ethernet + ip + tcp + bytes(1500 - len(ip) - len(tcp))


def send(rate: int) -> None:
    """Send at this rate, or at what this machine can, and say how many went in how many seconds."""
    print("ready", flush=True)
    sys.stdin.readline()
    subprocess.run(["ip", "link", "set", "dev", "near", "up"], check=True)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind(("near", 0))
        packet, sent, begun = frame(), 0, time.monotonic()
        while (passed := time.monotonic() - begun) < SECONDS:
            due = min(round(passed * rate) - sent, rate // STEPS_PER_SECOND)
            for _ in range(due):
                sock.send(packet)
            sent += due
            if not due:
                time.sleep(1 / STEPS_PER_SECOND / 10)
    print(json.dumps([sent, passed]))


def measure(rate: int, stopped: int, directory: Path) -> tuple[int, float, int, int]:
    """Capture with both; gives packets sent, seconds, and what ours and dumpcap have of them."""
    ours_file, theirs_file = directory / "ours.pcapng", directory / "theirs.pcapng"
    job: dict[str, Any] = {"file": str(ours_file), "host": "client", "port": PORT, "snap": SNAP}
    job |= {"interfaces": {"far": "far"}, "most": None}
    command = [sys.executable, "-m", "mptcplab.engines.field.recorder"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([*SENDER, str(rate)], **pipes) as sender,  # type: ignore[call-overload]
        _link(sender),
        subprocess.Popen(command, **pipes) as ours,  # type: ignore[call-overload]
        subprocess.Popen([*DUMPCAP, theirs_file], stderr=subprocess.PIPE, text=True) as theirs,
    ):
        ours.stdin.write(json.dumps(job) + "\n")
        ours.stdin.flush()
        assert json.loads(ours.stdout.readline()) == {"ready": "AF_PACKET"}
        assert theirs.stderr is not None
        while "File:" not in theirs.stderr.readline():
            pass
        sender.stdin.write("go\n")
        sender.stdin.flush()
        if stopped:
            time.sleep(1)
            _signal(signal.SIGSTOP, ours, theirs)
            time.sleep(stopped)
            _signal(signal.SIGCONT, ours, theirs)
        sent, seconds = json.loads(sender.communicate()[0])
        time.sleep(REST_SECONDS)
        theirs.send_signal(signal.SIGINT)
        theirs.communicate()
        ours.communicate()
    return sent, seconds, packets(ours_file), packets(theirs_file)


def packets(file: Path) -> int:
    """Count those of a capture."""
    content, at, count = file.read_bytes(), 0, 0
    while at < len(content):
        kind, length = _BLOCK.unpack_from(content, at)
        count += kind == PACKET
        at += length
    return count


@contextmanager
def _link(sender: subprocess.Popen[str]) -> Iterator[None]:
    """Lead from the sender's network to here."""
    assert sender.stdout is not None
    sender.stdout.readline()
    for command in (
        f"link add near netns {sender.pid} type veth peer name far",
        "link set dev far up",
    ):
        subprocess.run(["ip", *command.split()], check=True)
    yield


def _signal(number: int, *processes: subprocess.Popen[str]) -> None:
    for one in processes:
        one.send_signal(number)


def main() -> None:
    """Measure each rate."""
    if sys.argv[1:2] == ["--send"]:
        send(int(sys.argv[2]))
        return
    if sys.argv[1:2] != ["--alone"]:
        command = [*ALONE, sys.executable, __file__, "--alone", *sys.argv[1:]]
        os.execvp(command[0], command)
    print("| packets/s | both stopped for | ours missing | dumpcap missing |\n|---|---|---|---|")
    for rate in map(int, sys.argv[2:] or RATES):
        for stopped in STOPPED_SECONDS:
            with tempfile.TemporaryDirectory() as directory:
                sent, seconds, *kept = measure(rate, stopped, Path(directory))
            ours, theirs = (f"{1 - count / sent:.2%}" for count in kept)
            print(f"| {sent / seconds:.0f} | {stopped} s | {ours} | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
