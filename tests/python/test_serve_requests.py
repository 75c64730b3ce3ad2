"""What is asked of ``mptcplab serve``: what is granted, and what is refused in a line."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mptcplab import Error
from mptcplab.engines.field import preamble
from mptcplab.engines.field.server import run_request
from mptcplab.engines.field.server.control import Control
from mptcplab.engines.field.server.limits import Ledger, Limits
from serving import REQUEST, everything

LIMITS = Limits()


def _changed(**changes: Any) -> dict[str, Any]:
    return REQUEST | {"transfer": REQUEST["transfer"] | changes}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (None, "a run is asked for with"),
        (REQUEST | {"command": "ls"}, "a run is asked for with"),
        (_changed(application="shell"), "the application is none of"),
        (_changed(direction="sideways"), "neither up nor down"),
        (_changed(size_bytes=-1), "size_bytes is not a whole number"),
        (_changed(size_bytes=True), "size_bytes is not a whole number"),
        (_changed(size_bytes=2 * 10**9), "allows a run 1000 MB"),
        (_changed(host="elsewhere"), "bulk has no host"),
        (REQUEST | {"congestion_control": "../x"}, "is not a name"),
        (REQUEST | {"captures": "all"}, "captures is none of"),
        (REQUEST | {"sample_ns": 1}, "10 ms to 60 s apart"),
    ],
)
def test_requests_beyond_what_it_serves_are_refused(asked: Any, why: str) -> None:
    with pytest.raises(Error, match=why):
        run_request.read(asked, Limits())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
CHANGED = st.dictionaries(st.sampled_from([*REQUEST, "command"]), JSON)
TRANSFERS = st.dictionaries(
    st.sampled_from(
        ["application", "direction", *run_request.APPLICATIONS["request-response"], "host"]
    ),
    st.sampled_from([*run_request.APPLICATIONS, *run_request.DIRECTIONS]) | JSON,
)
# However busy the machine is.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@UNHURRIED
@given(JSON | CHANGED.map(lambda changed: REQUEST | changed), TRANSFERS)
def test_any_request_is_granted_or_refused_in_a_line(asked: Any, transfer: Any) -> None:
    for fields in (asked, REQUEST | {"transfer": transfer}):
        try:
            granted = run_request.read(fields, LIMITS)
        except Error as error:
            refused = str(error)
            assert "\n" not in refused
        else:
            assert granted.stop_ns <= LIMITS.run_ns
            assert granted.transfer.get("size_bytes", 0) <= LIMITS.run_bytes


@UNHURRIED
@given(st.binary(max_size=200), st.binary(min_size=32, max_size=32))
def test_no_bytes_prove_themselves_by_chance(raw: bytes, key: bytes) -> None:
    for read, size in (
        (preamble.read_preamble, preamble.PREAMBLE_BYTES),
        (preamble.read_echo, preamble.ECHO_BYTES),
    ):
        found = read(raw)
        assert found is None or len(raw) == size
    assert not preamble.is_proven(raw, key)


@UNHURRIED
@given(st.integers(0, 2**32 - 1), st.integers(0, 8 * preamble.PREAMBLE_BYTES - 1))
def test_a_preamble_with_a_bit_changed_proves_nothing(number: int, bit: int) -> None:
    run_, key = bytes(range(16)), bytes(range(32))
    good = preamble.preamble(run_, key, number)
    assert preamble.read_preamble(good) == (run_, number)
    assert preamble.is_proven(good, key)
    other = (int.from_bytes(good) ^ 1 << bit).to_bytes(len(good))
    assert not preamble.is_proven(other, key)


@settings(UNHURRIED, max_examples=25)
@given(st.lists(JSON.map(json.dumps).map(str.encode) | st.binary(max_size=80), max_size=4))
def test_whatever_a_client_says_is_refused_or_done(lines: list[bytes]) -> None:
    """Over a control connection without its TLS, of one that has the token."""

    async def said() -> bytes:
        here, there = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=there)
        served = Control("token-of-a-test", LIMITS, Ledger(Path("/nowhere")))
        hello = json.dumps({"hello": 1, "token": "token-of-a-test"}).encode()
        with here:
            here.sendall(b"\n".join([hello, *lines, b""]))
            here.shutdown(socket.SHUT_WR)
            await served.serve((reader, writer), lambda: None)
            return everything(here)

    for line in asyncio.run(said()).splitlines():
        assert json.loads(line).keys() <= {"welcome", "refused"}
