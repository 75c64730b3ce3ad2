"""``mptcplab serve --open`` between two namespaces: a client that has nothing of ours."""

from __future__ import annotations

import sys

import pytest

from engine.machines import Machine
from engine.test_field import LINKS, PLAIN, shares, transfer
from mptcplab import compare, write_report
from mptcplab.results.run import Run

SIZE_BYTES = 3_000_000
# A phone: it knows HTTP, and its kernel MPTCP.
CLIENT = """\
import socket, sys, time
for protocol in (socket.IPPROTO_MPTCP, socket.IPPROTO_TCP):
    until = time.monotonic() + 30
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as sock:
            try:
                sock.connect(("server", 8080))
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
                continue
            sock.sendall(b"GET /3MB HTTP/1.1\\r\\nHost: server\\r\\n\\r\\n")
            came = 0
            while block := sock.recv(1 << 16):
                came += len(block)
            assert came > 3_000_000, came
            break
# Until the last of them is measured: a line for each.
until = time.monotonic() + 60
while time.monotonic() < until:
    if open(sys.argv[1]).read().count(" over ") == 2:
        break
    time.sleep(0.1)
"""


def load(machine: Machine, *, captures: bool) -> dict[str, Run]:
    """Have a client load over MPTCP and over TCP; gives the server's runs by their names."""
    directory = machine.directory
    links = machine.write(LINKS.format(direction="download", wifi="", lte=""), "links")
    out, log, client = directory / "open", directory / "log", directory / "client.py"
    client.write_text(CLIENT)
    drop = "" if captures else PLAIN
    serve = directory / "serve.sh"
    arguments = f"--open --state {directory}/state --out {out}"
    serve.write_text(f"{sys.executable} -P -m mptcplab serve {arguments} 2> {log}")
    done = machine.run(
        *("shell", links, "--out", directory / "shell", "--serve", f"{drop} sh {serve}"),
        *("--", sys.executable, client, log),
    )
    assert done.returncode == 0, (done.stderr, log.read_text())
    return {run.name: run for run in map(Run, sorted(out.iterdir()))}


@pytest.mark.parametrize("captures", [True, False])
def test_a_download_of_a_client_of_its_own_is_a_run(host: Machine, *, captures: bool) -> None:
    runs = load(host, captures=captures)
    assert set(runs) == {"mptcp", "tcp-path-1"}
    for run in runs.values():
        assert run.outcome["finished"]
        assert 0 <= transfer(run)["bytes"] - SIZE_BYTES < 1000
        seen = run.about["open"]["captures"]["server"]
        assert seen["by"] == ("AF_PACKET" if captures else None)
        assert (run.directory / "server.pcapng").exists() == captures
        assert run.state.height > 0
        # What congestion control a phone has is not known here.
        own, its = run.about["policies"]["server"], run.about["policies"]["client"]
        assert (own["congestion_control"], its["congestion_control"]) == ("reno", None)
        assert run.about["policies"]["in_words"].startswith("client: unknown; server: Linux's Reno")
        assert write_report(run.directory).exists()
    mptcp = runs["mptcp"]
    assert mptcp.about["open"]["paths"] == {"10.0.1.2": "path-1", "10.0.2.2": "path-2"}
    # Faster than the first path is, so that the second one had its share.
    assert shares(mptcp)["path-2"] > 0.1
    assert transfer(mptcp)["throughput_mbps"] > transfer(runs["tcp-path-1"])["throughput_mbps"]
    if captures:
        assert mptcp.rtt_ms_mean is not None
        assert seen["dropped"] == seen["left_out"] == 0
        # At the server: what its packets tell, and nothing that the client's would.
        assert set(mptcp.connections["vantage"]) == {"server"}
    assert compare(mptcp.directory, runs["tcp-path-1"].directory).document()
