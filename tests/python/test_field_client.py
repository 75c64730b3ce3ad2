"""The client's side of field runs: clocks, orders, and the addresses of servers."""

from __future__ import annotations

import json
import random
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from command import Run
from mptcplab import Error
from mptcplab.engines.field import control, routes, server_line
from mptcplab.engines.field.clock import Offset, line
from mptcplab.engines.field.measure import _captured, _clocks
from mptcplab.engines.field.routes import Route
from requirements import need_kernel_namespaces

MS = 1_000_000
SECOND = 1000 * MS


def offset(ahead_ms: float, rtt_ms: float, at_s: float) -> Offset:
    return Offset(round(ahead_ms * MS), round(rtt_ms * MS), round(at_s * SECOND), 20)


def test_a_drift_beyond_the_echoes_error_is_applied() -> None:
    """A server whose clock gains 100 ppm, 1 s ahead at first; the better path tells it."""
    begin, end = 0.0, 100.0
    clocks = {
        "lte": (offset(1030, 60, begin), offset(1000, 60, end)),
        "wifi": (offset(1000, 2, begin), offset(1010, 2, end)),
    }
    found = line(clocks)
    assert found.path == "wifi"
    assert found.drift_ppm == pytest.approx(100.0)
    for at_s in (0, 37, 100):
        real_ms = 1000 + at_s * 0.1
        assert found.ahead_ns(at_s * SECOND) == pytest.approx(real_ms * MS, abs=1)


@pytest.mark.parametrize(("ahead_ms", "at_s"), [(61_000, 10), (-59_000, 70), (61_000, -50)])
def test_a_clock_that_was_set_does_not_drift(ahead_ms: float, at_s: float) -> None:
    """Of the server, or of this host, forward or back, by a minute in ten seconds."""
    found = line({"wifi": (offset(1000, 2, 0), offset(ahead_ms, 2, at_s))})
    assert found.step_ns == (ahead_ms - 1000) * MS
    assert found.drift_ppm == 0
    assert found.ahead_ns(5 * SECOND) == 1000 * MS


def test_what_echoes_cannot_tell_is_no_drift() -> None:
    clocks = {"wifi": (offset(1000, 20, 0), offset(1015, 10, 100))}
    found = line(clocks)
    assert found.drift_ppm == 0
    # The offset of the shorter echo.
    assert found.ahead_ns(50 * SECOND) == 1015 * MS


def test_one_answer_is_an_offset_and_none_is_nothing() -> None:
    assert line({"wifi": (None, offset(7, 3, 9)), "lte": (None, None)}).ahead_ns(0) == 7 * MS
    assert line({"wifi": (None, None)}).ahead_ns(5) == 0


def resolved(*addresses: str) -> list[tuple[Any, ...]]:
    """Give what a name's lookup gives."""
    found = []
    for one in addresses:
        family = socket.AF_INET6 if ":" in one else socket.AF_INET
        address = (one, 7443, 0, 0) if ":" in one else (one, 7443)
        found.append((family, socket.SOCK_DGRAM, socket.IPPROTO_UDP, "", address))
    return found


@pytest.mark.parametrize(
    ("addresses", "version", "remote"),
    [
        (("::1",), 4, "::1"),
        (("::1", "127.0.0.1"), 4, "127.0.0.1"),
        (("::1", "127.0.0.1"), 6, "::1"),
        (("127.0.0.2", "127.0.0.3"), 4, "127.0.0.2"),
        (("127.0.0.2", "127.0.0.3"), 6, "127.0.0.2"),
    ],
    ids=["AAAA alone", "both, IPv4", "both, IPv6", "two addresses", "no AAAA"],
)
def test_a_path_takes_an_address_of_its_version_or_the_other(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...], version: int, remote: str
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: resolved(*addresses))
    found = routes.route("lo", "lab.example.org", 7443, version)
    assert found.remote == remote
    assert found.local == ("::1" if ":" in remote else "127.0.0.1")


MIXED = """\
import socket
from mptcplab.engines.field import routes

places = [(socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8:64::1")]
socket.getaddrinfo = lambda host, port, type: [
    (family, type, 0, "", (address, port)) for family, address in places
]
for interface in ("wlan0", "wwan0"):
    found = routes.route(interface, "lab.example.org", 7443)
    print(found.local, found.remote)
"""


def test_a_path_with_ipv6_alone_takes_that_beside_one_with_ipv4() -> None:
    """As behind NAT64: Linux would send IPv4 by it, too, in the name of the other interface."""
    need_kernel_namespaces()
    lines = [
        "ip link add wlan0 type veth peer name home",
        "ip link add wwan0 type veth peer name carrier",
        "ip address add 198.51.100.2/24 dev wlan0",
        "ip address add 2001:db8::2/64 dev wwan0 nodad",
        *(f"ip link set dev {name} up" for name in ("home", "carrier", "wlan0", "wwan0")),
        "ip route add default via 198.51.100.1 dev wlan0",
        "ip route add default via 2001:db8::1 dev wwan0",
        f"exec {shlex.join([sys.executable, '-c', MIXED])}",
    ]
    alone = ["unshare", "--user", "--map-root-user", "--net", "sh", "-ec", "\n".join(lines)]
    done = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "198.51.100.2 192.0.2.1",
        "2001:db8::2 2001:db8:64::1",
    ], done.stderr


def test_a_name_without_a_way_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: resolved("ff01::1"))
    monkeypatch.setattr(socket.socket, "connect", _refuse)
    with pytest.raises(Error, match="no way to lab.example.org by lo: Network is unreachable"):
        routes.route("lo", "lab.example.org", 7443)


