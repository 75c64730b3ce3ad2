"""Scenarios: what is refused and how, what is filled in, and that the long form says the same."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from mptcplab import ScenarioError, _core
from mptcplab.scenario import endpoint, library, long
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import Scenario, checked, load, read_scenario
from mptcplab.scenario.settings import set_value
from mptcplab.scenario.source import Source

# Lines count from 1.
TEXT = """\
schema = 1

[transfer]
direction = "download"
size = "1 MB"

[link.home]
uplink = [{ element = "rate", rate = "1 Mbit/s" }]
downlink = [
  { element = "rate", rate = "1 Mbit/s", queue = { queue = "drop-tail", bytes = "10 kB" } },
  { element = "delay", delay = "1 ms" },
]

[path.wifi]
link = "home"

[path.lte]
rate = "2 Mbit/s"
delay = "3 ms"

[[timeline]]
at = "1 s"
path = "wifi"
verb = "blackout"

[[cross_traffic]]
link = "home"

[mptcp]
[tcp]
[server]
[run]
"""
DELAY = '{ element = "delay", delay = "1 ms" }'
SIZE = 'size = "1 MB"'


def read(text: str, *settings: str) -> Scenario:
    source = Source.of_text(text, "mine.toml")
    for setting in settings:
        set_value(source, setting)
    return read_scenario(source)


def refused(text: str, *settings: str) -> str:
    with pytest.raises(ScenarioError) as error:
        read(text, *settings)
    return without_column(error.value)


def without_column(error: ScenarioError) -> str:
    """Give the message with the line alone: one test has columns."""
    assert "\n" not in str(error)
    return re.sub(r"^(mine\.toml:\d+):\d+: ", r"\1: ", str(error))


REFUSED = [
    (
        "schema = 1",
        "shema = 1",
        "mine.toml:1: shema: there is no such section; did you mean schema?",
    ),
    ("schema = 1", "schema = 2", "mine.toml:1: schema: 2 is not known: this mptcplab reads 1"),
    ("schema = 1", "", "mine.toml: needs schema = 1 at its top"),
    ("[mptcp]", "[mtcp]", "mine.toml:29: mtcp: there is no such section; did you mean mptcp?"),
    (SIZE, f"{SIZE}\n{SIZE}", "mine.toml:6: size: is there twice"),
    (SIZE, 'size = "1 MB', "mine.toml:5: text begins with a quote that is not closed on its line"),
    # transfer
    ('direction = "download"', "", 'mine.toml:3: transfer: needs direction: "download" (server to'),
    ("download", "down", 'mine.toml:4: transfer.direction: "down" is not known here; known: do'),
    (SIZE, "", "mine.toml:3: transfer: needs either size"),
    (SIZE, f'{SIZE}\nduration = "3 s"', "mine.toml:3: transfer: size and duration exclude each"),
    (SIZE, 'sise = "1 MB"', "mine.toml:5: transfer.sise: there is no such key; did you mean size?"),
    (SIZE, 'size = "1 Mbit"', 'mine.toml:5: transfer.size: "1 Mbit" is not a number of bytes such'),
    (SIZE, "size = 10", "transfer.size: 10 is not a number of bytes such as"),
    (SIZE, 'size = "0 B"', "transfer.size: must be above 0"),
    (SIZE, 'size = "0.1 B"', 'transfer.size: "0.1 B" is finer than 1 B'),
    (SIZE, 'size = "99999999999 GB"', '"99999999999 GB" is more than 1000 GB'),
    (SIZE, 'application = "bluk"', "mine.toml:5: transfer.application: "),
    (SIZE, "application = []", "mine.toml:5: transfer.application: a list is not known here"),
    (SIZE, 'application = "constant-bit-rate"', "mine.toml:3: transfer: needs rate: "),
    ('"download"', "download", "mine.toml:4: no value of TOML; text stands in quotes"),
    # links and elements
    (
        'uplink = [{ element = "rate"',
        'uplink = [{ element = "promotion", takes = "1 s", idle_after = "2 s" }, '
        '{ element = "rate"',
        "mine.toml:8: link.home.uplink.0: promotion is one radio for both directions: ",
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\nmiddleboxes = { element = "proxy" }',
        "mine.toml:20: path.lte.middleboxes: a table is not a list: write it in [ ]",
    ),
    (
        '"delay", delay',
        '"dealy", delay',
        'downlink.1.element: there is no element "dealy"; did you',
    ),
    (
        'delay = "1 ms" }',
        'delay = "1 m" }',
        'mine.toml:11: link.home.downlink.1.delay: "1 m" is not a',
    ),
    (
        'delay = "1 ms" }',
        'delai = "1 ms" }',
        "downlink.1.delai: element delay has no such parameter",
    ),
    (
        DELAY,
        '{ element = "delay" }',
        "mine.toml:11: link.home.downlink.1: element delay needs delay: ",
    ),
    (DELAY, '{ delay = "1 ms" }', "downlink.1: does not say which element it is; known: "),
    (DELAY, '"delay"', 'downlink.1: "delay" is not an element, a table'),
    (DELAY, '{ shared = "air" }', 'downlink.1: what is shared as "air" stands once in each'),
    ('"1 ms" }', '"1 ms", shared = "air" }', 'downlink.1: what is shared as "air" stands once'),
    (DELAY, "{ shared = 1 }", "downlink.1.shared: 1 is no name that both directions share"),
    (DELAY, '{ element = "loss", ratio = "200 %" }', '"200 %" is more than 100 %'),
    (DELAY, '{ element = "loss", ratio = 0.01 }', '0.01 is not a part in percent such as "1 %"'),
    ('delay = "1 ms" }', 'delay = "1 ms", reorder = 1 }', "reorder: 1 is not true or false"),
    (DELAY, '{ element = "trace", trace = "nosuch" }', "trace: nosuch: No such file"),
    (DELAY, '{ element = "trace", trace = [1, "2"] }', "trace: a list is not a trace: a file, or"),
    (
        "drop-tail",
        "drop-tial",
        'downlink.0.queue.queue: there is no queue "drop-tial"; did you mean',
    ),
    (
        "bytes =",
        "bites =",
        "mine.toml:10: link.home.downlink.0.queue.bites: queue drop-tail has no",
    ),
    ("[link.home]", '[link.home]\nprofile = "lte"', "mine.toml:7: link.home: profile and elements"),
    (
        "downlink = [",
        "downlnk = [",
        "mine.toml:9: link.home.downlnk: there is no such key; did you",
    ),
    # paths
    (
        'link = "home"',
        'link = "hom"',
        'mine.toml:15: path.wifi.link: there is no link "hom"; did you',
    ),
    (
        'link = "home"',
        'link = "home"\nloss = "1 %"',
        "mine.toml:16: path.wifi.loss: link and loss excl",
    ),
    ('link = "home"', 'link = "home"\nmtu = 100', "path.wifi.mtu: must be at least 576"),
    (
        'link = "home"',
        'link = "home"\nip = "both"\nmtu = 1279',
        "mine.toml:17: path.wifi.mtu: IPv6 needs 1280 bytes or more",
    ),
    (
        'link = "home"',
        'link = "home"\nip = 5',
        "path.wifi.ip: 5 is not known here; known: 4, 6, both",
    ),
    ('link = "home"', 'link = "home"\nbackup = "yes"', 'backup: "yes" is not true or false'),
    ("path.wifi", "path.Wifi", 'mine.toml:14: path.Wifi: "Wifi" cannot name a path: a name is'),
    ("path.wifi", "path.lo", "path.lo: "),
    ("path.wifi", "path.all", "path.all: "),
    ("path.wifi", "path.default", "path.default: "),
    ("path.wifi", "path.sixteen-letters-", "path.sixteen-letters-: "),
    ("path.wifi", "path.lte", "mine.toml:17: path.lte: is there twice"),
    ("path.lte", "path.home", 'mine.toml:17: path.home: there is a link "home" too'),
    (
        'link = "home"',
        'link = "home"\nprofile = "lte"',
        "mine.toml:16: path.wifi.profile: link and profile exclude each other",
    ),
    (
        'rate = "2 Mbit/s"',
        'profile = "lte"',
        "mine.toml:19: path.lte.delay: profile and delay excl",
    ),
    ('rate = "2 Mbit/s"', "", "mine.toml:17: path.lte: needs link, profile, or rate (or upl"),
    ('delay = "3 ms"', "", "mine.toml:17: path.lte: needs delay"),
    ('delay = "3 ms"', 'delay = "3 ms"\nqueue = "a lot"', "mine.toml:20: path.lte.queue: "),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\nqueue = { queue = "cdel" }',
        "path.lte.queue.queue: there is",
    ),
    ('delay = "3 ms"', 'delay = "3 ms"\nattached = 1', "path.lte.attached: 1 is not true or false"),
    # timeline
    ('path = "wifi"', 'path = "wfi"', 'mine.toml:23: timeline.0.path: there is no path "wfi"; did'),
    (
        'at = "1 s"',
        'at = "2 h"',
        "mine.toml:22: timeline.0.at: 7200 s is not before the end, 3600 s",
    ),
    ('at = "1 s"', "", "mine.toml:21: timeline.0: needs at: "),
    (
        '"blackout"',
        '"blackuot"',
        'mine.toml:24: timeline.0.verb: "blackuot" is not known here; did',
    ),
    ('verb = "blackout"', "", "mine.toml:21: timeline.0: needs verb: "),
    (
        '"blackout"',
        '"blackout"\ntakes = "1 s"',
        "mine.toml:25: timeline.0.takes: there is no such key",
    ),
    (
        '"blackout"',
        '"profile"',
        "mine.toml:21: timeline.0: needs one of link, profile, or uplink and",
    ),
    ('"blackout"', '"profile"\nprofile = "lt"', "timeline.0.profile: no link "),
    ('"blackout"', '"profile"\nlink = "hom"', "timeline.0.link: there is no link "),
    *(
        ('"blackout"', f'"{verb}"', f"mine.toml:21: timeline.0: {verb} at 1 s: wifi is {why}")
        for verb, why in (
            ("restore", "neither blacked out nor held then: there is nothing to restore"),
            ("attach", "attached then already"),
        )
    ),
    *(
        (
            'link = "home"',
            f'link = "home"\nattached = false\n[[timeline]]\nat = "1 s"\npath = "wifi"\n'
            f'verb = "{verb}"',
            f"mine.toml:17: timeline.0: {verb} at 1 s: wifi is not attached then",
        )
        for verb in ("detach", "hold", "rebind")
    ),
    (
        "[[timeline]]",
        "[timeline]",
        "mine.toml:21: timeline: is a list of tables: write [[timeline]]",
    ),
    # the rest
    (
        "[mptcp]",
        '[mptcp]\nscheduler = "lowest"',
        "mine.toml:30: mptcp.scheduler: there is no scheduler",
    ),
    ("[mptcp]", '[mptcp]\npath_manager = "x"', "mptcp.path_manager: there is no path manager "),
    ("[mptcp]", '[mptcp]\ncongestion_control = "lai"', "did you mean lia?"),
    (
        "[mptcp]",
        '[mptcp]\ncongestion_control = "coupled"',
        'no congestion control "coupled"; did you mean lia? (the papers\' coupled)',
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\nbudget = "5 MB"',
        'mine.toml:20: path.lte.budget: path_manager = "linux" in [mptcp] keeps none',
    ),
    (
        "[mptcp]",
        '[mptcp]\npath_manager = "budget"',
        'mine.toml:30: mptcp.path_manager: "budget" needs a path with a budget, such as budget = ',
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\ncost_per_mb = 2',
        'mine.toml:20: path.lte.cost_per_mb: path_manager = "linux" in [mptcp] keeps none',
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\ncost_per_mb = nan',
        "mine.toml:20: path.lte.cost_per_mb: nan is not a number",
    ),
    (
        "[mptcp]",
        '[mptcp]\npath_manager = "budget"\npath_manager_parameters = { cost_budget = 2 }',
        'mine.toml:30: mptcp.path_manager: "budget" needs a path with a budget',
    ),
    (
        "[tcp]",
        '[tcp]\nmin_timeout = "3 s"\nmax_timeout = "1 s"',
        "tcp.min_timeout: min_timeout is 3 s, and max_timeout is 1 s",
    ),
    (
        "[tcp]",
        '[tcp]\nmax_timeout = "10 ms"',
        "tcp.max_timeout: min_timeout is 200 ms, and max_timeout is 10 ms",
    ),
    (
        "[tcp]",
        '[tcp]\nreceive_buffer = "2 MB"\nmax_receive_buffer = "1 MB"',
        "tcp.receive_buffer: receive_buffer is 2 MB, and max_receive_buffer is 1 MB",
    ),
    ("[tcp]", '[tcp]\ncongestion_control = "ren"', "did you mean reno?"),
    ("[tcp]", "[tcp]\ndelayed_ack = false", "tcp.delayed_ack: false is not a length of time such"),
    (
        "[tcp]",
        "[tcp]\nsak = false",
        "mine.toml:31: tcp.sak: there is no such key; did you mean sack?",
    ),
    ("[tcp]", "[tcp]\nmax_backoff = -1", "mine.toml:31: tcp.max_backoff: must be at least 0"),
    *(
        ("[tcp]", f'[tcp]\n{key} = "0 s"', f"mine.toml:31: tcp.{key}: must be above 0")
        for key in ("max_timeout", "initial_timeout", "keep_alive_idle", "keep_alive_interval")
    ),
    ("[tcp]", '[tcp]\ndelayed_ack = "a\\nb"', 'tcp.delayed_ack: "a\\nb" is not a length of time'),
    (DELAY, '{ element = "trace", trace = "\\u0000" }', '"\\u0000" is not a trace: a file, or a'),
    ("[server]", "[server]\naddresses = 0", "mine.toml:32: server.addresses: must be at least 1"),
    ("[server]", '[server]\naddresses = "two"', 'server.addresses: "two" is not a whole number'),
    ("[run]", '[run]\nstop = "0 s"', "mine.toml:33: run.stop: must be above 0"),
    ("[run]", '[run]\nbaselines = "no"', 'run.baselines: "no" is not true or false'),
    (
        '[[cross_traffic]]\nlink = "home"',
        '[[cross_traffic]]\nlink = "hom"',
        "cross_traffic.0.link: ",
    ),
    ("[[cross_traffic]]", '[[cross_traffic]]\nkind = "upd"', "cross_traffic.0.kind: "),
    (
        "[[cross_traffic]]",
        '[[cross_traffic]]\nstart = "1 s"\nstop = "1 s"',
        "it stops before it sta",
    ),
    ("[[cross_traffic]]", '[[cross_traffic]]\ncongestion_control = "x"', "no congestion control "),
    ("[run]", "[run", "mine.toml:32: "),
    (SIZE, f"size = {10**20}", "mine.toml:5: integer number overflowed"),
]


@pytest.mark.parametrize(("old", "new", "complaint"), REFUSED)
def test_what_cannot_be_gets_one_line_with_its_place(old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    assert complaint in refused(TEXT.replace(old, new, 1))


# What the code of the links refuses.
CONTRADICTIONS = [
    (
        DELAY,
        '{ element = "base-station", rate = "2 Mbit/s", drain_rate = "1 Mbit/s" }',
        "mine.toml:11: link.home.downlink.1.drain_rate: is less than `rate`: nothing would drain",
    ),
    (
        DELAY,
        '{ element = "rate-markov", high = "1 Mbit/s", high_time = "1 s", low_time = "1 s",'
        ' low = "2 Mbit/s" }',
        "mine.toml:11: link.home.downlink.1.low: is more than `high`",
    ),
    (
        DELAY,
        '{ element = "rate", rate = "1 Mbit/s", queue = { queue = "pie", alpha = 1e308 } }',
        "mine.toml:11: link.home.downlink.1.queue.alpha: is not from 0 to 1000",
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\n[path.lte.queue]\nqueue = "pie"\nalpha = 1e308',
        "mine.toml:22: path.lte.queue.alpha: is not from 0 to 1000",
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\nmiddleboxes = [ { element = "firewall" },\n'
        '  { element = "promotion", takes = "1 s", idle_after = "1 s", shared_takes = "1 s" } ]',
        "mine.toml:21: path.lte.middleboxes.1.shared_takes: means nothing without `shared_after`",
    ),
    (
        DELAY,
        '{ element = "rate-process", mean = "1 Mbit/s", deviation = "1 Mbit/s", '
        'correlation = "1 s", floor = "2 Mbit/s" }',
        "mine.toml:11: link.home.downlink.1.floor: is more than `mean`",
    ),
    (
        DELAY,
        '{ element = "gilbert-elliott", p = "1 %", r = "9 %", good_loss = "5 %",'
        ' bad_loss = "1 %" }',
        "mine.toml:11: link.home.downlink.1.bad_loss: is less than `good_loss`",
    ),
    (
        DELAY,
        '{ element = "arq", error_ratio = "1 %", back_off = "20 ms" }',
        "mine.toml:11: link.home.downlink.1.longest_back_off: is shorter than `back_off`",
    ),
]


@pytest.mark.parametrize(("old", "new", "complaint"), CONTRADICTIONS)
def test_what_contradicts_itself_gets_the_line_of_its_key(
    old: str, new: str, complaint: str
) -> None:
    assert old in TEXT
    with pytest.raises(ScenarioError) as error:
        checked(Source.of_text(TEXT.replace(old, new, 1), "mine.toml"))
    assert without_column(error.value).startswith(complaint)


def test_messages_say_the_column() -> None:
    text = TEXT.replace(DELAY, DELAY.replace("1 ms", "1 m"))
    with pytest.raises(ScenarioError, match=r"^mine\.toml:11:24: link\.home\.downlink\.1\.delay: "):
        read(text)
    with pytest.raises(ScenarioError, match=r"^mine\.toml:4:13: no value of TOML"):
        read(TEXT.replace('"download"', "download"))


def test_missing_sections_are_named() -> None:
    assert refused("schema = 1") == "mine.toml: needs [transfer]"
    text = 'schema = 1\n[transfer]\ndirection = "upload"\nsize = "1 B"\n'
    assert refused(text) == "mine.toml: needs at least one [path.NAME]"
    away = text + '[path.wifi]\nrate = "1 bit/s"\ndelay = "0 s"\nattached = false\n'
    assert "none is attached" in refused(away)


SETTINGS = [
    ("path.wifi.mtu=9", "path.wifi.mtu: must be at least 576"),
    ("run.processing=10s", "run.processing: must be at most 1 s"),
    ("path.lte.rate=10Mbpz", 'path.lte.rate: "10Mbpz" is not a rate such as "20 Mbit/s"'),
    ("path.lte.rate=10", "path.lte.rate: 10 is not a rate"),
    ("path.wifi.rate=10Mbps", "path.wifi.rate: link and rate exclude each other"),
    ("path.wfi.rate=10Mbps", "there is no path wfi; did you mean wifi?"),
    ("timeline.1.at=10s", "timeline has no entry 1; it has only entry 0"),
    ("timeline.0.at=2h", "timeline.0.at: 7200 s is not before the end"),
    ("link.home.downlink.1.delay=3 Mbit/s", 'link.home.downlink.1.delay: "3 Mbit/s" is not'),
    ("schema.a.b=4", "schema is no table"),
    ("transfer.sise=4", "transfer.sise: there is no such key; did you mean size?"),
    ("foo", "is not KEY=VALUE"),
    ("=3", "is not KEY=VALUE"),
]


@pytest.mark.parametrize(("setting", "complaint"), SETTINGS)
def test_settings_are_held_to_the_same_and_named(setting: str, complaint: str) -> None:
    assert refused(TEXT, setting).startswith(f"--set {setting}: {complaint}")


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


FULL = """\
schema = 1
title = "all that there is: \\"quoted\\", ünd\\u007f\\n"

