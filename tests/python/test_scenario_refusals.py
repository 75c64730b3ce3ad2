"""What no scenario can be is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenarios import DELAY, SIZE, TEXT, read, refused, without_column

from mptcplab import ScenarioError
from mptcplab.scenario import long
from mptcplab.scenario.scenario import checked, load
from mptcplab.scenario.source import Source

REFUSED = [
    (
        "schema = 1",
        "shema = 1",
        "mine.toml:1: shema: there is no such key; did you mean schema?",
    ),
    ("schema = 1", "schema = 2", "mine.toml:1: schema: 2 is not known: this mptcplab reads 1"),
    (
        "[mptcp]",
        '[[event]]\nat = "1 s"\n[mptcp]',
        "mine.toml:29: event: there is no such section; did you mean timeline?",
    ),
    (
        "[mptcp]",
        '[mptcp]\nreceive_buffer = "128 kB"',
        'mine.toml:30: mptcp.receive_buffer: "128 kB" is a size, which [tcp] receive_buffer sets; ',
    ),
    (
        "[mptcp]",
        '[mptcp]\nreceive_buffer = "split"',
        'mine.toml:30: mptcp.receive_buffer: "split" is not known here; known: shared, per-subflow',
    ),
    ("[mptcp]", "[mtcp]", "mine.toml:29: mtcp: there is no such section; did you mean mptcp?"),
    (SIZE, f"{SIZE}\n{SIZE}", "mine.toml:6: duplicate key"),
    (SIZE, 'size = "1 MB', "mine.toml:5: invalid basic string, expected"),
    # transfer
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
    (
        SIZE,
        'application = "constant-bit-rate"\nrate = "1 Mbit/s"',
        "mine.toml:3: transfer: needs duration: ",
    ),
    ('"download"', "download", "mine.toml:4: string values must be quoted"),
    # links and elements
    (
        'uplink = [{ element = "rate"',
        'uplink = [{ element = "promotion", takes = "1 s", idle_after = "2 s" }, '
        '{ element = "rate"',
        "mine.toml:8: link.home.uplink.0: promotion is one radio for both directions: ",
    ),
    *(
        (
            'delay = "3 ms"',
            f'delay = "3 ms"\nmiddleboxes = [{boxes}]',
            "path.lte: clat and nat64 are the two ends of IPv6: ",
        )
        for boxes in ('{ element = "clat" }', '{ element = "nat64" }, { element = "clat" }')
    ),
    (
        'rate = "2 Mbit/s"\ndelay = "3 ms"',
        'link = "carrier"\n[link.carrier]\n'
        'uplink = [{ element = "clat", shared = "a" }, { element = "nat64", shared = "b" }]\n'
        'downlink = [{ shared = "a" }, { shared = "b" }]',
        "link.carrier: clat and nat64 are the two ends of IPv6: ",
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
    (DELAY, '{ delay = "1 ms" }', "downlink.1: does not say which element it is, such as element"),
    (DELAY, '"delay"', 'downlink.1: "delay" is not an element, a table'),
    (DELAY, '{ shared = "air" }', 'downlink.1: what is shared as "air" stands once in each'),
    ('"1 ms" }', '"1 ms", shared = "air" }', 'downlink.1: what is shared as "air" stands once'),
    (DELAY, "{ shared = 1 }", "downlink.1.shared: 1 is not a name that both directions share"),
    (DELAY, '{ element = "loss", ratio = "200 %" }', '"200 %" is more than 100 %'),
    (DELAY, '{ element = "loss", ratio = 0.01 }', '0.01 is not a percentage such as "1 %"'),
    ('delay = "1 ms" }', 'delay = "1 ms", reorder = 1 }', "reorder: 1 is not true or false"),
    (DELAY, '{ element = "trace", trace = "nosuch" }', "trace: nosuch: No such file"),
    (DELAY, '{ element = "trace", trace = [1, "2"] }', "trace: a list is not a trace: a file, or"),
    (
        "drop-tail",
        "drop-tial",
        'downlink.0.queue.queue: there is no queue "drop-tial"; did you mean',
    ),
    (
        '"drop-tail"',
        "100",
        "downlink.0.queue.queue: 100 is not the name of a queue; known: drop-tail, ",
    ),
    (
        '"drop-tail"',
        '"100 kB"',
        "what it holds is bytes, packets or delay beside it",
    ),
    (
        '"drop-tail"',
        "{ packets = 100 }",
        "downlink.0.queue.queue: a table is not the name of a queue; known: drop-tail, ",
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
    ("path.wifi", "path.lte", "mine.toml:17: duplicate key"),
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
    ("[run]", "[run", "mine.toml:32: unclosed table, expected `]`"),
    (SIZE, "size = { a = 1,\n b = 2 }", "mine.toml: is not valid TOML 1.0: "),
    (SIZE, f"size = {10**20}", "mine.toml:5: integer number overflowed"),
]


@pytest.mark.parametrize(("old", "new", "complaint"), REFUSED)
def test_what_cannot_be_gets_one_line_with_its_place(old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    assert complaint in refused(TEXT.replace(old, new, 1))


def test_all_faults_of_a_scenario_are_told_at_once_in_the_order_of_the_file() -> None:
    text = (
        TEXT.replace(SIZE, 'size = "-1 MB"\nsise = 1')
        .replace('delay = "3 ms"', 'delay = "3 s s"\nrat = 1')
        .replace("[mptcp]", '[mptcp]\nscheduler = "best"\npath_manager = "all"')
        .replace("[server]", "[server]\naddresses = 0")
    )
    with pytest.raises(ScenarioError) as error:
        read(text)
    assert [line.split(": ")[1] for line in error.value.args] == [
        "transfer.size",
        "transfer.sise",
        "path.lte.delay",
        "path.lte.rat",
        "mptcp.scheduler",
        "mptcp.path_manager",
        "server.addresses",
    ]
    assert str(error.value).splitlines() == list(error.value.args)


def test_what_refers_to_a_faulty_table_is_not_a_fault() -> None:
    text = TEXT.replace(DELAY, '{ element = "dely" }')
    assert '[[cross_traffic]]\nlink = "home"' in text
    with pytest.raises(ScenarioError) as error:
        read(text)
    assert [line.split(": ")[1] for line in error.value.args] == ["link.home.downlink.1.element"]


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
        "mine.toml:11: link.home.downlink.1.queue.alpha: must be from 0 to 1000",
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\n[path.lte.queue]\nqueue = "pie"\nalpha = 1e308',
        "mine.toml:22: path.lte.queue.alpha: must be from 0 to 1000",
    ),
    (
        'delay = "3 ms"',
        'delay = "3 ms"\nmiddleboxes = [ { element = "firewall" },\n'
        '  { element = "promotion", takes = "1 s", idle_after = "1 s", shared_takes = "1 s" } ]',
        "mine.toml:21: path.lte.middleboxes.1.shared_takes: has no effect without `shared_after`",
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
    with pytest.raises(ScenarioError, match=r"^mine\.toml:4:13: string values must be quoted"):
        read(TEXT.replace('"download"', "download"))


def test_missing_sections_are_named() -> None:
    assert refused("schema = 1") == "mine.toml: needs [transfer]"
    text = 'schema = 1\n[transfer]\ndirection = "upload"\nsize = "1 B"\n'
    assert refused(text) == "mine.toml: needs at least one [path.NAME]"
    away = text + '[path.wifi]\nrate = "1 bit/s"\ndelay = "0 s"\nattached = false\n'
    assert "none is attached" in refused(away)


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
    with pytest.raises(ScenarioError, match=r"mine.toml:11:24: link.home.downlink.1") as error:
        load(tmp_path / "mine.toml")
    assert complaint in str(error.value)


def test_what_the_links_refuse_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for new, where in (
        ('{ element = "delay", delay = "1 ms", step = "1 us" }', "11: link.home.downlink.1.step: "),
        ('{ element = "trace", trace = [5, 3] }', "11: link.home.downlink.1.trace: "),
        ('{ element = "trace", trace = [] }', "11: link.home.downlink.1.trace: "),
        ('{ element = "strip-options", option = "a\\nb" }', "11: link.home.downlink.1.option: "),
    ):
        file.write_text(TEXT.replace(DELAY, new))
        with pytest.raises(ScenarioError) as error:
            load(file)
        line, _, rest = str(error.value).removeprefix(f"{file}:").partition(":")
        assert f"{line}:{rest.partition(':')[2]}".startswith(where)
        assert "\n" not in str(error.value)


def test_what_is_no_scenario_is_told(tmp_path: Path) -> None:
    scenario = tmp_path / "ran" / "mptcp" / "scenario.toml"
    scenario.parent.mkdir(parents=True)
    scenario.write_text(long.write(read(TEXT)))
    for given, complaint in (
        (
            "wifi-ltee",
            "wifi-ltee is neither a file nor a scenario that ships; did you mean wifi-lte?",
        ),
        (
            "nosuch.toml",
            "nosuch.toml: there is no such file; mptcplab scenarios lists those that ship",
        ),
        (str(tmp_path), f"{tmp_path}: is a directory; name a file in it"),
        (str(tmp_path / "ran"), f"{tmp_path}/ran: holds a run; its scenario is {scenario}"),
        (str(scenario.parent), f"{scenario.parent}: holds a run; its scenario is {scenario}"),
        ({"schema": 1}, "scenario: needs [transfer]"),
    ):
        with pytest.raises(ScenarioError) as error:
            load(given)
        assert str(error.value) == complaint
