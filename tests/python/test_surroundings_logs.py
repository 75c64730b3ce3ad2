"""Logs of radios and positions: what they hold, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from mptcplab import Error
from mptcplab.surroundings.logs import read_positions, read_radio

NOON = int(datetime(2026, 11, 25, 12, tzinfo=UTC).timestamp()) * 10**9
GPX = """<?xml version="1.0"?>
<gpx version="1.1" creator="by hand" xmlns="http://www.topografix.com/GPX/1/1">
<trk><trkseg>
<trkpt lat="50.7753" lon="6.0839"><ele>173.5</ele><time>2026-11-25T12:00:00Z</time></trkpt>
<trkpt lat="50.7754" lon="6.0841"><time>2026-11-25T13:00:01.250+01:00</time>
<extensions><x:speed xmlns:x="urn:x">13.9</x:speed></extensions></trkpt>
</trkseg></trk></gpx>
"""
# The usual examples of these sentences, with their right sums; the third has a wrong one.
NMEA = """\
$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47
$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A
$GPRMC,123520,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A
$GPGSV,2,1,08,01,40,083,46,02,17,308,41,12,07,344,39,14,22,228,45*75
"""


def written(directory: Path, text: str, name: str = "log") -> Path:
    file = directory / name
    file.write_text(text, "utf-8")
    return file


def test_a_radio_log_names_its_columns(tmp_path: Path) -> None:
    text = (
        "time,path,technology,cell,rsrp_dbm,sinr_db,down_mbps\n"
        "2026-11-25T12:00:01Z,lte,lte,01A2B3,-97,11.5,\n"
        "\n"
        "1764072000.5,nr,5gnr,,2147483647,,300\n"
    )
    rows = read_radio(written(tmp_path, text, "radio.csv"))
    assert rows == [
        # Half a second later than the other row's year before.
        {
            "at_ns": 1764072000_500_000_000,
            "path": "nr",
            "technology": "5gnr",
            "cell": None,
            "down_mbps": 300.0,
            "source": "radio.csv",
        },
        {
            "at_ns": NOON + 10**9,
            "path": "lte",
            "technology": "lte",
            "cell": "01A2B3",
            "rsrp_dbm": -97.0,
            "sinr_db": 11.5,
            "source": "radio.csv",
        },
    ]


def test_times_without_a_zone_take_the_one_that_is_said(tmp_path: Path) -> None:
    log = written(tmp_path, "time,rssi_dbm\n2026-11-25 13:00:00,-60\n")
    (row,) = read_radio(log, "wifi", ZoneInfo("Europe/Paris"))
    assert (row["at_ns"], row["path"]) == (NOON, "wifi")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "line 1: column time is missing"),
        ("time,rsrp\n", "line 1: there is no column 'rsrp': did you mean rsrp_dbm?"),
        ("time,path,time\n", "line 1: column time is there twice"),
        ("time,rsrp_dbm\n1,-90\n", "line 1: column path is missing, and no path was said"),
        ("time,path\n1\n", "line 2: 1 cells, and the first line names 2 columns"),
        ("time,path\nnoon,lte\n", "line 2: 'noon' is not a time"),
        (
            "time,path\n2026-11-25T12:00:00,lte\n",
            "line 2: '2026-11-25T12:00:00' names no time zone",
        ),
        ("time,path\n99999999999,lte\n", "line 2: '99999999999' is not a time from 1970 to 2262"),
        ("time,path,rsrp_dbm\n1,lte,97\n", "line 2: rsrp_dbm is 97: it must be from -156 to -31"),
        ("time,path,rsrp_dbm\n1,lte,nan\n", "line 2: rsrp_dbm is nan"),
        ("time,path,rsrp_dbm\n1,lte,weak\n", "line 2: rsrp_dbm is 'weak': it must be a number"),
        ('time,path\n1,"lte\n', "line 2: unexpected end of data"),
        ("time,path\n", "has no row"),
    ],
)
def test_a_bad_radio_log_is_refused_by_its_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(Error) as error:
        read_radio(written(tmp_path, text))
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


def test_gpx(tmp_path: Path) -> None:
    one, other = read_positions(written(tmp_path, GPX, "drive.gpx"))
    assert one == {
        "at_ns": NOON,
        "latitude_deg": 50.7753,
        "longitude_deg": 6.0839,
        "altitude_m": 173.5,
        "source": "drive.gpx",
    }
    assert (other["at_ns"], other["speed_mps"]) == (NOON + 1_250_000_000, 13.9)


def test_nmea(tmp_path: Path) -> None:
    # What has a wrong sum is left out: the line for the second after has that of the first.
    (row,) = read_positions(written(tmp_path, NMEA))
    assert row["at_ns"] == int(datetime(1994, 3, 23, 12, 35, 19, tzinfo=UTC).timestamp()) * 10**9
    assert row["latitude_deg"] == pytest.approx(48 + 7.038 / 60)
    assert row["longitude_deg"] == pytest.approx(11 + 31 / 60)
    assert row["altitude_m"] == 545.4
    assert row["speed_mps"] == pytest.approx(22.4 * 1852 / 3600)
    assert row["course_deg"] == 84.4


def summed(body: str) -> str:
    total = 0
    for sign in body:
        total ^= ord(sign)
    return f"${body}*{total:02X}\n"


def test_nmea_of_the_southern_and_western_half(tmp_path: Path) -> None:
    body = "GNRMC,235959.50,A,3351.0000,S,15112.0000,W,,,311225,,,A"
    (row,) = read_positions(written(tmp_path, summed(body)))
    assert row["latitude_deg"] == pytest.approx(-33.85)
    assert row["longitude_deg"] == pytest.approx(-151.2)
    assert row["at_ns"] % 10**9 == 500_000_000
    assert "speed_mps" not in row


def test_nmea_without_a_fix_is_no_position(tmp_path: Path) -> None:
    with pytest.raises(Error, match="has no row"):
        read_positions(written(tmp_path, summed("GPRMC,123519,V,,,,,,,230394,,,N")))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<gpx>", "line 1: no XML"),
        ("<kml></kml>", "no GPX"),
        (GPX.replace("50.7753", "95"), "line 4: latitude_deg is 95: it must be from -90 to 90"),
        (GPX.replace(' lon="6.0839"', ""), "line 4: trkpt has no lon"),
        (GPX.replace("<time>2026-11-25T12:00:00Z</time>", ""), "line 4: trkpt has no time"),
        ('<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>', "entities of its own are refused"),
        ("<gpx></gpx>", "has no row"),
        ("hello\n", "neither GPX nor a sentence of NMEA 0183"),
        (summed("GPRMC,123519,A,9107.0,N,01131.0,E,,,230394,,"), "RMC: latitude_deg is 91."),
        (summed("GPRMC,123519,A,4807.0,N,01131.0,E,,,320394,,"), "RMC: '320394' is not a date"),
        (summed("GPRMC,250000,A,4807.0,N,01131.0,E,,,230394,,"), "'250000' is not a time of day"),
        (summed("GPRMC,123519,A,4807.0,N,01131.0,E,x,,230394,,"), "speed_mps is 'x': it must be a"),
        (summed("GPRMC,123519,A"), "RMC has too few fields"),
    ],
)
def test_bad_positions_are_refused_by_their_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(Error) as error:
        read_positions(written(tmp_path, text))
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Error, match="cannot read"):
        read_positions(tmp_path)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Error, match="is not text"):
        read_radio(binary)