[transfer]
direction = "upload"
application = "request-response"
request = "200 B"
response = "1.5 MB"
requests = 3
think = "1.000001 s"

[link.shared]
origin = "assumed"
uplink = [
  { shared = "air" },
  { element = "rate", rate = "1234567 bit/s", queue = { queue = "codel" } },
]
downlink = [
  { element = "loss", ratio = "0.2 %", shared = "air" },
  { element = "delay", delay = "1 ns" },
  { element = "loss", ratio = "0.1 %" },
  { element = "trace", trace = [0, 5, 7] },
]

[link.lte]
profile = "lte"

[path.wifi]
link = "shared"
ip = "both"
mtu = 1400

[path.lte]
link = "lte"
backup = true

[path.late]
uplink_rate = "1.5 Mbit/s"
downlink_rate = "3 Gbps"
delay = "0.5 ms"
jitter = "10 us"
loss = "0.07 %"
queue = "50 packets"
attached = false
ip = 6

[server]
addresses = 2
announce = false

[mptcp]
scheduler = "lowest-rtt"
max_subflows = 3
close_timeout = "1 min"

[tcp]
delayed_ack = "off"
initial_ssthresh = 64
receive_buffer = "880 KiB"

[[cross_traffic]]
link = "shared"
flows = 4
stop = "10 s"

