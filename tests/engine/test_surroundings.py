"""What surrounds a field run: a modem and a receiver that are there, and such as are not."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import modem
import receiver
import requirements
from engine.machines import Machine
from engine.test_field import Field

# Both end with the shell that has the other end of the pipe. They are its user's: a bus takes
# nobody else's word for who they are.
BESIDE = """\
cd {directory}
mkfifo hold
{python} {receiver} 2947 < hold &
{python} {modem} {directory} lte < hold &
exec 9> hold
export DBUS_SYSTEM_BUS_ADDRESS=unix:path={directory}/bus
until [ -e modem ]; do sleep 0.1; done
"""


def asking(field: Field, settings: str) -> None:
    """Have its scenario, which ends in ``[field]``, ask for more."""
    with Path(field.scenario).open("a") as scenario:
        scenario.write(settings)


def test_a_field_run_has_its_radio_and_its_positions(host: Machine) -> None:
    requirements.need_tool("dbus-daemon")
    field = Field(host, "download")
    asking(field, 'radio = "200 ms"\ngpsd = "localhost"\n')
    beside = BESIDE.format(
        directory=host.directory,
        python=sys.executable,
        receiver=receiver.__file__,
        modem=modem.__file__,
    )
    for run in field.measure(captures=True, beside=beside).runs:
        duration_s = float(run.connections.select(pl.max("duration_s")).item())
        sources = run.about["surroundings"]
        paths = {one["path"]: one for one in sources["radio"]}
        assert paths.keys() == ({"wifi", "lte"} if run.name == "mptcp" else {run.name[4:]})
        if "wifi" in paths:
            assert paths["wifi"]["rows"] == 0
            assert paths["wifi"]["why"].startswith("wifi is not a wireless LAN, and no modem")
        if "lte" in paths:
            assert paths["lte"]["why"] is None
            lte = run.radio.filter(path="lte", technology="lte")
            assert lte["rsrp_dbm"].unique().to_list() == [-97.0]
            # On the clock of the other tables, until the transfer has ended.
            at_s = lte["at_s"].to_list()
            assert at_s == sorted(at_s)
            assert at_s[0] < duration_s / 2 < at_s[-1]
        else:
            assert run.radio.is_empty()
        (gps,) = sources["positions"]
        assert (gps["source"], gps["why"], gps["rows"]) == ("gpsd", None, 2)
        assert run.positions["latitude_deg"].to_list() == [50.7753, 50.77532]
        assert gps["clock_ahead_ms"] is not None


def test_a_field_run_goes_on_without_them(host: Machine) -> None:
    field = Field(host, "download")
    asking(field, 'gpsd = "localhost"\n')
    beside = f"export DBUS_SYSTEM_BUS_ADDRESS=unix:path={host.directory}/none\n"
    for run in field.measure(captures=False, beside=beside).runs:
        assert run.outcome["finished"]
        assert run.radio.is_empty()
        assert run.positions.is_empty()
        sources = run.about["surroundings"]
        assert {one["why"] for one in sources["radio"]} == {"no D-Bus: No such file or directory"}
        (gps,) = sources["positions"]
        assert gps["why"].startswith("no gpsd at localhost port 2947")
