"""What a transfer leaves for the next one to the same destination, as Linux has it."""

from __future__ import annotations

import json
import re

import pytest

from engine.machines import Machine
from engine.shells import Shell
from requirements import need_tool
from thresholds import QUEUES, SCENARIO, left

# Serves two downloads; tells what the socket had when all was acknowledged, what the kernel then
# kept of the destination, and what the next socket began with.
SERVE = """\
import fcntl, json, re, socket, struct, subprocess, termios, time
def state_of(peer):
    sent = struct.unpack("i", fcntl.ioctl(peer, termios.TIOCOUTQ, bytes(4)))[0]
    raw = peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    ssthresh, cwnd = struct.unpack_from("II", raw, 76)
    return sent, cwnd, ssthresh, raw[1]
server, results = socket.create_server(("", 7000)), []
for _ in range(2):
    peer = server.accept()[0]
    begun = state_of(peer)[2]
    peer.sendall(bytes(2_000_000))
    while state_of(peer)[0]:
        time.sleep(0.001)
    _, cwnd, ssthresh, state = state_of(peer)
    peer.shutdown(socket.SHUT_WR)
    peer.recv(1)
    peer.close()
    for _ in range(1000):
        kept = subprocess.run(["ip", "tcp_metrics", "show"], capture_output=True, text=True).stdout
        if kept:
            break
        time.sleep(0.01)
    results.append(dict(begun=begun, cwnd=cwnd, ssthresh=ssthresh, state=state, kept=kept))
    open("results", "w").write(json.dumps(results))
    peer = None
"""
ASKS = """\
import socket
for _ in range(2):
    with socket.create_connection(("server", 7000)) as peer:
        while peer.recv(1 << 16):
            pass
"""
NEVER = 0x7FFF_FFFF


@pytest.mark.parametrize("queue", QUEUES)
def test_linux_keeps_what_ours_would(machine: Machine, queue: str) -> None:
    need_tool("ip")
    shell = Shell(machine, SCENARIO.format(queue=QUEUES[queue]))
    for name, text in (("serve.py", SERVE), ("asks.py", ASKS)):
        (machine.directory / name).write_text(text)
    shell.run("python3", "asks.py", serve="python3 serve.py")
    first, second = json.loads((machine.directory / "results").read_text())
    assert first["begun"] == NEVER
    ssthresh = None if first["ssthresh"] == NEVER else first["ssthresh"]
    assert first["state"] == 0, "it was repairing losses when it ended"
    expected = left(first["cwnd"], ssthresh)
    assert (expected is None) == (queue == "never fills"), first
    (line,) = [one for one in first["kept"].splitlines() if one.startswith("10.0.1.2")]
    kept = re.search(r"\bssthresh (\d+)", line)
    assert (int(kept[1]) if kept else None) == expected
    assert second["begun"] == (expected or NEVER)
