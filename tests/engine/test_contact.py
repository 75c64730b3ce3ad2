"""First contact: 1 MB each way between our endpoint and this machine's kernel, in both roles."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import mptcplab
from contact import PORT, Case, Contact, run
from requirements import need_kernel_tun, need_tool

ROOT = pathlib.Path(__file__).parents[2]
ROLES = ["ours", "kernel"]
# What tshark finds fault with.
FAULTS = " || ".join(
    [
        "_ws.malformed",
        # The kernel writes 0 as 0xffff, which is as good (RFC 1624 §3).
        '(tcp.checksum.status == "Bad" && tcp.checksum != 0xffff)',
        'ip.checksum.status == "Bad"',
        "_ws.expert.severity == error",
    ]
)

# Of MPTcpExt: what the kernel counts when it understands us. It retransmits at times because its
# timer is as short as the round trip, and takes a subflow for stale, when our end waits for a
# processor.
USUAL = {
    *("MPCapableSYNRX", "MPCapableACKRX", "MPCapableSYNTX", "MPCapableSYNACKRX"),
    *("MPJoinSynRx", "MPJoinAckRx", "MPJoinSynTx", "MPJoinSynAckRx"),
    *("AddAddr", "EchoAddTx", "AddAddrTx", "EchoAdd"),
    *("OFOQueue", "OFOQueueTail", "OFOMerge", "DuplicateData", "MPTCPRetrans"),
    *("SubflowStale", "SubflowRecover"),
    *("SndWndShared", "RcvWndShared", "RcvWndConflict", "RcvWndConflictUpdate", "MPCurrEstab"),
}


@pytest.fixture(scope="session")
def program() -> pathlib.Path:
    """Our end, built."""
    need_kernel_tun()
    need_tool("cargo")
    command = ["cargo", "build", "--quiet", "--locked", "--message-format=json"]
    # As all tests of Rust are built, which has built it.
    command += ["--workspace", "--exclude", "python", "--example", "contact"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    messages = map(json.loads, built.stdout.splitlines())
    made = [message["executable"] for message in messages if message.get("executable")]
    return pathlib.Path(made[-1])


@pytest.fixture
def meet(program: pathlib.Path, tmp_path: pathlib.Path) -> Callable[..., Contact]:
    """Carries out a case, and holds its capture to what every one must be."""

    def carry_out(**case: Any) -> Contact:
        contact = run(Case(**case), program, tmp_path)
        assert contact.ours["connected"]
        assert contact.ours["corrupt_bytes"] == 0, contact.ours
        assert contact.kernel["right"], contact.kernel
        assert faults(contact.capture) == ""
        return contact

    return carry_out


def faults(capture: pathlib.Path) -> str:
    """The packets that tshark finds fault with; without it none."""
    need_tool("tshark")
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    # The payload is no protocol, whatever it looks like.
    as_data = ["-d", f"tcp.port=={PORT},data"]
    command = ["tshark", "-n", *checks, *as_data, "-r", str(capture), "-Y", FAULTS]
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def assert_complete(contact: Contact) -> None:
    """Every byte came to its place at both ends, and both know it."""
    ours, kernel = contact.ours, contact.kernel
    assert ours["read"] == kernel["read"] == ours["written"] == kernel["written"] == 1_000_000
    assert ours["delivered"], ours
    assert ours["peer_finished"], ours
    assert ours["closed"] == "Complete"
    assert kernel["finished"]
    assert kernel["error"] is None


def assert_two_subflows(contact: Contact, client: str) -> None:
    """All who look see one join, and data both ways on both subflows."""
    assert contact.ours["mptcp"]
    assert contact.kernel["subflows"] == 2
    counters = contact.kernel["counters"]
    assert counters.get("MPJoinAckRx" if client == "ours" else "MPJoinSynAckRx") == 1, counters
    assert counters.keys() <= USUAL, counters
    analysis = mptcplab.analyze(contact.capture)
    assert analysis.connections["mptcp_version"].to_list() == [1]
    assert analysis.subflows.height == 2
    assert analysis.flows.height == 4
    assert all(analysis.flows["bytes"] > 0)


@pytest.mark.parametrize("checksum", [(), ("kernel",), ("ours",)], ids=["plain", "kernel", "ours"])
@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("client", ROLES)
def test_two_subflows(
    client: str, family: int, checksum: tuple[str, ...], meet: Callable[..., Contact]
) -> None:
    contact = meet(client=client, family=family, checksum=checksum)
    assert_complete(contact)
    assert_two_subflows(contact, client)


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("client", ROLES)
def test_joining_an_announced_address(
    client: str, family: int, meet: Callable[..., Contact]
) -> None:
    contact = meet(client=client, family=family, join="signal", checksum=("kernel",))
    assert_complete(contact)
    assert_two_subflows(contact, client)
    counters = contact.kernel["counters"]
    if client == "ours":
        assert counters["AddAddrTx"] == counters["EchoAdd"] == 1, counters
    else:
        assert counters["AddAddr"] == counters["EchoAddTx"] == 1, counters


@pytest.mark.parametrize("client", ROLES)
def test_the_kernel_closes_first(client: str, meet: Callable[..., Contact]) -> None:
    contact = meet(client=client, first="kernel")
    assert_complete(contact)
    assert_two_subflows(contact, client)


@pytest.mark.parametrize("plain", [("ours",), ("kernel",), ("ours", "kernel")], ids="-".join)
@pytest.mark.parametrize("client", ROLES)
def test_one_end_that_speaks_tcp_only(
    client: str, plain: tuple[str, ...], meet: Callable[..., Contact]
) -> None:
    contact = meet(client=client, plain=plain)
    assert_complete(contact)
    assert contact.ours["mptcp"] is False
    assert contact.kernel["subflows"] == (0 if "kernel" in plain else contact.kernel["subflows"])


@pytest.mark.parametrize("client", ROLES)
def test_we_give_up(client: str, meet: Callable[..., Contact]) -> None:
    contact = meet(client=client, abort="ours")
    assert contact.ours["closed"] == "Aborted"
    assert contact.kernel["error"] == "ConnectionResetError"
    assert contact.kernel["counters"]["MPFastcloseRx"] >= 1


@pytest.mark.parametrize("client", ROLES)
def test_the_kernel_gives_up(client: str, meet: Callable[..., Contact]) -> None:
    contact = meet(client=client, abort="kernel")
    assert contact.ours["closed"] == "Failed(Reset)"
    assert contact.kernel["counters"]["MPFastcloseTx"] >= 1


@pytest.mark.parametrize("join", ["subflow", "signal"])
@pytest.mark.parametrize("remove", ROLES)
def test_an_address_goes(join: str, remove: str, meet: Callable[..., Contact]) -> None:
    # The end whose second address it is.
    other = {"ours": "kernel", "kernel": "ours"}[remove]
    client = remove if join == "subflow" else other
    contact = meet(client=client, join=join, remove=remove)
    assert_complete(contact)
    assert contact.kernel["subflows"] == 2
    assert contact.kernel["counters"]["RmAddr" if remove == "ours" else "RmAddrTx"] == 1