def _refuse(*_: object) -> None:
    raise OSError(101, "Network is unreachable")


@pytest.mark.parametrize("host", ["lab..example.org", f"{'a' * 64}.example.org", "a b"])
@pytest.mark.parametrize("command", ["doctor", "probe", "serve"])
def test_what_is_no_name_of_a_host_is_refused_in_a_line(
    mptcplab: Run, command: str, host: str
) -> None:
    arguments = {
        "doctor": ["doctor", "--field", host],
        "probe": ["probe", f"{host}:7443#{'0' * 64}"],
        "serve": ["serve", "--systemd", "--name", host],
    }
    done = mptcplab(*arguments[command])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert re.search("is not the (name or address of a host|line of a server)", done.stderr)


def test_a_path_that_went_during_a_run_costs_no_more_than_its_echoes() -> None:
    """MPTCP goes on by the others, and what was measured is kept."""
    gone, there = Route("gone0", "192.0.2.1", "127.0.0.1"), Route("lo", "127.0.0.1", "127.0.0.1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        port, run, key = server.getsockname()[1], bytes(16), bytes(32)
        found = _clocks({"wifi": gone, "lte": there}, port, run, key, 1, 0)
    assert found == {"wifi": None, "lte": None}


def test_single_runs_have_no_order_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the seed, MPTCP is first, in the middle and last."""
    from pathlib import Path

    from mptcplab.results import record
    from mptcplab.scenario.scenario import load
    from world import Networks

    seen: list[str | None] = []

    def run(*_: object, baseline: str | None, **__: object) -> tuple[Any, bool]:
        seen.append(baseline)
        return SimpleNamespace(tables=SimpleNamespace()), False

    monkeypatch.setattr(record, "run", run)
    monkeypatch.setattr(record, "Comparison", lambda *_: None)
    random.seed(1)
    _, scenario = load("wifi-lte")
    engine = Networks.__new__(Networks)
    positions = set()
    for _ in range(30):
        seen.clear()
        record.with_baselines("x", scenario, Path("x"), seed=1, captures="none", engine=engine)
        assert sorted(map(str, seen)) == ["None", "lte", "wifi"]
        positions.add(seen.index(None))
    assert positions == {0, 1, 2}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"files": [{"name": "../client.pcapng", "bytes": 1}], "done": {}}, "no run leaves"),
        ({"files": [{"name": "server.pcapng", "bytes": -1}], "done": {}}, "no run leaves"),
        ({"files": [{"name": "server.pcapng", "bytes": 1 << 40}], "done": {}}, "no run leaves"),
        ({"files": [{"name": "server.pcapng", "bytes": True}], "done": {}}, "no run leaves"),
        ({"files": [{"name": "server.samples", "bytes": 0}] * 2, "done": {}}, "no run leaves"),
        ({"files": [{"name": ["x"], "bytes": 0}], "done": {}}, "no run leaves"),
        ({"files": []}, "does not say done"),
        ([1], "not a table"),
    ],
)
def test_nothing_that_a_server_says_is_written_elsewhere(
    said: Any, why: str, tmp_path: Path
) -> None:
    here, there = socket.socketpair()
    directory = tmp_path / "raw"
    directory.mkdir()
    with here, there:
        there.sendall(json.dumps(said).encode() + b"\n" + bytes(100))
        line = server_line.ServerLine("lab.example.org", 7443, "0" * 64)
        with control.Control(cast("Any", here), line) as spoken, pytest.raises(Error, match=why):
            spoken.take(directory)
    assert {path.name for path in tmp_path.rglob("*")} <= {"raw", "server.samples"}


FULL = """\
import os, resource, signal, sys
from mptcplab.engines.field import recorder
from mptcplab.engines.field.captures import source
from mptcplab.engines.field.captures.packet import Packet

class Source:
    by = "a test"
    fd, _ = os.pipe()
    def fileno(self): return self.fd
    def take(self): return []
    def finish(self): return [Packet("lo", True, 1, 9000, bytes(9000))] * 500, 0

source.opened = lambda *_: Source()
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
sys.exit(recorder.main())
"""


def test_a_capture_that_the_disk_has_no_room_for_is_none(tmp_path: Path) -> None:
    """And the run goes on without."""
    file = tmp_path / "client.pcapng"
    job = {
        "file": str(file),
        "host": "client",
        "interfaces": None,
        "port": 9,
        "snap": 1,
        "most": None,
    }
    lines = f"{json.dumps(job)}\n"
    command = [sys.executable, "-c", FULL]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, file.exists()) == (1, "", False)
    said = [json.loads(one) for one in done.stdout.splitlines()]
    why = "cannot write the capture: File too large"
    assert said == [{"ready": "a test"}, {"error": why}]
    assert _captured(said) == {"by": None, "why": why}
    assert _captured(said[:1]) == {"by": None, "why": "it ended in the middle"}
    assert _captured([{"captured": {"dropped": 1}}]) == {"dropped": 1}


def test_a_recorder_that_nobody_hears_any_more_ends_quietly(tmp_path: Path) -> None:
    """Ctrl-C comes while it finds out that it may not capture."""
    file = tmp_path / "none" / "client.pcapng"
    job = {"file": str(file), "host": "client", "interfaces": None, "port": 9, "snap": 9, "most": 0}
    command = [sys.executable, "-m", "mptcplab.engines.field.recorder"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stdin is not None
        process.stdin.write(f"{json.dumps(job)}\n")
        process.stdin.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 1
