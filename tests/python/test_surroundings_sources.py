"""Sources that are asked while a run goes on: what they say, and what is said when they do not."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import requirements
from modem import ModemManager as Modem
from modem import bus, served
from mptcplab import Error
from mptcplab.surroundings import iw
from mptcplab.surroundings.coverage import Span, coverage
from mptcplab.surroundings.gpsd import Gpsd, address
from mptcplab.surroundings.iw import Iw
from mptcplab.surroundings.modem_manager import ModemManager
from mptcplab.surroundings.sampling import Sampler, Source
from receiver import FIXES, playing

Row = dict[str, Any]
# As people showed what iw printed (linuxmint/cinnamon 9301, uoaerg/wavemon 86, cnlohr/wifirxpower
# 1, on GitHub), with another address and another name.
VHT = """\
Connected to 02:00:5E:00:53:01 (on wlp0s20f3)
\tSSID: tx bitrate: 1 MBit/s
\tfreq: 5280
\tRX: 2254846655 bytes (1728945 packets)
\tTX: 67296834 bytes (393089 packets)
\tsignal: -44 dBm
\trx bitrate: 702.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2
\ttx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
"""
HE = """\
Connected to 02:00:5e:00:53:02 (on wlp2s0)
\tSSID: lab
\tfreq: 5600.0
\tRX: 2989579880 bytes (11839374 packets)
\tTX: 481889773 bytes (2623467 packets)
\tsignal: -61 dBm
\trx bitrate: 720.6 MBit/s 80MHz HE-MCS 7 HE-NSS 2 HE-GI 0 HE-DCM 0
\ttx bitrate: 960.7 MBit/s 80MHz HE-MCS 9 HE-NSS 2 HE-GI 0 HE-DCM 0

\tbss flags:\tshort-slot-time
\tdtim period:\t2
\tbeacon int:\t100
"""
HT = """\
Connected to 02:00:5e:00:53:03 (on wlan0)
\tSSID: lab
\tfreq: 5745
\tRX: 30206 bytes (201 packets)
\tTX: 4084 bytes (23 packets)
\tsignal: -31 dBm
\ttx bitrate: 300.0 MBit/s MCS 15 40Mhz short GI
"""
# From the log of iw itself ("add support to print link level information in station dump"): a
# station of several links, each with figures of its own; with another address and other names,
# and the spaces that station.c prints. Another station is beside it.
DUMP = """\
Station 02:00:5e:00:53:09 (on wlan0)
\ttx retries:\t7
\ttx failed:\t1
\tsignal:  \t-70 dBm
\tsignal avg:\t-71 dBm
Station 02:00:5E:00:53:03 (on wlan0)
\tinactive time:\t328 ms
\trx bytes:\t11319
\trx packets:\t98
\ttx bytes:\t1496
\ttx packets:\t9
\ttx retries:\t3
\ttx failed:\t0
\trx drop misc:\t0
\tsignal:  \t-33 [-35, -36] dBm
\tsignal avg:\t-28 [-30, -31] dBm
\ttx bitrate:\t6.0 MBit/s
\trx bitrate:\t576.4 MBit/s 80MHz EHT-MCS 5 EHT-NSS 2 EHT-GI 0
\tlast ack signal:-35 dBm
\tavg ack signal:\t-33 dBm

