"""What ``--set`` sets on top of a scenario."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from scenarios import SIZE, TEXT, read, refused

import mptcplab
from mptcplab.scenario import library
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario, load

SETTINGS = [
    ("path.wifi.mtu=9", "path.wifi.mtu: must be at least 576"),
    ("run.processing=10s", "run.processing: must be at most 1 s"),
    ("path.lte.rate=10Mbpz", 'path.lte.rate: "10Mbpz" is not a rate such as "20 Mbit/s"'),
    ("path.lte.rate=10", "path.lte.rate: 10 is not a rate"),
    ("path.wifi.rate=10Mbps", "path.wifi.rate: link and rate exclude each other"),
    ("path.wfi.rate=10Mbps", "there is no path wfi; did you mean wifi?"),
    ("timeline.1.at=10s", "timeline has no entry 1; it has only entry 0"),
    ("path.wifi.tags.0=x", "there is no path.wifi.tags, so it has no entry 0"),
    ("timeline.0.at=2h", "timeline.0.at: 7200 s is not before the end"),
    ("link.home.downlink.1.delay=3 Mbit/s", 'link.home.downlink.1.delay: "3 Mbit/s" is not'),
    ("schema.a.b=4", "schema is not a table"),
    ("transfer.sise=4", "transfer.sise: there is no such key; did you mean size?"),
    ("foo", "is not KEY=VALUE"),
    ("=3", "is not KEY=VALUE"),
]


@pytest.mark.parametrize(("setting", "complaint"), SETTINGS)
def test_settings_are_held_to_the_same_and_named(setting: str, complaint: str) -> None:
    assert refused(TEXT, setting).startswith(f"--set {setting}: {complaint}")


def test_a_scenario_without_a_timeline_has_no_entry_of_it_to_set() -> None:
    text = TEXT[: TEXT.index("[[timeline]]")]
    setting = "timeline.0.at=5s"
    assert refused(text, setting) == (
        f"--set {setting}: there is no timeline, so it has no entry 0"
    )


VALUES = [
    ({"path.wifi.rat": 1}, "settings['path.wifi.rat']: path.wifi.rat: there is no such key; did"),
    ({"path.wifi.mtu": 9}, "settings['path.wifi.mtu']: path.wifi.mtu: must be at least 576"),
    ({"path.lte.rate": 10}, "settings['path.lte.rate']: path.lte.rate: 10 is not a rate"),
    ({7: "x"}, "settings[7]: is not a key such as path.wifi.rate"),
    ({"": "x"}, "settings['']: is not a key such as path.wifi.rate"),
    (["path.wifi.mtu=9"], "settings path.wifi.mtu=9: path.wifi.mtu: must be at least 576"),
    ("path.wifi.mtu=1400", "settings is one text: write {"),
]


@pytest.mark.parametrize(("settings", "complaint"), VALUES)
def test_settings_in_python_are_named_by_its_own_words(settings: Any, complaint: str) -> None:
    table = tomllib.loads(TEXT)
    with pytest.raises(mptcplab.ScenarioError) as error:
        mptcplab.run(table, settings=settings)
    assert str(error.value).removeprefix("scenario: ").startswith(complaint)


def test_values_of_python_and_texts_set_the_same() -> None:
    table = tomllib.loads(TEXT)
    values = {"path.wifi.mtu": 1300, "path.lte.rate": "9 Mbit/s", "transfer.size": "1 MB"}
    texts = [f"{key}={value}" for key, value in values.items()]
    assert load(table, values) == load(table, texts)


def test_a_fault_that_a_setting_may_have_caused_names_it() -> None:
    assert refused(TEXT, "transfer.duration=500ms") == (
        "mine.toml:22: timeline.0.at: 1 s is not before the end, 500 ms "
        "(with --set transfer.duration=500ms)"
    )
    assert "(with --set mptcp.path_manager.name=x)" in refused(TEXT, "mptcp.path_manager.name=x")


def rates(scenario: Scenario, path: str) -> list[int]:
    link = scenario.links[str(scenario.paths[path].link)]
    return [elements[0]["rate"] for elements in (link.uplink, link.downlink) if elements]


def test_a_setting_replaces_what_it_excludes() -> None:
    text = TEXT.replace('rate = "2 Mbit/s"', 'uplink_rate = "1 Mbit/s"\ndownlink_rate = "2 Mbit/s"')
    assert rates(read(text), "lte") == [10**6, 2 * 10**6]
    whole, part = "path.lte.rate=9Mbps", "path.lte.uplink_rate=4Mbps"
    assert rates(read(text, whole), "lte") == [9 * 10**6] * 2
    for settings in ((whole, part), (part, whole)):
        assert rates(read(text, *settings), "lte") == [4 * 10**6, 9 * 10**6]
    both = TEXT.replace('rate = "2 Mbit/s"', 'rate = "2 Mbit/s"\ndownlink_rate = "3 Mbit/s"')
    assert rates(read(both, part), "lte") == [4 * 10**6, 3 * 10**6]
    lasts = read(TEXT, "transfer.duration=5 s")
    assert lasts.transfer.lasts_ns == 5 * 10**9
    assert read(TEXT.replace(SIZE, 'duration = "5 s"'), "transfer.size=1 MB") == read(TEXT)
    complaint = refused(TEXT, "transfer.size=1MB", "transfer.duration=5s")
    assert "size and duration exclude each other" in complaint
    assert "(with --set transfer.size=1MB --set transfer.duration=5s)" in complaint
    lte = read(TEXT.replace('rate = "2 Mbit/s"\ndelay = "3 ms"', 'profile = "lte"'))
    assert read(TEXT, "path.lte.profile=lte") == lte
    assert lte.links["lte"].title == library.table("links", "lte")["title"]
    assert read(TEXT, "path.lte.link=home").paths["lte"].link == "home"
    assert read(TEXT, "link.home.profile=lte").links["home"] == lte.links["lte"]


def test_who_pays_for_paths_is_said_with_what_they_cost() -> None:
    paid = '[mptcp]\npath_manager = "budget"\npath_manager_parameters = { cost_budget = 2 }'
    costly = TEXT.replace('delay = "3 ms"', 'delay = "3 ms"\ncost_per_mb = 0.5')
    assert read(costly.replace("[mptcp]", paid)).paths["lte"].cost_per_mb == 0.5
    budget = costly.replace("[mptcp]", '[mptcp]\npath_manager = "budget"')
    assert "mine.toml:20: path.lte.cost_per_mb: nobody pays it" in refused(budget)
    free = TEXT.replace('delay = "3 ms"', 'delay = "3 ms"\nbudget = "5 MB"')
    complaint = refused(free.replace("[mptcp]", paid))
    assert "mptcp.path_manager_parameters.cost_budget: no path costs anything" in complaint


def test_another_path_manager_takes_budgets_with_it() -> None:
    budget = TEXT.replace('delay = "3 ms"', 'delay = "3 ms"\nbudget = "5 MB"')
    text = budget.replace("[mptcp]", '[mptcp]\npath_manager = "budget"')
    assert read(text).paths["lte"].budget == 5 * 10**6
    assert read(text, "mptcp.path_manager=linux").paths["lte"].budget is None
    complaint = refused(text, "path.lte.budget=1MB", "mptcp.path_manager=linux")
    assert 'path.lte.budget: path_manager = "linux" in [mptcp] keeps none' in complaint


def test_a_setting_goes_into_the_elements_of_a_profile() -> None:
    text = TEXT.replace('rate = "2 Mbit/s"\ndelay = "3 ms"', 'link = "far"')
    text += '[link.far]\nprofile = "lte"\n'
    plain, changed = read(text), read(text, "link.far.uplink.0.element=rate-process")
    assert changed.links["far"].uplink == plain.links["far"].uplink
    assert changed.links["far"].origin is not None
    assert changed.links["far"].origin["kind"] == "transferred"
    assert changed.links["far"].origin["from"] == "lte"
    complaint = refused(text, "link.far.uplink.0.element=nosuch")
    assert complaint.startswith("--set link.far.uplink.0.element=nosuch: ")


def test_settings_take_effect() -> None:
    scenario = read(
        TEXT,
        "path.lte.rate=10Mbps",
        "path.lte.queue = 200 ms",
        "path.lte.ip=6",
        'path.wifi.ip="both"',
        "timeline.0.at=85 s",
        "mptcp.congestion_control=olia",
        "mptcp.checksum=true",
        "link.home.downlink.1.delay=20ms",
        "server.addresses=2",
        "cross_traffic.0.flows=3",
        "title=what I changed",
    )
    assert scenario.links["lte"].uplink is not None
    assert scenario.links["lte"].uplink[0]["rate"] == 10_000_000
    assert scenario.links["lte"].uplink[0]["queue"]["delay"] == 200_000_000
    assert scenario.paths["lte"].ip == 6
    assert scenario.paths["wifi"].ip == "both"
    assert scenario.timeline[0].at == 85 * 10**9
    assert scenario.mptcp.congestion_control == "olia"
    assert scenario.mptcp.checksum
    assert scenario.links["home"].downlink is not None
    assert scenario.links["home"].downlink[1]["delay"] == 20_000_000
    assert scenario.server.addresses == 2
    assert scenario.title == "what I changed"
    planned = plan(scenario, 1).table()
    assert planned["server"]["addresses"] == ["10.9.0.1", "10.9.1.1", "fd00:9:0::1", "fd00:9:1::1"]
    assert [path["address6"] for path in planned["paths"]] == ["fd00:0:1::2", "fd00:0:2::2"]
    assert [path["address"] for path in planned["paths"]] == ["10.0.1.2", None]