[[cross_traffic]]
name = "voice"
kind = "udp"
link = "late"
rate = "64 kbit/s"
packet = "200 B"
direction = "upload"

[[timeline]]
at = "5 s"
path = "late"
verb = "attach"
takes = "4 s"

[[timeline]]
at = "6 s"
path = "lte"
verb = "profile"
profile = "hspa"

[[timeline]]
at = "7 s"
path = "lte"
verb = "profile"
link = "late"

[[timeline]]
at = "8 s"
path = "wifi"
verb = "rebind"

[run]
stop = "100 s"
sample = "0 s"
baselines = false
"""


def test_the_long_form_reads_back_as_the_same() -> None:
    scenario = read(FULL)
    text = long.write(scenario)
    again = read(text)
    assert again == scenario
    assert long.write(again) == text
    for seed, path in ((1, None), (2, "lte")):
        assert plan(again, seed, path).table() == plan(scenario, seed, path).table()


@pytest.mark.parametrize("name", library.names("scenarios"))
def test_what_ships_reads_and_reads_back(name: str) -> None:
    found, scenario = load(name)
    assert found == name
    assert scenario.title
    assert read(long.write(scenario)) == scenario


@pytest.mark.parametrize("name", library.names("links"))
def test_links_say_what_they_are_and_where_their_figures_come_from(name: str) -> None:
    table = library.table("links", name)
    assert table["title"]
    assert table["origin"]
    text = re.sub(r'profile = "lte"', f'profile = "{name}"', FULL)
    assert read(text).links["lte"].origin == table["origin"]


def test_the_long_form_holds_neither_short_forms_nor_profiles() -> None:
    text = long.write(read(FULL))
    assert "profile =" not in text
    assert "uplink_rate" not in text
    assert '{ element = "rate", rate = "1.5 Mbit/s", queue = { queue = "drop-tail", ' in text
    assert '{ element = "loss", ratio = "0.07 %" }' in text
    assert 'delayed_ack = "off"' in text
    assert 'receive_buffer = "901.12 kB"' in text
    assert text.count("profile") == 2


def test_every_setting_of_the_endpoint_can_be_set() -> None:
    theirs = _core.transport_defaults()
    assert endpoint.config(read(TEXT).mptcp, read(TEXT).tcp) == theirs

    def places(table: dict[str, Any], above: str = "") -> set[str]:
        there = {f"{above}/{key}": value for key, value in table.items()}
        within = [places(value, at) for at, value in there.items() if value and type(value) is dict]
        return {
            at for at, value in there.items() if not isinstance(value, dict) or not value
        }.union(*within)

    named = {one["at"] for section in _core.settings().values() for one in section}
    # Whoever makes the endpoint knows its addresses.
    assert places(theirs) - named == {"/mptcp/path_manager/endpoints"}
    assert named <= places(theirs)


def test_an_era_is_a_set_of_defaults() -> None:
    scenario = read(TEXT, "mptcp.era=2012")
    assert scenario.mptcp.era == "2012"
    # UM-CS-2012-022: the receive buffer of a client with 2 GB, cached thresholds, coupled increase.
    assert scenario.tcp.mss == 1400
    assert scenario.tcp.ssthresh_cache
    assert scenario.tcp.max_receive_buffer == 880_000
    assert not any((scenario.tcp.rack, scenario.tcp.tail_loss_probe, scenario.tcp.pacing))
    assert scenario.mptcp.checksum
    assert scenario.mptcp.congestion_control == scenario.tcp.congestion_control == "lia"
    assert scenario.mptcp.receive_buffer == "shared"
    # The long form says all of it, and it is the same.
    assert read(long.write(scenario)) == scenario
    assert '\nmss = "1.4 kB"\n' in long.write(scenario)


def test_what_is_set_beside_an_era_holds() -> None:
    settings = ("mptcp.era=2012", "tcp.mss=off", "mptcp.scheduler=linux", "tcp.max_backoff=3")
    scenario = read(TEXT, *settings)
    assert scenario.tcp.mss is None
    assert scenario.mptcp.scheduler == "linux"
    assert scenario.tcp.max_backoff == 3
    assert scenario.mptcp.checksum
    # It goes with the schedulers of the out-of-tree kernel.
    assert not scenario.mptcp.penalisation


def test_the_current_era_is_what_the_kernel_does() -> None:
    scenario = read(TEXT, "mptcp.era=current")
    assert scenario.mptcp.scheduler == "linux"
    assert scenario.mptcp.max_subflows == 2
    assert scenario.mptcp.max_add_addr_accepted == 0
    assert scenario.kernel == read(TEXT).kernel
    # TCP's own defaults are of it anyway.
    ours = endpoint.config(scenario.mptcp, scenario.tcp)
    assert ours["tcp"] == endpoint.defaults()["tcp"]
    assert read(TEXT, "mptcp.era=2012").kernel.scheduler == "lowest-rtt"


def test_the_plan_is_in_base_units() -> None:
    planned = plan(read(FULL), 7, "lte").table()
    assert planned["seed"] == 7
    assert planned["run"] == {"kind": "tcp", "path": "lte"}
    assert planned["transfer"] == {
        "application": "request-response",
        "direction": "up",
        "request_bytes": 200,
        "response_bytes": 1_500_000,
        "requests": 3,
        "think_ns": 1_000_001_000,
    }
    tcp = planned["transport"]["client"]["tcp"]
    assert tcp["delayed_ack_ns"] is None
    assert tcp["initial_ssthresh_packets"] == 64
    assert tcp["receive_buffer_bytes"] == 901_120
    assert not planned["transport"]["server"]["mptcp"]["enabled"]
    attach, profile, other, rebind = planned["timeline"]
    assert attach == {"at_ns": 5 * 10**9, "path": "late", "verb": "attach", "takes_ns": 4 * 10**9}
    assert profile["link"]["uplink"][0]["element"] == "rate-process"
    assert other["link"] == planned["links"]["late"]
    assert rebind["address"] == "10.0.1.99"
    assert planned["cross_traffic"][0]["name"] == "cross-1"
    assert planned["cross_traffic"][1]["packet_bytes"] == 200
    assert planned["stop_ns"] == 100 * 10**9
    assert planned["sample_ns"] == 0


def test_a_plan_says_which_value_is_at_fault() -> None:
    table = plan(read(FULL), 1).table()
    table["links"]["lte"]["downlink"][0]["queue"] = {"queue": "pie", "alpha": 1e308}
    with pytest.raises(_core.PlanError, match="link lte, downlink, element 1") as error:
        _core.Plan(table).check()
    assert error.value.key == ("link", "lte", "downlink", 0, "queue", "alpha")
    assert error.value.message == "is not from 0 to 1000"
    with pytest.raises(_core.PlanError, match="unknown field `nothing`") as error:
        _core.Plan(table | {"nothing": 1})
    assert error.value.key == ()


def test_a_plan_is_kept_as_its_table() -> None:
    one = plan(read(FULL), 1)
    other = one.with_seed(2)
    assert other.table() == one.table() | {"seed": 2}
    assert pickle.loads(pickle.dumps(other)).table() == other.table()


def test_traces_are_found_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n5\n9\n")
    text = TEXT.replace(DELAY, '{ element = "trace", trace = "up.trace" }')
    (tmp_path / "mine.toml").write_text(text)
    _, scenario = load(tmp_path / "mine.toml")
    assert scenario.links["home"].downlink is not None
    assert scenario.links["home"].downlink[1]["trace"] == [1, 5, 9]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("1\n5\n\n3\n", 'up.trace:4: "3" is before the line above it'),
        ("# from the train\n1\n", 'up.trace:1: "# from the train" is not a whole number of milli'),
        ("1\n-2\n", 'up.trace:2: "-2" is not a whole number of milliseconds'),
        ("", "up.trace: is empty"),
        ("0\n0\n", "a trace needs an entry after 0 ms"),
    ],
)
def test_faults_of_traces_have_their_lines(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "up.trace").write_text(content)
    text = TEXT.replace(DELAY, '{ element = "trace", trace = "up.trace" }')
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(ScenarioError, match=r"mine.toml:11:3: link.home.downlink.1") as error:
        load(tmp_path / "mine.toml")
    assert complaint in str(error.value)


def test_what_the_links_refuse_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for new, place in (
        ('{ element = "delay", delay = "1 ms", step = "1 us" }', "11: link.home.downlink.1.step: "),
        ('{ element = "trace", trace = [5, 3] }', "11: link.home.downlink.1.trace: "),
        ('{ element = "trace", trace = [] }', "11: link.home.downlink.1.trace: "),
        ('{ element = "strip-options", option = "a\\nb" }', "11: link.home.downlink.1.option: "),
    ):
        file.write_text(TEXT.replace(DELAY, new))
        with pytest.raises(ScenarioError) as error:
            load(file)
        line, _, rest = str(error.value).removeprefix(f"{file}:").partition(":")
        assert f"{line}:{rest.partition(':')[2]}".startswith(place)
        assert "\n" not in str(error.value)


def test_lines_are_found_in_all_of_toml() -> None:
    text = """\
