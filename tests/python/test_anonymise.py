"""Captures made fit to publish: what is measured stays, what names somebody goes."""

from __future__ import annotations

import gzip
import ipaddress
import itertools
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

import mptcplab
from captures import exchange, write
from mptcplab import _core
from mptcplab.anonymising import anonymise
from requirements import need_tool

ROOT = Path(__file__).parents[2]
SECRET = b"of the tests, known to everybody"
EXAMPLES = ("download", "outage", "refused")
# Both addresses, as a header has them.
FROM_SERVER = b"".join(map(socket.inet_aton, ("203.0.113.1", "192.0.2.18")))
# What is to differ, and what captures are called.
OTHER = {
    "client_address",
    "server_address",
    "client_token",
    "server_token",
    "address",
    "capture",
    "filter",
}
# What tshark reads of MPTCP that names a connection, and its length in bytes.
NAMES = {"sendkey": 8, "recvkey": 8, "recvtok": 4, "sendtrunchmac": 8, "addaddrtrunchmac": 8}


def captures_of(name: str) -> list[Path]:
    """Give those of an example."""
    return sorted((ROOT / "examples" / name).glob("*.pcapng.gz"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_measured_stays(name: str, tmp_path: Path) -> None:
    same_tables(captures_of(name), tmp_path)


def same_tables(captures: list[Path], tmp_path: Path) -> None:
    """Hold all tables, samples included, to being the same."""
    done = anonymise(captures, tmp_path / "public", secret=SECRET)
    before, after = _core.analyze(captures), _core.analyze([one.file for one in done])
    for table in before.NAMES:
        assert rows(after, table) == rows(before, table), table


def rows(tables: _core.Tables, name: str) -> list[dict[str, Any]]:
    """Give the rows of a table but for what names somebody."""
    return [{key: row[key] for key in row.keys() - OTHER} for row in tables.rows(name)]


@pytest.mark.parametrize("number", [40, 400])
def test_what_is_measured_of_damaged_addresses_stays(number: int, tmp_path: Path) -> None:
    """The analysis knows such a packet's connection by its data sequence number."""
    client, server = captures_of("download")
    parts = gzip.decompress(client.read_bytes()).split(FROM_SERVER)
    # As it came from the way: another server's address.
    parts[number] = FROM_SERVER[:3] + b"\x41" + FROM_SERVER[4:] + parts[number]
    damaged = tmp_path / "client.pcapng"
    damaged.write_bytes(FROM_SERVER.join(parts[:number]) + FROM_SERVER.join(parts[number:]))
    kinds = [row["kind"] for row in _core.analyze([damaged, server]).rows("subflows")]
    assert kinds.count("unknown") == 1
    same_tables([damaged, server], tmp_path)


@pytest.mark.parametrize("name", EXAMPLES[1:])
def test_nothing_that_names_somebody_is_left(name: str, tmp_path: Path) -> None:
    """Searched for as bytes, wherever they might stand."""
    done = anonymise(captures_of(name), tmp_path / "public", secret=SECRET)
    written = b"".join(one.file.read_bytes() for one in done)
    wanted = names(captures_of(name))
    assert len(wanted) >= 4
    assert [value.hex() for value in wanted if value in written] == []


def names(captures: list[Path]) -> set[bytes]:
    """Give the addresses, keys, tokens and HMACs of captures, as tshark reads them."""
    fields = {f"tcp.options.mptcp.{field}": length for field, length in NAMES.items()}
    hmac = "tcp.options.mptcp.sendhmac"
    found = set()
    for capture in captures:
        values = values_of(capture, *fields, hmac, "ip.src", "ip.dst")
        for field, length in fields.items():
            found |= {int(number, 0).to_bytes(length) for number in values[field]}
        found |= {bytes.fromhex(value) for value in values[hmac]}
        addresses = values["ip.src"] | values["ip.dst"]
        found |= {ipaddress.ip_address(address).packed for address in addresses}
    return found


def values_of(capture: Path, *fields: str, settings: tuple[str, ...] = ()) -> dict[str, set[str]]:
    """Give the values of fields of tshark's."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    command: list[str | Path] = [
        "tshark",
        "-nr",
        capture,
        *settings,
        "-Tfields",
        *(f"-e{field}" for field in fields),
    ]
    found: dict[str, set[str]] = {field: set() for field in fields}
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        for field, values in zip(fields, line.split("\t"), strict=True):
            found[field] |= set(filter(None, values.split(",")))
    return found


@pytest.mark.parametrize("errors", [0.001, 0.02])
def test_nothing_that_names_somebody_is_left_of_malformed_packets(
    errors: float, tmp_path: Path
) -> None:
    """With so many of a capture's bytes replaced by chance, as editcap does it."""
    need_tool("editcap")
    (whole,), broken = captures_of("refused"), tmp_path / "broken.pcapng"
    command = ["editcap", "-E", str(errors), "--seed", "7", str(whole), str(broken)]
    subprocess.run(command, check=True, capture_output=True)
    (done,) = anonymise([broken], tmp_path / "public", secret=SECRET)
    written = done.file.read_bytes()
    wanted = names([whole])
    assert sum(value in broken.read_bytes() for value in wanted) >= 4
    assert [value.hex() for value in wanted if value in written] == []


def test_checksums_are_right(tmp_path: Path) -> None:
    """As tshark sums up: TCP's where there was no payload, since of others it would want that."""
    bad, good = "0", "1"
    for one in anonymise(captures_of("outage"), tmp_path / "public", secret=SECRET):
        settings = ("-oip.check_checksum:TRUE", "-otcp.check_checksum:TRUE")
        values = values_of(one.file, "ip.checksum.status", "tcp.checksum.status", settings=settings)
        assert values["ip.checksum.status"] == {good}
        assert good in values["tcp.checksum.status"]
        assert bad not in values["tcp.checksum.status"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a transfer whose checksums are on, with all that it carries in the captures."""
    out = tmp_path_factory.mktemp("full") / "run"
    settings = ["transfer.size=200kB", "mptcp.checksum=true"]
    mptcplab.run("wifi-lte", out=out, settings=settings, baselines=False, captures="full")
    return out / "mptcp"


def test_no_payload_is_left(full: Path, tmp_path: Path) -> None:
    captures = [full / "client.pcapng", full / "server.pcapng"]
    payload = max(values_of(captures[0], "tcp.payload")["tcp.payload"], key=len)
    pieces = {bytes.fromhex(payload)[at : at + 12] for at in range(0, len(payload) // 2 - 12, 97)}
    before = captures[0].read_bytes()
    assert all(piece in before for piece in pieces)
    done = anonymise(captures, tmp_path / "public", secret=SECRET)
    assert sum(one.payload_bytes for one in done) == 2 * 200_000
    for one, piece in itertools.product(done, pieces):
        assert piece not in one.file.read_bytes()
    assert all(one.replaced == 0 < one.remade for one in done)


def test_the_same_with_checksums_of_data(full: Path, tmp_path: Path) -> None:
    same_tables([full / "client.pcapng", full / "server.pcapng"], tmp_path)


def test_one_secret_gives_the_same(tmp_path: Path) -> None:
    captures = captures_of("refused")
    for name in ("one", "two"):
        anonymise(captures, tmp_path / name, secret=SECRET)
    anonymise(captures, tmp_path / "other")
    one, two, other = (
        (tmp_path / name / "client.pcapng").read_bytes() for name in ("one", "two", "other")
    )
    assert one == two != other


def test_refusals(tmp_path: Path) -> None:
    capture = write(tmp_path / "a.pcap", exchange(5000, 0, 100))
    (tmp_path / "b").mkdir()
    again = write(tmp_path / "b" / "a.pcap", exchange(5000, 0, 100))
    out = tmp_path / "public"
    with pytest.raises(mptcplab.Error, match="two captures would become"):
        anonymise([capture, again], out)
    with pytest.raises(mptcplab.Error, match="can be guessed"):
        anonymise([capture], out, secret=b"short")
    with pytest.raises(mptcplab.CaptureError):
        anonymise([capture, tmp_path / "absent.pcap"], out)
    assert not out.exists()
    anonymise([capture], out)
    with pytest.raises(mptcplab.Error, match="is there already"):
        anonymise([capture], out)
