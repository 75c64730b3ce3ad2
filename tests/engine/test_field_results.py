"""What the field engine leaves meets all that exists: page, findings, comparison, fit, gains."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from engine.machines import Machine, machine, playable
from engine.test_field import FIELD, LINKS
from mptcplab import calibrate, open_campaign
from mptcplab.results.comparison import open_comparison

# They share what is measured, which takes a minute.
pytestmark = pytest.mark.xdist_group("field_results")

# One kind of machine: what is asked here is asked of what runs leave, not of who runs them.
KIND = playable(["user-tun"])[0]
SIZES = {"results": "2 MB", "ipv6": "1 MB"}
# As the links have it.
RATES_MBPS = {"wifi": 8.0, "lte": 4.0}
# Plain TCP fills this queue, from which a fit takes its rate.
LTE = 'delay = "25 ms"\nqueue = "1 MB"'
FULL = 'delay = "25 ms"\nqueue = "60 kB"'
REPETITIONS = 2
CAMPAIGN = """\
schema = 1
engine = "field"
scenario = "{scenario}"
repetitions = {repetitions}

[axis.size]
key = "transfer.size"
values = ["300 kB"]
"""


@dataclass(frozen=True)
class Measured:
    """What was measured between two namespaces, and the same by the kernel engine."""

    host: Machine
    field: Path
    emulated: Path
    campaign: Path
    #: What ``run --json`` printed.
    document: dict[str, Any]


def between(host: Machine, name: str, path: str, client: str) -> tuple[Path, Path]:
    """Run lines at the client of a lab that only has the links, with a server at its other end.

    In them ``{python}`` is Python with mptcplab, ``{scenario}`` the scenario and ``{line}`` the
    server's line. Gives the scenario and the directory in which the lines ran.
    """
    directory = host.directory / name
    directory.mkdir()
    directory.chmod(0o777)
    text = LINKS.replace("4 MB", SIZES[name]).replace(LTE, FULL)
    bare = dict.fromkeys(RATES_MBPS, path)
    links = host.write(text.format(direction="download", **bare), f"{name}-links")
    named = {one: f'{path}interface = "{one}"\n' for one in bare}
    scenario = host.write(
        text.format(direction="download", **named) + FIELD.format(directory=directory),
        f"{name}-field",
    )
    python = f"{sys.executable} -P"
    serve = f"{python} -m mptcplab serve --name server --state {directory}/state > {directory}/line"
    lines = client.format(python=python, scenario=scenario, line=f"$(cat {directory}/line)")
    (directory / "serve.sh").write_text(serve)
    (directory / "run.sh").write_text(
        f"set -e\ncd {directory}\nuntil [ -s line ]; do sleep 0.1; done\n{lines}"
    )
    arguments = [
        "shell",
        links,
        "--out",
        directory / "shell",
        "--serve",
        f"sh {directory}/serve.sh",
    ]
    done = host.run(*arguments, "--", "sh", str(directory / "run.sh"), seconds=240)
    assert done.returncode == 0, done.stderr
    return scenario, directory


@pytest.fixture(scope="module")
def any_machine() -> Iterator[Machine]:
    """One kind of machine for all."""
    with machine(KIND) as made:
        yield made


@pytest.fixture(scope="module")
def measured(any_machine: Machine) -> Measured:
    """Measure once."""
    host = any_machine
    # The scenario of campaigns names the server itself.
    named = host.directory / "results" / "named.toml"
    file = host.write(CAMPAIGN.format(scenario=named, repetitions=REPETITIONS), "campaign")
    client = (
        "{python} -m mptcplab run {scenario} --engine field --server {line} --out field"
        " --no-report --json > field.json\n"
        f"cp {{scenario}} {named}\n"
        f"echo 'server = \"'{{line}}'\"' >> {named}\n"
        f"{{python}} -m mptcplab sweep {file} --out campaign --no-report\n"
    )
    scenario, directory = between(host, "results", "", client)
    # The same file over the same links.
    emulated = directory / "emulated"
    arguments = ["run", scenario, "--engine", "kernel", "--out", emulated, "--no-report"]
    done = host.run(*arguments)
    assert done.returncode == 0, done.stderr
    document = json.loads((directory / "field.json").read_text())
    return Measured(host, directory / "field", emulated, directory / "campaign", document)


def said(host: Machine, *arguments: object) -> str:
    """Give what mptcplab prints."""
    done = host.run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_page_is_drawn(measured: Measured) -> None:
    page = measured.host.directory / "page.html"
    said(measured.host, "report", measured.field, "--out", page)
    text = page.read_text()
    for path in RATES_MBPS:
        assert f'"{path}"' in text


def test_run_prints_its_document(measured: Measured) -> None:
    document = measured.document
    assert set(document["runs"]) == {"mptcp", "tcp-wifi", "tcp-lte"}
    assert document["best_path"] == "wifi"
    comparison = open_comparison(measured.field)
    assert document["gain"] == comparison.gain
    assert all(run.about["engine"] == "field" for run in comparison.runs)


def test_findings_are_those_of_the_document(measured: Measured) -> None:
    found = json.loads(said(measured.host, "why", measured.field, "--json"))["findings"]
    assert found == measured.document["findings"]
    output = said(measured.host, "why", measured.field)
    assert "capture_unfit" not in {one["kind"] for one in found}
    assert all(one["message"] in output for one in found)


def test_it_is_compared_with_the_same_links_emulated(measured: Measured) -> None:
    arguments = ["compare", measured.field, measured.emulated]
    document = json.loads(said(measured.host, *arguments, "--json"))
    configured = {row["key"]: (row["a"], row["b"]) for row in document["configuration"]}
    assert configured["engine"] == ("field", "kernel")
    assert "transfer.size" not in configured
    output = said(measured.host, *arguments)
    for name in ("mptcp", "tcp-wifi", "tcp-lte"):
        assert f"\n{name} · " in output


def test_a_figure_is_drawn(measured: Measured) -> None:
    figure = measured.host.directory / "throughput.svg"
    said(measured.host, "figure", "throughput", measured.field / "mptcp", "--out", figure)
    text = figure.read_text()
    assert text.startswith("<?xml") or text.startswith("<svg")
    for path in RATES_MBPS:
        assert path in text


def test_a_link_is_fitted_to_its_captures(measured: Measured) -> None:
    run = measured.field / "tcp-lte"
    captures = [run / "client.pcapng", run / "server.pcapng"]
    found = calibrate(captures, controller="reno", runs=3)
    (rate,) = (one["rate"] for one in found.link["downlink"] if one["element"] == "rate")
    assert float(rate.split()[0]) == pytest.approx(RATES_MBPS["lte"], rel=0.2)
    # Of a transfer of seconds no more than about how long the queue is.
    (queue,) = (one["queue"] for one in found.link["downlink"] if "queue" in one)
    assert 30e3 < float(queue["bytes"].split()[0]) < 120e3


def test_its_campaign_has_gains(measured: Measured) -> None:
    campaign = open_campaign(measured.campaign)
    assert campaign.failures.is_empty()
    runs = campaign.runs
    assert runs.height == REPETITIONS * (1 + len(RATES_MBPS))
    assert runs["finished"].all()
    mptcp = runs.filter(kind="mptcp")
    assert mptcp.height == REPETITIONS
    for row in mptcp.iter_rows(named=True):
        beside = runs.filter(kind="tcp", repetition=row["repetition"])
        best = max(beside.iter_rows(named=True), key=lambda one: one["throughput_mbps"])
        assert row["best_path"] == best["path"]
        assert row["gain"] == pytest.approx(row["throughput_mbps"] / best["throughput_mbps"] - 1)


def test_it_measures_where_there_is_only_ipv6(any_machine: Machine) -> None:
    client = (
        "getent ahosts server > addresses\n"
        "{python} -m mptcplab run {scenario} --engine field --server {line} --out field"
        " --no-report\n"
    )
    _, directory = between(any_machine, "ipv6", "ip = 6\n", client)
    names = (directory / "addresses").read_text().splitlines()
    assert {ip_address(line.split()[0]).version for line in names} == {6}
    comparison = open_comparison(directory / "field")
    assert set(comparison.baselines) == set(RATES_MBPS)
    for run in comparison.runs:
        assert run.outcome["finished"]
        assert {ip_address(one).version for one in run.subflows["client_address"]} == {6}
    subflows = comparison.mptcp.subflows
    assert sorted(subflows["path"]) == sorted(RATES_MBPS)