a.b = 1 # c = 2
"quoted key" = \"\"\"
x = 1
[not.a.table]
\"\"\"
list = [ # comment ]
  [1, 2],
  { x = '}', y = [3,
    4] },
]

[[t]]
x = 1
[t.sub]
y = "#"
[[t]]
'x' = 2
[[t.deep]]
z = 1
"""
    offsets = _core.toml_offsets(text)
    lines = {key: 1 + text[:offset].count("\n") for key, offset in offsets.items()}
    assert lines["a", "b"] == 1
    assert lines["quoted key",] == 2
    assert lines["list",] == 6
    assert lines["list", 0, 1] == 7
    assert lines["list", 1, "x"] == 8
    assert lines["list", 1, "y", 1] == 9
    assert lines["t", 0, "sub", "y"] == 15
    assert lines["t", 1] == 16
    assert lines["t", 1, "x"] == 17
    assert lines["t", 1, "deep", 0, "z"] == 19
    assert not any("not" in place for place in lines)


def test_what_is_no_scenario_is_told(tmp_path: Path) -> None:
    scenario = tmp_path / "ran" / "mptcp" / "scenario.toml"
    scenario.parent.mkdir(parents=True)
    scenario.write_text(long.write(read(TEXT)))
    for given, complaint in (
        (
            "wifi-ltee",
            "wifi-ltee is neither a file nor a scenario that ships; did you mean wifi-lte?",
        ),
        ("nosuch.toml", "nosuch.toml: No such file or directory"),
        (str(tmp_path), f"{tmp_path}: Is a directory"),
        (str(tmp_path / "ran"), f"{tmp_path}/ran: holds a run; its scenario is {scenario}"),
        (str(scenario.parent), f"{scenario.parent}: holds a run; its scenario is {scenario}"),
        ({"schema": 1}, "scenario: needs [transfer]"),
    ):
        with pytest.raises(ScenarioError) as error:
            load(given)
        assert str(error.value) == complaint
