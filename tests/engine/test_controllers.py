"""Controllers that root loads into the kernel: whoever wants one has it, and nobody else does."""

from __future__ import annotations

import fcntl
import socket
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import mptcplab
from mptcplab import Error
from mptcplab.controllers import catalogue, loading, repairs
from mptcplab.engines import named
from mptcplab.scenario.scenario import load
from requirements import (
    missing,
    need_compiler_of_controllers,
    need_kernel_namespaces,
    need_root,
)

LOCK = Path("/tmp/mptcplab-controllers.lock")
SCENARIO: dict[str, object] = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "1500 kB"},
    "path": {
        "one": {"rate": "10 Mbit/s", "delay": "10 ms", "loss": "1 %"},
        "two": {"rate": "10 Mbit/s", "delay": "20 ms", "loss": "1 %"},
    },
}


def of(controller: str) -> dict[str, object]:
    return SCENARIO | {"mptcp": {"congestion_control": controller}}


@pytest.fixture
def kernel() -> Iterator[None]:
    """A kernel that takes controllers, and has none; one test at a time."""
    need_root()
    need_kernel_namespaces()
    if not loading.KERNEL.exists():
        missing("needs a kernel that describes its types")
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if catalogue.loaded():
            missing("needs a kernel without controllers: mptcplab controllers --unload")
        yield
        loading.unload(catalogue.NAMES)
        assert catalogue.loaded() == []
        assert not repairs.DIRECTORY.exists()


def test_a_run_has_what_is_loaded_and_is_refused_what_is_not(kernel: None, tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"mptcplab controllers --load olia loads it"):
        named("kernel").check(load(of("olia"), [])[1])
    assert loading.load(catalogue.NAMES) == list(catalogue.NAMES)
    assert loading.load(["lia"]) == []
    for name in catalogue.NAMES:
        run = mptcplab.run(
            of(name),
            engine="kernel",
            baselines=False,
            out=tmp_path / name,
        ).mptcp
        assert run.outcome["finished"]
        ends = run.about["kernel"]["sockets"].values()
        used = {
            one["congestion_control"] for end in ends for sock in end for one in sock["subflows"]
        }
        assert used == {catalogue.linux(name)}
        about = run.about["kernel"]["controllers"][name]
        assert about["version"] == catalogue.version(name)
        assert about["repairs"].keys() == {"client", "server"}


def test_acks_tell_how_a_loaded_controller_moves_its_windows(kernel: None, tmp_path: Path) -> None:
    loading.load(["lia"])
    scenario = of("lia") | {"kernel": {"state_per_ack": True}}
    run = mptcplab.run(scenario, engine="kernel", baselines=False, out=tmp_path / "run").mptcp
    assert run.about["kernel"]["acks"]["recorded"] > 500
    rows = [row for row in run.tables.rows("state") if row["host"] == "server"]
    acks = [row for row in rows if row["busy_ms"] is None]
    assert {row["subflow"] for row in acks} == {0, 1}
    # By less than a packet for each: so no ACK adds more than one in congestion avoidance.
    for subflow in (0, 1):
        own = [row for row in acks if row["subflow"] == subflow]
        avoids = [
            (before, after)
            for before, after in pairwise(own)
            if {before["congestion_state"], after["congestion_state"]} == {"open"}
            and before["ssthresh_packets"] is not None
            and before["cwnd_packets"] >= before["ssthresh_packets"]
        ]
        grown = [after["cwnd_packets"] - before["cwnd_packets"] for before, after in avoids]
        assert len(grown) > 50
        assert set(grown) <= {0, 1}


def test_other_sockets_have_what_they_had(kernel: None) -> None:
    setting = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    before = setting.read_text()
    loading.load(["lia"])
    assert setting.read_text() == before
    with socket.socket() as other:
        name = other.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")
    assert name.decode() == before.strip()


def test_what_was_unloaded_while_somebody_has_it_is_left_to_them(kernel: None) -> None:
    with socket.socket() as listener:
        loading.load(["lia"])
        listener.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_CONGESTION, catalogue.linux("lia").encode()
        )
        assert loading.unload(["lia"]) == ["lia"]
        assert loading.unload(["lia"]) == []
        assert loading.load(["lia"]) == ["lia"]
        assert loading.unload(["lia"]) == ["lia"]


def test_what_the_kernel_makes_up_is_mended_and_counted(
    kernel: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_compiler_of_controllers()
    # Of every other threshold the kernel makes one up.
    answer = "-DANSWER(value)=(bpf_get_prandom_u32() & 1 ? 0x8a3c1d40 : (value))"
    script = Path(__file__).parents[2] / "scripts" / "controllers"
    subprocess.run([script, tmp_path, answer], check=True)
    monkeypatch.setattr(catalogue, "program", lambda name: tmp_path / f"{name}.bpf.o")
    loading.load(["lia"])
    run = mptcplab.run(
        of("lia"),
        engine="kernel",
        baselines=False,
        out=tmp_path / "run",
    ).mptcp
    mended = run.about["kernel"]["controllers"]["lia"]["repairs"]["server"]
    assert mended["thresholds"] > 0
    repaired = [
        row for row in run.tables.rows("diagnostics") if row["diagnostic"] == "controller_repaired"
    ]
    assert [row["count"] for row in repaired] == [mended["thresholds"] + mended["windows"]]
    # None of them has had an effect.
    windows = [row["cwnd_packets"] for row in run.tables.rows("state")]
    thresholds = [row["ssthresh_packets"] for row in run.tables.rows("state")]
    assert max(windows) < 1000
    assert max(one for one in thresholds if one is not None) < 1000


def test_a_program_that_a_kernel_refuses_is_told_in_a_line(
    kernel: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "linked", lambda *_: bytes(8))
    with pytest.raises(Error, match=r"^this kernel refuses the program lia_\w+: .*$"):
        loading.load(["lia"])
    assert catalogue.loaded() == []
