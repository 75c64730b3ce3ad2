"""What a scenario leaves out is today's Linux wherever a default stands, and headers say it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from command import Run
from mptcplab import _core
from mptcplab.results import policies
from mptcplab.results.run import Run as Kept
from mptcplab.scenario import library, long
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load
from mptcplab.scenario.traffic import KINDS

# Those that are about hosts of another time.
OLDER = {"boston", "era-2012"}
BARE: dict[str, Any] = {
    "schema": 1,
    "transfer": {"direction": "download", "size": "200 kB"},
    "path": {"wifi": {"rate": "10 Mbit/s", "delay": "5 ms"}},
}
TWO = BARE | {"path": {name: {"rate": "10 Mbit/s", "delay": "5 ms"} for name in ("wifi", "lte")}}
LINUX = {"congestion_control": "cubic-linux", "scheduler": "linux", "path_manager": "linux"}


def planned(*settings: str, name: str | dict[str, Any] = BARE) -> dict[str, Any]:
    given: dict[str, Any] = plan(load(name, list(settings))[1], 1).table()
    return given


@pytest.mark.parametrize("name", library.names("scenarios"))
def test_what_ships_is_todays_linux_but_for_what_it_says(name: str) -> None:
    written = library.table("scenarios", name).get("mptcp", {})
    assert ("era" in written) is (name in OLDER)
    if name not in OLDER:
        assert planned(name=name) == planned("mptcp.era=current", name=name)


def test_there_is_one_set_of_defaults() -> None:
    ours = _core.transport_defaults()
    assert ours == _core.transport_defaults("current")
    for end in ("client", "server"):
        assert planned()["transport"][end] == ours
    assert ours["congestion_control"] == LINUX["congestion_control"]
    assert ours["mptcp"]["scheduler"] == LINUX["scheduler"]
    # pm_nl_init_net: two further subflows, and no announced address.
    manager = ours["mptcp"]["path_manager"]
    assert manager["name"] == LINUX["path_manager"]
    assert (manager["max_subflows"], manager["max_add_addr_accepted"]) == (2, 0)


def test_other_hosts_have_the_same() -> None:
    congestion_control = LINUX["congestion_control"]
    assert (
        KINDS["tcp"].model_validate({"kind": "tcp", "link": "wifi"}).congestion_control
        == congestion_control
    )
    (proxy,) = (one for one in _core.elements() if one["name"] == "proxy")
    (default,) = (
        one["default"] for one in proxy["parameters"] if one["name"] == "congestion_control"
    )
    assert default == congestion_control


# What is set, the engine, and what stands in the header.
POLICIES: list[tuple[list[str], str, str]] = [
    ([], "simulation", "Linux's CUBIC, Linux's default scheduler"),
    ([], "kernel", "Linux's CUBIC, Linux's default scheduler"),
    (["mptcp.congestion_control=olia"], "simulation", "OLIA, Linux's default scheduler"),
    (
        ["mptcp.congestion_control=lia-linux"],
        "simulation",
        "LIA of the MPTCP kernel, Linux's default scheduler",
    ),
    (["mptcp.scheduler=blest"], "simulation", "Linux's CUBIC, BLEST scheduler"),
    (
        ["mptcp.era=2012"],
        "simulation",
        "LIA, lowest-RTT scheduler, path manager full-mesh, era 2012",
    ),
    (["mptcp.enabled=false"], "simulation", "Linux's CUBIC"),
    (["mptcp.enabled=false", "tcp.congestion_control=olia"], "simulation", "Reno"),
    # What a kernel replaces is said.
    (
        ["mptcp.congestion_control=lia", "kernel.congestion_control=reno"],
        "kernel",
        "Linux's Reno in place of LIA, Linux's default scheduler",
    ),
    # What the scenario itself asks of the kernel replaces nothing.
    (["kernel.congestion_control=reno"], "kernel", "Linux's Reno, Linux's default scheduler"),
    (
        ["mptcp.scheduler=ecf", "kernel.scheduler=default"],
        "kernel",
        "Linux's CUBIC, Linux's default scheduler in place of ECF",
    ),
    (
        ["mptcp.path_manager=full-mesh"],
        "kernel",
        "Linux's CUBIC, Linux's default scheduler, Linux's path manager in place of full-mesh",
    ),
    # Beside a kernel's own path manager the same policies run.
    (
        ["mptcp.path_manager=maps"],
        "kernel",
        "Linux's CUBIC, Linux's default scheduler, path manager maps",
    ),
    # Only the client has one.
    (
        ["mptcp.congestion_control=lia", "mptcp.path_manager=guard", "client.stack=mptcplab"],
        "kernel",
        "client: LIA, Linux's default scheduler, path manager guard; "
        "server: Linux's CUBIC in place of LIA, Linux's default scheduler",
    ),
    (
        ["mptcp.congestion_control=lia", "client.stack=mptcplab"],
        "kernel",
        "client: LIA, Linux's default scheduler; "
        "server: Linux's CUBIC in place of LIA, Linux's default scheduler",
    ),
]


@pytest.mark.parametrize(("settings", "engine", "expected"), POLICIES)
def test_policies_in_words(settings: list[str], engine: str, expected: str) -> None:
    scenario = load(TWO, settings)[1]
    about = {"engine": engine, "path": None, "mptcp": scenario.mptcp.enabled}
    description = policies.described(about, tomllib.loads(long.write(scenario)))["in_words"]
    assert description == expected


def test_neighbours_are_not_taken_for_the_connection() -> None:
    def socket(name: str) -> list[dict[str, Any]]:
        return [{"subflows": [{"congestion_control": name}]}]

    sockets = {"client": socket("bbr"), "server": socket("bbr"), "peer near": socket("reno")}
    about = {"engine": "kernel", "path": None, "mptcp": True, "kernel": {"sockets": sockets}}
    scenario = tomllib.loads(long.write(load(TWO)[1]))
    assert policies.policies(about, scenario)["congestion_control"] == "bbr"


def test_the_same_words_stand_on_terminal_page_and_in_json(mptcplab: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    settings = ("mptcp.congestion_control=lia", "transfer.size=200kB")
    chosen = [word for one in settings for word in ("--set", one)]
    done = mptcplab("run", "wifi-lte", *chosen, "--out", out)
    expected = "LIA, Linux's default scheduler"
    # Plain TCP over one path has nothing to couple.
    assert f"{expected}; plain TCP: Reno" in " ".join(done.stdout.split())
    assert json.loads((out / "mptcp" / "run.json").read_text())["policies"]["in_words"] == expected
    assert f"{expected}; plain TCP: Reno" in (out / "report.html").read_text("utf-8")
    assert policies.of_run(Kept(out / "tcp-wifi")) == "Reno"


def test_a_campaign_says_what_it_does_not_vary(mptcplab: Run, tmp_path: Path) -> None:
    campaign = tmp_path / "mine.toml"
    campaign.write_text(
        'schema = 1\nscenario = "wifi-lte"\nrepetitions = 1\nbaselines = false\n'
        '[set]\n"transfer.size" = "200 kB"\n'
        '[axis.controller]\nkey = "mptcp.congestion_control"\nvalues = ["lia", "bbr"]\n'
    )
    out = tmp_path / "out"
    head = mptcplab("sweep", campaign, "--out", out).stdout.splitlines()[0]
    assert "simulated · Linux's default scheduler · 2 runs" in head
    assert "Linux's default scheduler" in (out / "report.html").read_text("utf-8")
    kept = json.loads((out / "campaign.json").read_text())["policies"]
    assert kept["in_words"] == "Linux's default scheduler"
    assert kept["client"]["congestion_control"] is None
