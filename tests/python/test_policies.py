"""Policies: what can be set of them, where, and how they are listed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import mptcplab
from command import Run
from mptcplab import ScenarioError, _core
from mptcplab.cli.policies import KINDS
from mptcplab.scenario import long, policy
from mptcplab.scenario.plan import plain, plan
from mptcplab.scenario.scenario import Scenario, checked
from mptcplab.scenario.settings import set_value
from mptcplab.scenario.source import Source

TEXT = """\
schema = 1
transfer = { direction = "download", size = "100 kB" }
path.wifi = { rate = "20 Mbit/s", delay = "10 ms" }
path.lte = { rate = "10 Mbit/s", delay = "30 ms" }

[mptcp]
congestion_control = "ewtcp"
congestion_parameters = { weight = 0.5 }
"""
WEIGHT = "congestion_parameters = { weight = 0.5 }"
FILLED = {"weight": 0.5}


def read(text: str = TEXT, *settings: str) -> Scenario:
    source = Source.of_text(text, "mine.toml")
    for setting in settings:
        set_value(source, setting)
    return checked(source)


def planned(scenario: Scenario, baseline: str | None = None) -> dict[str, object]:
    client = plan(scenario, 1, baseline).table()["transport"]["client"]
    assert isinstance(client, dict)
    return client


def test_parameters_go_to_the_endpoint_and_not_to_plain_tcp() -> None:
    scenario = read()
    assert scenario.mptcp.congestion_parameters == FILLED
    assert planned(scenario)["congestion_parameters"] == FILLED
    assert planned(scenario, "lte")["congestion_parameters"] == {}
    off = read(TEXT + "enabled = false\n")
    assert planned(off)["congestion_parameters"] == {}
    # So baselines are shared by what differs in them alone.
    other = read(TEXT, "mptcp.congestion_parameters.weight=0.25")
    assert plain(other, linux=False) == plain(scenario, linux=False)


def test_the_long_form_holds_them() -> None:
    scenario = read()
    text = long.write(scenario)
    assert "congestion_parameters = { weight = 0.5 }" in text
    assert read(text) == scenario


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("{ wait = 1 }", "no such parameter; did you mean weight?"),
        ('{ weight = "much" }', '"much" is not a number'),
        ("{ weight = 0 }", "weight: must be above 0 and at most 100"),
        (
            '{ weight = 0.5, weighting = "inverse-root" }',
            "congestion_parameters.weighting: cannot be combined with `weight`",
        ),
        ('{ weighting = "none" }', "weighting: must be inverse-square or inverse-root"),
        ("0.5", "0.5 is not a table of its parameters, such as { weight = 0.25 }"),
    ],
)
def test_what_cannot_be_set_gets_its_line(written: str, complaint: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(TEXT.replace(WEIGHT, f"congestion_parameters = {written}"))
    assert re.match(r"mine\.toml:8:\d+: mptcp\.congestion_parameters", str(error.value))
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_a_policy_without_parameters_takes_none() -> None:
    with pytest.raises(ScenarioError, match="scheduler linux has no such parameter; there is none"):
        read(TEXT + 'scheduler = "linux"\nscheduler_parameters = { quota = 2 }\n')


def test_settings_reach_them() -> None:
    one = read(TEXT, "mptcp.congestion_parameters.weight=0.25")
    assert one.mptcp.congestion_parameters == FILLED | {"weight": 0.25}
    whole = read(TEXT, 'mptcp.congestion_parameters={ weighting = "inverse-root" }')
    assert whole.mptcp.congestion_parameters == {"weighting": "inverse-root"}
    with pytest.raises(ScenarioError, match="^--set mptcp.congestion_parameters.wait=1: "):
        read(TEXT, "mptcp.congestion_parameters.wait=1")


def test_another_policy_leaves_what_is_not_its_own() -> None:
    text = long.write(read())
    assert read(text, "mptcp.congestion_control=lia").mptcp.congestion_parameters == {}
    assert read(text, "mptcp.congestion_control=ewtcp") == read()
    # Both are the last word: neither goes.
    with pytest.raises(ScenarioError, match="congestion control lia has no such parameter"):
        read(TEXT, "mptcp.congestion_parameters.weight=1", "mptcp.congestion_control=lia")


def test_they_vary_in_campaigns(mptcplab: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TEXT)
    (tmp_path / "weights.toml").write_text(
        'schema = 1\ntitle = "Weights"\nscenario = "mine.toml"\n'
        '[axis.weight]\nkey = "mptcp.congestion_parameters.weight"\nvalues = [0.25, 1.0]\n'
    )
    done = mptcplab("sweep", "weights.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "weights.toml").read_text().replace("0.25", "-1.0")
    (tmp_path / "weights.toml").write_text(text)
    done = mptcplab("sweep", "weights.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert "must be above 0" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("what", KINDS)
def test_policies_are_listed_and_described(mptcplab: Run, what: str) -> None:
    policies = _core.policies()[KINDS[what][1]]
    listed = mptcplab(what).stdout.splitlines()
    for one in policies:
        assert any(line.split() == [one["name"], *one["summary"].split()] for line in listed)
        shown = mptcplab(what, one["name"]).stdout
        assert one["summary"] in shown
        assert all(
            f"  {parameter['name']} ({parameter['kind']}" in shown
            for parameter in one["parameters"]
        )
        assert ("it has no parameters" in shown) == (one["parameters"] == [])
    entries = [one | {"kind": KINDS[what][0]} for one in policies]
    assert json.loads(mptcplab(what, "--json").stdout) == entries
    first = policies[0]["name"]
    assert json.loads(mptcplab(what, first, "--json").stdout) == entries[0]
    done = mptcplab(what, f"{first}x")
    assert done.returncode == 2
    assert f"{first}x; did you mean {first}?" in done.stderr


def test_plain_tcp_over_one_path_is_reno_for_coupled_controllers() -> None:
    uncoupled = ("reno-linux", "cubic", "cubic-linux", "wvegas", "bbr")
    for name in policy.known("congestion_control"):
        client = planned(read(TEXT.replace(WEIGHT, ""), f"mptcp.congestion_control={name}"), "lte")
        alone = name if name in uncoupled else "reno"
        assert client["congestion_control"] == alone


def test_slow_start_ends_before_a_loss_where_it_is_to(tmp_path: Path) -> None:
    """A queue of 400 ms: standard slow start overshoots by as much, the others see it come."""
    resent = {}
    for slow_start in ("standard", "hystart", "hystart++"):
        scenario = {
            "schema": 1,
            "transfer": {"direction": "download", "size": "4 MB"},
            "path": {"lte": {"rate": "20 Mbit/s", "delay": "25 ms", "queue": "1 MB"}},
            "mptcp": {"congestion_control": "reno"},
            "tcp": {"slow_start": slow_start},
            "run": {"baselines": False},
        }
        flows = mptcplab.run(scenario, out=tmp_path / slow_start).mptcp.flows
        resent[slow_start] = flows["retransmitted_packets"].sum()
    assert resent["standard"] > 100
    assert resent["hystart"] == 0
    # It grows for five more rounds, by a quarter each.
    assert resent["hystart++"] < resent["standard"] / 4


def test_bbr_goes_by_rates_and_minds_no_losses(tmp_path: Path) -> None:
    """Of a path that loses 2 % Reno has at most 1.31/(R√p); a deep queue stays nearly empty."""
    found = {}
    for name in ("bbr", "reno"):
        scenario = {
            "schema": 1,
            "transfer": {"direction": "download", "size": "10 MB"},
            "path": {
                "wifi": {"rate": "20 Mbit/s", "delay": "25 ms", "queue": "100 kB", "loss": "2 %"},
                "lte": {"rate": "10 Mbit/s", "delay": "25 ms", "queue": "500 kB"},
            },
            "mptcp": {"congestion_control": name},
        }
        found[name] = mptcplab.run(scenario, out=tmp_path / name)
    wifi, lte = (found["bbr"].baselines[path] for path in ("wifi", "lte"))
    assert (wifi.throughput_mbps or 0) > 0.8 * 20
    assert (found["reno"].baselines["wifi"].throughput_mbps or 0) < 4
    assert lte.flows.filter(direction="down")["rtt_ms_mean"].item() < 100
    assert found["reno"].baselines["lte"].flows.filter(direction="down")["rtt_ms_mean"].item() > 200
    used = {name: row.mptcp.throughput_mbps or 0 for name, row in found.items()}
    assert used["bbr"] > 1.5 * used["reno"]
