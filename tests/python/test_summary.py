"""The summary. The blocks of output in README.md and docs/ are more tests of it."""

from __future__ import annotations

import re
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from captures import SYN, Segment, exchange, write
from command import Run
from mptcplab import _core
from mptcplab.cli.summary.connection import print_measured
from mptcplab.cli.summary.page import Page
from mptcplab.cli.summary.remarks import print_remarks
from mptcplab.cli.summary.subflows import print_reasons
from requirements import need_tool


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A capture of 30 connections; connection 29 carries most."""
    segments = [
        segment
        for number in range(30)
        for segment in exchange(1000 + number, number * 100_000, 100 + 10 * number)
    ]
    return write(tmp_path / "many.pcap", segments)


def test_a_first_handshake_that_fails_is_no_join(mptcplab: Run, tmp_path: Path) -> None:
    lost = [f"--set=path.{path}.loss=100 %" for path in ("wifi", "lte")]
    arguments = ("--set=run.stop=40 s", "--no-baselines", "--no-report", "--out", tmp_path / "lost")
    output = mptcplab("run", "wifi-lte", *lost, *arguments).stdout
    assert "0 subflows · first handshake unanswered ·" in output
    assert "join" not in output


def test_many_connections_get_a_line_each_of_the_largest(mptcplab: Run, many: Path) -> None:
    lines = mptcplab("analyze", many).stdout.splitlines()
    assert lines[0] == "30 connections"
    assert lines[1] == "  30 plain TCP · 30 subflows · 30 closed"
    assert lines[2] == "  ↑ 0 B · ↓ 7.35 kB"
    assert lines[5].split()[:3] == ["29", "10.0.0.1:1029", "10.0.0.2:80"]
    shown = [line.split()[0] for line in lines[5:20]]
    assert shown == [str(number) for number in range(29, 14, -1)]
    assert "the 15 largest of 30; --connection N shows one in full" in lines[20]


def test_many_connections_of_programs_do_so_too(many: Path) -> None:
    stream = StringIO()
    tables: Any = _core.analyze([str(many)])
    print_measured(Page(stream), tables, analyze="mptcplab analyze shell-1/*.pcapng")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "30 connections"
    assert " shell-1/*.pcapng --connection N shows one in full" in " ".join(lines)
    assert len(lines) < 30


def test_many_connections_that_moved_nothing_are_shown_too(mptcplab: Run, tmp_path: Path) -> None:
    """As a port scan leaves them."""
    scan = [Segment(1_000_000 + port, port, SYN) for port in range(3000, 3040)]
    done = mptcplab("analyze", write(tmp_path / "scan.pcap", scan))
    assert "the 15 largest of 40;" in done.stdout
    assert done.stdout.count("10.0.0.1:30") == 15


def test_of_many_subflows_the_largest_are_shown(mptcplab: Run, tmp_path: Path) -> None:
    """Forged joins can be thousands."""
    several = ("mptcp.path_manager_parameters.subflows=24", "mptcp.max_subflows=24")
    arguments = (*(f"--set={word}" for word in several), "--set=transfer.size=100 kB")
    arguments += ("--no-baselines", "--no-report", "--out", str(tmp_path / "many"))
    lines = mptcplab("run", "ndiffports", *arguments).stdout.splitlines()
    assert "  … and 4 more subflows; --json lists all" in lines
    assert sum(" wifi 10." in line for line in lines) == 20


def test_one_of_many_is_shown_in_full(mptcplab: Run, many: Path) -> None:
    lines = mptcplab("analyze", "--connection", "7", many).stdout.splitlines()
    assert lines[0] == "connection 7  10.0.0.1:1007 → 10.0.0.2:80"
    assert lines[1] == (
        "  plain TCP · 30.0 ms · starts at 0.700 s · closed · captured at the client"
    )
    assert lines[2].startswith("  ↓ down  170 B in 20.0 ms = 68.0 kbit/s")


def test_a_capture_of_another_year_has_times_of_its_own(mptcplab: Run) -> None:
    examples = Path(__file__).parents[2] / "examples"
    # A simulator counts from 1970.
    captures = (examples / "tools/ns3/client.pcap.gz", examples / "outage/client.pcapng.gz")
    output = mptcplab("analyze", *captures).stdout
    found = "why connection 1: wifi delivered nothing from 2.0 s to 7.3 s; data of the other paths"
    assert output.startswith(found)
    late = " ".join(line.strip() for line in output.partition("\nconnection 1 ")[2].splitlines())
    assert "· starts on 2026-11-21 02:04:32.328 UTC, its times count from there ·" in late
    assert "longest gap 908 ms at 5.303 s" in late
    assert "2.009 s  0 wifi: no new data from the server for 5.29 s" in late
    why = mptcplab("analyze", "--why", *captures).stdout
    assert "dead path · 2.020 s to 7.280 s ·" in why
    assert "nothing arrived over it from 2.020 s to 7.280 s" in why


@pytest.mark.parametrize("arguments", [["analyze"], ["analyze", "--why"], ["why"]])
def test_a_capture_without_tcp_says_so(mptcplab: Run, tmp_path: Path, arguments: list[str]) -> None:
    done = mptcplab(*arguments, write(tmp_path / "empty.pcap", []))
    assert done.returncode == 0
    assert done.stdout.startswith("no connection in the captures\n")
    assert "holds no TCP or UDP packets" in done.stdout


def test_names_from_captures_cannot_steer_the_terminal(mptcplab: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "\x1b[2Jevil.pcap", exchange(1000, 0, 100)[3:])
    assert "\x1b" not in mptcplab("analyze", path).stdout


def test_bytes_are_a_floor_where_a_path_is_missing(mptcplab: Run, tmp_path: Path) -> None:
    """The last DATA_ACKs may have gone over it."""
    need_tool("tshark")
    out, lte = tmp_path / "run", tmp_path / "lte.pcapng"
    arguments = ("--set=transfer.size=1 MB", "--no-baselines", "--no-report", "--out", out)
    assert "at least" not in mptcplab("run", "wifi-lte", *arguments).stdout
    (capture,) = out.rglob("client.pcapng")
    only_lte = ["-r", capture, "-Y", 'frame.interface_name contains "lte"', "-w", lte]
    subprocess.run(["tshark", *map(str, only_lte)], check=True, capture_output=True)
    down = re.search(
        r"↓ down  at least ([\d.]+) kB in [\d.]+ ms ·", mptcplab("analyze", lte).stdout
    )
    assert down is not None
    assert 0 < float(down[1]) <= 1000


def test_no_path_carried_all_where_one_is_missing(mptcplab: Run, tmp_path: Path) -> None:
    """The client's capture lacks a path, and the server's the other."""
    need_tool("tshark")
    out = tmp_path / "run"
    arguments = ("--set=transfer.size=1 MB", "--no-baselines", "--no-report", "--out", out)
    mptcplab("run", "wifi-lte", *arguments)
    halves = {"client": "10.0.1.2", "server": "10.0.2.2"}
    for end, address in halves.items():
        (capture,) = out.rglob(f"{end}.pcapng")
        half = ["-r", capture, "-Y", f"ip.addr == {address}", "-F", "pcap"]
        half += ["-w", tmp_path / f"{end}.pcap"]
        subprocess.run(["tshark", *map(str, half)], check=True, capture_output=True)
    done = mptcplab("analyze", *(tmp_path / f"{end}.pcap" for end in halves))
    assert "↓ down  at least 1.00 MB in " in done.stdout


class Remarked:
    """Tables with nothing but these remarks."""

    def __init__(self, *remarks: tuple[int | None, int | None, str, str]) -> None:
        names = ("connection", "subflow", "diagnostic", "message")
        self._rows = [{"capture": None} | dict(zip(names, row, strict=True)) for row in remarks]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self._rows


@pytest.mark.parametrize(
    ("share", "empty"),
    [(None, "shares and out-of-order delay stay empty"), (0.6, "out-of-order delay stays empty")],
)
def test_of_a_missing_subflow_only_what_is_empty_is_called_so(
    share: float | None, empty: str
) -> None:
    """The capture of the other end may know the shares."""
    written = StringIO()
    flow = {"direction": "down", "share": share, "data_packets": 0, "loss_rate_percent": None}
    connection = {"vantage": "both"}
    page = Page(written, width=200)
    print_reasons(page, connection, [], [flow], path_missing=True, silent_ends=0)
    assert written.getvalue().strip().startswith(f"– {empty}: part of the data")


@pytest.mark.parametrize(
    ("vantage", "why"),
    [
        ("server", "is known at the receiver of the data: give the capture of the client too"),
        ("client", "stays empty: the capture of the client misses some of the data"),
        ("both", "stays empty: the capture of the client misses some of the data"),
    ],
)
def test_nobody_is_asked_for_a_capture_that_was_given(vantage: str, why: str) -> None:
    """The receiver's capture does not tell the order of what it missed."""
    written = StringIO()
    flow = {"direction": "down", "share": 0.5, "data_packets": 9, "loss_rate_percent": 0.0}
    transfer = {"direction": "down", "out_of_order_delay_ms_mean": None}
    print_reasons(
        Page(written, width=200),
        {"vantage": vantage},
        [transfer],
        [flow, flow],
        path_missing=False,
        silent_ends=0,
    )
    assert written.getvalue().strip() == f"– out-of-order delay ↓ {why}"


def test_remarks_of_one_kind_take_a_line() -> None:
    clocks = [(number, None, "clock_offset", f"differ by {number}.5 ms") for number in range(40)]
    merged = [(0, number, "merged_segments", "12345 segments") for number in (0, 0, 1, 2)]
    out = StringIO()
    print_remarks(Page(out, width=200), Remarked(*clocks, *merged))  # type: ignore[arg-type]
    assert out.getvalue().splitlines() == [
        "",
        "  ! connection 0, subflow 0 and 2 more: 12\u202f345 segments",
        "  · connection 0 and 39 more: differ by 0.5 ms (so the first; --json has all)",
    ]
