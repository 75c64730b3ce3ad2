"""A schedule between two namespaces: real transfers and interfaces, and nobody waits."""

from __future__ import annotations

import sys

import polars as pl

from engine.machines import Machine
from engine.test_field import FIELD, LINKS
from mptcplab.charts.campaign.page import describe
from mptcplab.results.campaign import Campaign
from mptcplab.results.overview import document

CAMPAIGN = """\
schema = 1
engine = "field"
scenario = "{scenario}"
time_zone = "Europe/Berlin"
probe_idle = "2 s"

[[calendar]]
visits = 2
for_days = 1

[budget.lte]
per_day = "20 MB"
"""
# Waiting moves the clock; transfers take their time.
PROGRAM = """\
import datetime, pathlib, sys
from mptcplab.campaign import definition
from mptcplab.schedule import schedule

class Clock:
    ahead = datetime.timedelta()
    def now(self):
        return datetime.datetime.now(datetime.UTC) + self.ahead
    def sleep(self, seconds):
        self.ahead += datetime.timedelta(seconds=seconds)

file, line, out = sys.argv[1:]
server = pathlib.Path(line).read_text().strip()
schedule.run(definition.load(file, [f"field.server={server}"]), pathlib.Path(out), clock=Clock())
"""


def test_visits_are_run_and_their_bytes_are_those_of_the_interfaces(host: Machine) -> None:
    directory = host.directory
    box = 'middleboxes = [{ element = "clamp-mss", bytes = "1300 B" }]\n'
    bare = {"wifi": box, "lte": ""}
    small = LINKS.replace('size = "4 MB"', 'size = "1 MB"').replace("{direction}", "download")
    links = host.write(small.format(**bare), "links")
    named = {name: f'interface = "{name}"\n' for name in bare}
    scenario = host.write(small.format(**named) + FIELD.format(directory=directory), "field")
    file = host.write(CAMPAIGN.format(scenario=scenario), "weeks")
    (directory / "program.py").write_text(PROGRAM)
    python = f"{sys.executable} -P"
    serve = f"{python} -m mptcplab serve --name server"
    scripts = {
        "serve.sh": f"{serve} --state {directory}/state > {directory}/line",
        "run.sh": f"until [ -s {directory}/line ]; do sleep 0.1; done\n"
        f"{python} {directory}/program.py {file} {directory}/line {directory}/out",
    }
    for name, text in scripts.items():
        (directory / name).write_text(text)
    arguments = [
        "shell",
        links,
        "--out",
        directory / "shell",
        "--serve",
        f"sh {directory / 'serve.sh'}",
    ]
    # Probes wait for what does not come.
    done = host.run(*arguments, "--", "sh", str(directory / "run.sh"), seconds=240)
    assert done.returncode == 0, done.stderr
    campaign = Campaign(directory / "out")
    assert campaign.visits["state"].to_list() == ["done"] * campaign.visits.height, (
        campaign.visits.rows()
    )
    assert campaign.failures.is_empty()
    assert campaign.runs.height == 3 * campaign.visits.height > 0
    assert set(campaign.axes["hour"]) == set(campaign.runs["hour"])
    # TCP has 1 MB over each path and MPTCP 1 MB over both; what is beside it is less than a third.
    for taken in campaign.data["bytes"]:
        assert 1_000_000 < taken < 3_000_000
    visits = campaign.data.group_by("visit").agg(pl.col("bytes").sum())
    # At the first paths are probed, too.
    for visit, taken in visits.iter_rows():
        assert 3_000_000 < taken < 4_500_000 + (2_000_000 if visit == 1 else 0)
    lte = campaign.data.filter(path="lte")
    assert (lte["bytes"] < lte["reserved_bytes"]).all()
    probes = campaign.probes
    assert probes is not None
    found = probes.filter(pl.col("verdict").is_in(["altered", "blocked"]))
    assert found.select("path", "probe").rows() == [("wifi", "MSS")]
    assert probes["path"].unique(maintain_order=True).to_list() == ["wifi", "lte"]
    # What stands in the paths is on the page, beside the hours.
    (table,) = (one for one in describe(campaign).tables if one.id == "probes")
    assert table.rows[0][:3] == ["wifi", "MSS", "altered"]
    assert document(campaign)["probes"] == probes.to_dicts()
