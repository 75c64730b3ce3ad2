"""QUIC in scenarios, campaigns and names, without a run."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mptcplab._core import Error
from mptcplab.campaign import definition, record, store
from mptcplab.campaign.matrix import Matrix
from mptcplab.engines import named
from mptcplab.engines.kernel.features import Features
from mptcplab.engines.kernel.job import Wanted
from mptcplab.engines.kernel.measured import response_times
from mptcplab.labels.connections import candidate
from mptcplab.machine import programs
from mptcplab.results.campaign import Campaign
from mptcplab.results.policies import described, shared
from mptcplab.scenario import long
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.plan import plain, planned_transfer
from mptcplab.scenario.scenario import Scenario, load

QUIC = {"transfer.protocol": "quic"}
FEATURES = Features(("cubic", "reno"), ("cubic", "reno"), ("default",))


def scenario(**settings: object) -> Scenario:
    return load("wifi-lte", QUIC | {key.replace("__", "."): of for key, of in settings.items()})[1]


def wanted(one: Scenario, baseline: str | None = None) -> Wanted:
    return Wanted(one, 1, baseline, FEATURES)


def test_other_engines_refuse_it_with_the_remedy() -> None:
    for name in ("simulation", "field"):
        with pytest.raises(ScenarioError) as refused:
            named(name).check(scenario())
        assert str(refused.value) == (
            f'[transfer] protocol: the {name} engine has no "quic": run it with --engine kernel, '
            "or with --set transfer.protocol=tcp"
        )


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("kernel.congestion_control", "vegas", "--set kernel.congestion_control=cubic"),
        ("mptcp.path_manager", "guard", "--set mptcp.path_manager=linux"),
        ("server.stack", "mptcplab", "--set server.stack=kernel"),
        ("converter.at", "both", "--set transfer.protocol=tcp"),
        ("path.wifi.ip", "6", "--set path.wifi.ip=4"),
    ],
)
def test_what_quic_lacks_is_refused_with_the_remedy(key: str, value: str, remedy: str) -> None:
    one = load("wifi-lte", ["transfer.protocol=quic", f"{key}={value}"])[1]
    with pytest.raises(ScenarioError, match="QUIC|quic|guard") as refused:
        wanted(one)
    assert remedy in str(refused.value)


def test_a_missing_program_is_refused_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "QUIC", tmp_path / "none")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(Error, match="run make quic in the source of mptcplab"):
        programs.quic()


def test_one_path_or_several_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "quic", lambda: "mptcplab-quic")

    def used(one: Scenario, baseline: str | None = None) -> list[str]:
        agents = wanted(one, baseline).job(Path("run"), Path("raw"), captures="none").agents
        assert agents["client"].job["mptcp"] is False
        return [path["address"] for path in agents["client"].job["quic"]["job"]["paths"]]

    assert used(scenario()) == ["10.0.1.2", "10.0.2.2"]
    assert used(scenario(mptcp__enabled=False)) == ["10.0.1.2"]
    assert used(scenario(mptcp__path_manager="single")) == ["10.0.1.2"]
    assert used(scenario(), "lte") == ["10.0.2.2"]


def test_little_waits_between_an_application_and_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs, "quic", lambda: "mptcplab-quic")
    job = wanted(scenario()).job(Path("run"), Path("raw"), captures="none")
    for host in job.hosts:
        assert host.sysctls["net.ipv4.tcp_wmem"] == "4096 16384 262144"
        assert host.sysctls["net.ipv4.tcp_rmem"] == "4096 131072 262144"
    assert job.agents["server"].job["quic"]["job"]["send_window"] == 4_194_304


def test_the_long_form_reads_back_and_the_plan_is_without_it() -> None:
    one = scenario()
    assert 'protocol = "quic"' in long.write(one)
    assert "protocol" not in planned_transfer(one.transfer)
    assert plain(one, linux=True).transfer.protocol == "quic"


def test_what_ran_is_named_by_its_protocol() -> None:
    assert candidate("tcp", None) == "MPTCP"
    assert candidate("quic", None) == "MPQUIC"
    assert candidate("quic", "lte") == "QUIC over lte"
    assert candidate(None, "lte") == "lte alone"


def test_its_congestion_control_is_not_named_as_linux_s() -> None:
    about = {"engine": "kernel", "path": None, "mptcp": True}
    alone = about | {"path": "wifi", "mptcp": False}
    of = {
        one: tomllib.loads(long.write(load("wifi-lte", {"transfer.protocol": one})[1]))
        for one in ("tcp", "quic")
    }
    ran = described(about, of["quic"])
    assert ran["in_words"] == "noq's CUBIC"
    assert ran["server"] == dict.fromkeys(("scheduler", "path_manager", "era")) | {
        "stack": "noq",
        "congestion_control": "cubic",
        "replaced": {},
    }
    assert described(alone, of["quic"]) == ran
    assert shared([ran, described(about, of["tcp"])])["in_words"] == ""


def test_a_campaign_tells_which_scenarios_go_over_quic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Features, "here", lambda: FEATURES)
    axis = {"key": "transfer.protocol", "values": ["tcp", "quic"]}
    asked: dict[str, Any] = {"schema": 1, "scenario": "wifi-lte", "engine": "kernel"}
    both = Matrix(definition.load(asked | {"axis": {"protocol": axis}}))
    alone = Matrix(definition.load(asked | {"set": QUIC}))
    assert record.about(both)["policies"]["in_words"] == ""
    assert record.about(alone)["policies"]["in_words"] == "noq's CUBIC"
    with store.opened(tmp_path / "both", both.definition.name) as kept:
        kept.begin(record.about(both), record.plan(both), {})
    campaign = Campaign(tmp_path / "both")
    plan = campaign.plan.filter(kind="mptcp")
    assert campaign.protocol() is None
    assert campaign.protocol(plan.filter(protocol="quic")["run"]) == "quic"
    assert campaign.protocol(plan.filter(protocol="tcp")["run"]) == "tcp"


def test_response_times_of_what_an_application_noted() -> None:
    rows = [{"at_ns": 0, "response_time_ms": time} for time in (30.0, 10.0, 20.0)]
    assert response_times([*rows, {"at_ns": 0}], 20_000_000) == {
        "deadline_ms": 20.0,
        "late_share": 0.5,
        "responses": 3,
        "response_time_ms_mean": 20.0,
        "response_time_ms_median": 20.0,
        "response_time_ms_p95": 30.0,
        "response_time_ms_max": 30.0,
    }
    assert response_times([], None) == {}