\tLink 0:
\t\ttx retries:\t2
\t\ttx failed:\t9
\t\tsignal avg:\t-40 dBm
"""


def follow(source: Source, enough: Callable[[list[Row]], bool]) -> tuple[list[Row], str | None]:
    """Follow a source until it has said enough, or has stopped."""
    sampler = Sampler([source])
    (one,) = sampler._followed
    until = time.monotonic() + 30
    while one.thread.is_alive() and not enough(one.rows):
        assert time.monotonic() < until
        time.sleep(0.01)
    ((_, rows, why),) = sampler.end()
    return rows, why


def never(_: list[Row]) -> bool:
    return False


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (VHT, ("02:00:5e:00:53:01", "5280 MHz", -44.0, 866.7, 702.0)),
        (HE, ("02:00:5e:00:53:02", "5600 MHz", -61.0, 960.7, 720.6)),
        (HT, ("02:00:5e:00:53:03", "5745 MHz", -31.0, 300.0, None)),
        ("Not connected.\n", (None, None, None, None, None)),
    ],
)
def test_what_iw_prints(text: str, row: tuple[Any, ...]) -> None:
    columns = ("cell", "band", "rssi_dbm", "up_mbps", "down_mbps")
    found = iw.link(text)
    assert tuple(found.get(column) for column in columns) == row
    assert found["technology"] == "wifi"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (DUMP, {"rssi_dbm_mean": -28.0, "retries": 3, "failed": 0}),
        # What only one of its links says is not the station's.
        (DUMP.replace("\ttx retries:\t3\n", ""), {"rssi_dbm_mean": -28.0, "failed": 0}),
        (DUMP.replace("\t3\n", f"\t{2**64}\n"), {"rssi_dbm_mean": -28.0, "failed": 0}),
        (DUMP.split("Station 02:00:5E")[0], {}),
        ("", {}),
    ],
)
def test_what_iw_prints_of_the_access_point(text: str, row: Row) -> None:
    assert iw.station(text, "02:00:5e:00:53:03") == row


def program(directory: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (directory / "iw").write_text(f"#!/bin/sh\n{text}\n")
    (directory / "iw").chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/bin:/usr/bin")


def test_iw_is_asked_over_and_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"link": HT, "station dump": DUMP}
    cases = "".join(
        f"'dev wlan0 {arguments}') cat <<'END'\n{text}END\n;;\n"
        for arguments, text in answers.items()
    )
    program(tmp_path, monkeypatch, f'case "$*" in\n{cases}*) exit 1;;\nesac')
    rows, why = follow(Iw("wifi", "wlan0", 0.01), lambda rows: len(rows) >= 3)
    assert why is None
    assert {(row["path"], row["source"], row["rssi_dbm"]) for row in rows} == {("wifi", "iw", -31)}
    assert {(row["rssi_dbm_mean"], row["retries"], row["failed"]) for row in rows} == {(-28, 3, 0)}
    assert [row["at_ns"] for row in rows] == sorted(row["at_ns"] for row in rows)


def test_iw_that_fails_or_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "echo 'command failed: No such device (-19)' >&2; exit 237")
    result = follow(Iw("wifi", "wlan9", 1), never)
    assert result == ([], "iw dev wlan9 link: command failed: No such device (-19)")
    (tmp_path / "iw").unlink()
    monkeypatch.setattr(iw, "PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert follow(Iw("wifi", "wlan9", 1), never) == ([], "there is no program iw: install it")


def test_a_modem_says_what_it_has_of_each_technology(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements.need_tool("dbus-daemon")
    with bus(tmp_path) as where, served(where, Modem("wwan0")) as modem:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", where)
        rows, why = follow(ModemManager("lte", "wwan0", 0.05), lambda rows: len(rows) >= 4)
    assert why is None
    nr, lte = ({**row, "at_ns": 0} for row in rows[:2])
    common = {"at_ns": 0, "source": "ModemManager", "path": "lte"}
    rates = {"up_mbps": 50.0, "down_mbps": 300.0}
    assert nr == common | rates | {"technology": "5gnr", "rsrp_dbm": -88.0, "sinr_db": 17.0}
    assert lte == common | rates | {
        "technology": "lte",
        "cell": "1A2B301",
        "band": "EARFCN 1300",
        "rssi_dbm": -65.0,
        "rsrp_dbm": -97.0,
        "rsrq_db": -11.0,
        "sinr_db": 12.4,
    }
    # It was asked to measure, and left as it was found.
    assert modem.rates == [1, 0]


def test_a_modem_that_somebody_else_has_measure_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements.need_tool("dbus-daemon")
    with bus(tmp_path) as where, served(where, Modem("wwan0", rate_s=5)) as modem:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", where)
        rows, _ = follow(ModemManager("lte", "wwan0", 0.05), lambda rows: len(rows) >= 2)
    assert rows
    assert modem.rates == []


@pytest.mark.parametrize(
    ("modem", "why"),
    [
        (Modem("wwan1"), "wwan0 is not a wireless LAN, and no modem of ModemManager's"),
        (Modem("wwan0", allows=False), "ModemManager: not authorized"),
        (None, "ModemManager: The name org.freedesktop.ModemManager1 was not provided by any"),
    ],
)
def test_modems_that_are_not_there_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modem: Modem | None, why: str
) -> None:
    requirements.need_tool("dbus-daemon")
    with bus(tmp_path) as where:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", where)
        source = ModemManager("lte", "wwan0", 1)
        if modem is None:
            result = follow(source, never)
        else:
            with served(where, modem):
                result = follow(source, never)
    assert result[0] == []
    assert result[1] is not None
    assert result[1].startswith(why)


def test_no_bus_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    result = follow(ModemManager("lte", "wwan0", 1), never)
    assert result == ([], "no D-Bus: No such file or directory")


def test_gpsd_says_where_it_is() -> None:
    with playing() as port:
        gpsd = Gpsd(("127.0.0.1", port))
        rows, why = follow(gpsd, lambda rows: len(rows) >= 2)
    assert why is None
    assert [{**row, "at_ns": 0} for row in rows] == [
        {
            "at_ns": 0,
            "source": "gpsd",
            "latitude_deg": 50.7753,
            "longitude_deg": 6.0839,
            "altitude_m": 173.5,
            "speed_mps": 13.89,
            "course_deg": 64.4,
            "accuracy_m": 17.1,
        },
        {
            "at_ns": 0,
            "source": "gpsd",
            "latitude_deg": 50.77532,
            "longitude_deg": 6.08393,
            "speed_mps": 13.89,
            "accuracy_m": 17.1,
        },
    ]
    # Reports of long ago: how far this clock is ahead of them is said.
    assert gpsd.clock_ahead_ms is not None


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (FIXES, "gpsd closed the connection"),
        (["SSH-2.0-OpenSSH_9.2"], "what answers is not gpsd: b'SSH-2.0-OpenSSH_9.2"),
        (["[1]"], "what answers is not gpsd: b'[1]"),
        (["x" * 100_000], "what answers is not gpsd: "),
        (['{"class":"ERROR","message":"Unrecognized request"}'], "gpsd says: Unrecognized request"),
        ([FIXES[2].replace("50.7753", "9950.7753")], "gpsd: latitude_deg is 9950.78"),
    ],
)
def test_gpsd_that_stops_is_said(lines: list[str], why: str) -> None:
    with playing(lines, ends=True) as port:
        _, reason = follow(Gpsd(("127.0.0.1", port)), never)
    assert reason is not None
    assert reason.startswith(why)


def test_no_gpsd_and_no_fix_are_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    result = follow(Gpsd(("127.0.0.1", port)), never)
    assert result == ([], f"no gpsd at 127.0.0.1 port {port}: Connection refused")
    with playing(FIXES[:1]) as port:
        sampler = Sampler([Gpsd(("127.0.0.1", port))])
        time.sleep(0.5)
        ((_, rows, why),) = sampler.end()
    assert (rows, why) == ([], "no fix in 1 reports")


def test_the_real_gpsd_is_understood(tmp_path: Path) -> None:
    requirements.need_tool("gpsfake", "gpsd")
    sentences = []
    for number in range(40):
        at = f"1200{number:02d}.00"
        position = f"5046.{5180 + 10 * number},N,00605.0340,E"
        for body in (
            f"GPGGA,{at},{position},1,08,0.9,173.5,M,46.9,M,,",
            f"GPRMC,{at},A,{position},027.0,064.4,251126,,,A",
        ):
            total = 0
            for sign in body:
                total ^= ord(sign)
            sentences.append(f"${body}*{total:02X}\r\n")
    log = tmp_path / "drive.nmea"
    log.write_text("".join(sentences))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    arguments = ["gpsfake", "-q", "-P", str(port), "-c", "0.1", str(log)]
    with subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as gpsfake:
        try:
            until = time.monotonic() + 30
            while True:
                rows, why = follow(Gpsd(("127.0.0.1", port)), lambda rows: len(rows) >= 3)
                if len(rows) >= 3 or time.monotonic() > until:
                    break
                time.sleep(0.1)
        finally:
            gpsfake.terminate()
    assert len(rows) >= 3, why
    assert {round(row["longitude_deg"], 4) for row in rows} == {6.0839}
    assert all(50.775 < row["latitude_deg"] < 50.79 for row in rows)
    assert rows[0]["speed_mps"] == pytest.approx(27 * 1852 / 3600, abs=0.01)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("localhost", ("localhost", 2947)),
        ("lab:2948", ("lab", 2948)),
        ("[::1]:2948", ("::1", 2948)),
        ("[::1]", ("::1", 2947)),
        ("::1", ("::1", 2947)),
    ],
)
def test_where_gpsd_is(text: str, where: tuple[str, int]) -> None:
    assert address(text) == where


@pytest.mark.parametrize("text", ["", "lab:", "lab:0", "lab:65536", "lab:gps", ":2947"])
def test_where_gpsd_cannot_be(text: str) -> None:
    with pytest.raises(Error, match="it must be HOST or HOST:PORT"):
        address(text)


def test_what_a_source_does_not_cover_is_a_gap() -> None:
    span = Span(10**9, 11 * 10**9)
    rows = [{"at_ns": at * 10**8} for at in (5, 20, 80, 105)]
    assert coverage(rows, span) == {
        "rows": 4,
        "first_s": -0.5,
        "last_s": 9.5,
        "longest_gap_s": 6.0,
    }
    assert coverage([], span)["longest_gap_s"] == 10.0
