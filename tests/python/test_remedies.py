"""Remedies: what a finding recommends is tried, and nothing is recommended that is there."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import mptcplab as package
from experiments.findings.scenarios import BULK, LTE, ask, scenario
from mptcplab import _core
from mptcplab.cli.summary.findings import print_all, print_tried
from mptcplab.cli.summary.page import Page
from mptcplab.engines import DEFAULT
from mptcplab.results.comparison import open_comparison
from mptcplab.results.findings import remedies, slower
from mptcplab.results.findings.remedies import OWN, FindingPaths, declared
from mptcplab.results.findings.tries import Trials, tried
from mptcplab.results.why import Why
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

Table = dict[str, Any]

# What a setting is called in words, by its key, or by its key and value.
CALLED = {
    "mptcp.path_manager=guard": "mptcplab guard",
    "mptcp.path_manager=full-mesh": "ip mptcp endpoint add",
    "mptcp.max_subflows": "limits set subflows {value}",
    "mptcp.max_add_addr_accepted": "add_addr_accepted {value}",
    "mptcp.scheduler": "{value}",
    "mptcp.congestion_control": "{value}",
    "tcp.congestion_control": "{value}",
    "tcp.max_receive_buffer": "receive buffer",
    "tcp.receive_buffer": "receive buffer from the start",
    "tcp.receive_buffer_tuning=true": "receive buffer",
    "tcp.send_buffer": "send buffer",
    "tcp.send_buffer_tuning=false": "from the start",
    "tcp.send_buffer_tuning=true": "so_sndbuf",
    "tcp.max_backoff": "net.ipv4.tcp_rto_max_ms",
    "tcp.slow_start": "hystart",
    "tcp.keep_alive_idle": "tcp_keepalive_time",
    "tcp.keep_alive_interval": "shorter intervals",
    "tcp.mss": "mss",
    "path.lte.backup=true": "backup",
    "path.lte.backup=false": "regular",
}
LIMITS = re.compile(r"limits set subflows (\d+)(?: add_addr_accepted (\d+))?")

REMEDIES = Path(__file__).parents[2] / "crates" / "analysis" / "src" / "findings" / "remedies.rs"
WIFI = {"rate": "25 Mbit/s", "delay": "12 ms", "queue": "150 kB"}
SLOW = {"rate": "1 Mbit/s", "delay": "150 ms", "queue": "200 kB"}


def paths(number: int) -> dict[str, Table]:
    """Give a path that is fast, and slow ones."""
    return {"wifi": WIFI} | dict.fromkeys(("lte", "dsl")[: number - 1], SLOW)


def downloaded(directory: Path, **sections: Any) -> Path:
    """Download over a fast path and slow ones, and plain TCP over each."""
    table = scenario(BULK | {"size": "10 MB"}, **sections)
    package.run(table, out=directory, captures="none")
    return directory


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return downloaded(tmp_path_factory.mktemp("slow") / "run", **paths(2))


def found(table: Table) -> list[Table]:
    """Simulate a scenario; give its findings."""
    return list(_core.simulate(plan(load(table)[1], 1, None)).rows("findings"))


def measured(*rows: Table) -> Any:
    """Give tables that have these findings."""
    return SimpleNamespace(rows=lambda name: list(rows) if name == "findings" else [])


def one(rows: list[Table], kind: str) -> Table:
    (row,) = [row for row in rows if row["kind"] == kind]
    return row


def tried_for(why: Why, kind: str) -> list[Table]:
    return [row for row in why.tried_rows or [] if kind in row["kind"].split(", ")]


def test_each_remedy_is_declared_once_and_can_be_set() -> None:
    described, between = _core.remedies()
    assert len(declared()) == len(described) + len(OWN)
    tables = [scenario(wifi=WIFI, lte=SLOW | {"backup": backup}) for backup in (False, True)]
    for remedy in declared().values():
        resolved = remedy.of(FindingPaths("lte", ("lte",), "lte"))
        assert resolved is not None
        assert between not in remedy.words
        assert remedy.name
        settings = [*resolved.settings, *resolved.beside]
        changed = [load(table, settings)[1] != load(table)[1] for table in tables]
        assert any(changed), remedy.name


@pytest.mark.parametrize("words", declared())
def test_words_name_all_settings_that_are_tried(words: str) -> None:
    """Who does what they say has what the try had."""
    remedy = declared()[words].of(FindingPaths("lte", ("lte",), "lte"))
    assert remedy is not None
    settings = [*remedy.settings, *remedy.beside]
    for setting in settings:
        key, _, value = setting.partition("=")
        called = (CALLED.get(setting) or CALLED[key]).format(value=value)
        assert called in words.lower(), setting
    if limits := LIMITS.search(words):
        named = zip(
            ("mptcp.max_subflows", "mptcp.max_add_addr_accepted"), limits.groups(), strict=True
        )
        assert {f"{key}={value}" for key, value in named if value} <= set(settings)


@pytest.mark.parametrize("words", declared())
def test_what_is_printed_of_a_try_does_the_same(words: str) -> None:
    """All settings are there, but for those that the scenario has already."""
    remedy = declared()[words]
    row: Table = {"kind": "path_dead", "remedy": words, "cost_s": 1.0}
    for backup in (False, True):
        mptcp = {"max_add_addr_accepted": 8, "scheduler": "round-robin"}
        table = scenario(BULK | {"size": "20 kB"}, wifi=WIFI, lte=SLOW | {"backup": backup})
        table["mptcp"] = mptcp
        trials = Trials(DEFAULT, table, (1,), "down")
        found = tried(trials, [row], where=lambda _: FindingPaths("lte", ("lte",), "lte"))
        if not found:
            continue
        stream = io.StringIO()
        print_tried(Page(stream), found)
        (printed,) = re.findall(rf"^{re.escape(remedy.name)}: (--set .*)$", stream.getvalue(), re.M)
        options = shlex.split(printed)
        assert options[::2] == ["--set"] * (len(options) // 2)
        assert "mptcp.max_add_addr_accepted" not in printed
        resolved = remedy.of(FindingPaths("lte", ("lte",), "lte"))
        assert resolved is not None
        of_try = trials.with_settings(trials.new((*resolved.settings, *resolved.beside)))
        assert load(table, options[1::2])[1] == of_try
        return
    pytest.fail("it is tried in no scenario")


def test_a_limit_that_no_second_path_names_is_tried() -> None:
    """The server's address is announced, and no path but the first can reach the one asked for."""
    mixed = scenario(BULK | {"size": "10 MB"}, wifi=WIFI | {"ip": 6}, lte=LTE)
    none = scenario(BULK | {"size": "10 MB"}, wifi=WIFI, lte=LTE, mptcp={"max_subflows": 0})
    for table in (mixed, none):
        row = one(found(table), "no_second_path")
        (tried_row,) = tried(Trials(DEFAULT, table, (1,), "down"), [row])
        assert tried_row["gained_s"] > 0.5


def test_all_that_the_analysis_recommends_with_settings_can_be_tried() -> None:
    """A remedy that is not in the list would be recommended, and never tried."""
    source = REMEDIES.read_text("utf-8")
    named = set(re.findall(r"pub\(super\) const (\w+): Remedy", source))
    listed = re.search(r"pub const TRIED[^=]*= \[(.*?)\];", source, re.DOTALL)
    assert listed is not None
    assert named == {name.strip() for name in listed[1].split(",") if name.strip()}


@pytest.mark.parametrize("number", [2, 3])
def test_the_backup_that_is_recommended_is_what_is_tried(
    tmp_path: Path, slow: Path, number: int
) -> None:
    """It gives what plain TCP over the best path shows to be lost, of two paths and of three."""
    where = slow if number == 2 else downloaded(tmp_path / "run", **paths(number))
    why = package.why(where, tries=True)
    row = one(why.rows, "slower_than_single")
    words = "the other path as a backup" if number == 2 else "the other paths as backups"
    assert row["remedy"].startswith(words)
    assert "wifi alone" in row["remedy"]
    own = [row for row in tried_for(why, "slower_than_single") if "backup" in row["remedy"]]
    assert len(own) == 1
    assert own[0]["settings"] == [f"path.{name}.backup=true" for name in list(paths(number))[1:]]
    assert own[0]["gained_s"] > row["cost_s"] / 2


def test_a_best_path_that_is_a_backup_is_to_be_a_regular_one(tmp_path: Path) -> None:
    """Its flag is why it stood by: without that the transfer has what it lost."""
    spare = {"wifi": SLOW, "lte": WIFI | {"backup": True}}
    why = package.why(downloaded(tmp_path / "run", **spare), tries=True)
    row = one(why.rows, "slower_than_single")
    assert "lte alone, which is a backup" in row["message"]
    (tried,) = tried_for(why, "slower_than_single")
    assert tried["settings"] == ["path.lte.backup=false"]
    assert tried["gained_s"] > row["cost_s"] / 2


def test_all_that_a_finding_recommends_and_settings_do_is_tried(slow: Path) -> None:
    why = package.why(slow, tries=True)
    recommended = {remedy.name for row in why.rows for remedy in remedies.triable(row)}
    names = {row["remedy"] for row in why.tried_rows or []}
    # Two findings may recommend the same in different words.
    assert {"the scheduler ecf", "the other path as a backup"} <= names <= recommended
    assert len(names) >= len(recommended) - 1


def test_a_send_buffer_that_never_grew_is_not_called_too_small_at_most(slow: Path) -> None:
    """A higher maximum gains nothing; one that is large from the start does."""
    why = package.why(slow, tries=True)
    row = one(why.rows, "send_buffer")
    assert "SO_SNDBUF" in row["remedy"]
    (tried,) = tried_for(why, "send_buffer")
    large = ["tcp.send_buffer=16MB", "tcp.send_buffer_tuning=false"]
    assert tried["settings"][:2] == large
    assert tried["gained_s"] > 0.5


@pytest.mark.parametrize(("slower", "beside"), [(5, False), (16, False), (33, True)])
def test_beside_a_far_slower_path_a_larger_send_buffer_alone_is_not_recommended(
    tmp_path: Path, slower: int, beside: bool
) -> None:
    """It fills that path, for which all waits: as a backup it does not."""
    fast = {"rate": "20 Mbit/s", "delay": "15 ms", "queue": "80 ms"}
    slow = {"rate": f"{20_000 // slower} kbit/s", "delay": "20 ms", "queue": "300 ms"}
    downloaded(tmp_path / "run", wifi=fast, lte=slow, tcp={"send_buffer": "40 kB"})
    why = package.why(tmp_path / "run", tries=True)
    (tried,) = tried_for(why, "send_buffer")
    settings = ["tcp.send_buffer=16MB"]
    assert tried["settings"] == settings + (["path.lte.backup=true"] if beside else [])
    comparison = open_comparison(tmp_path / "run")
    trials = Trials(DEFAULT, comparison.mptcp.scenario, (1,), "down")
    assert tried["gained_s"] > 0
    if beside:
        (alone,) = trials.transfers(tuple(settings))
        (both,) = trials.transfers(tuple(tried["settings"]))
        assert both["elapsed_s"] < alone["elapsed_s"]


@pytest.mark.parametrize("buffer", ["40 kB", "100 kB"])
@pytest.mark.parametrize(
    ("slower", "size"), [(2, "4 MB"), (12, "4 MB"), (19, "8 MB"), (33, "8 MB"), (5, "30 MB")]
)
def test_a_send_buffer_that_the_program_set_is_to_grow(
    tmp_path: Path, slower: int, size: str, buffer: str
) -> None:
    """A large one from the start is filled before another path has joined."""
    fast = {"rate": "20 Mbit/s", "delay": "15 ms", "queue": "80 ms"}
    slow = {"rate": f"{20_000 // slower} kbit/s", "delay": "20 ms", "queue": "300 ms"}
    small = {"send_buffer": buffer, "send_buffer_tuning": False}
    table = scenario(BULK | {"size": size}, tcp=small, lte=slow, wifi=fast)
    package.run(table, out=tmp_path / "run", captures="none")
    for row in tried_for(package.why(tmp_path / "run", tries=True), "send_buffer"):
        assert row["settings"][:2] == ["tcp.send_buffer=16MB", "tcp.send_buffer_tuning=true"]
        assert row["gained_s"] > -0.1


@pytest.mark.parametrize(("size", "is_small"), [("220 kB", False), ("100 kB", True)])
def test_a_send_buffer_that_fills_all_paths_is_large_enough(
    tmp_path: Path, size: str, is_small: bool
) -> None:
    """It is full most of the time, and so are the paths."""
    wifi = {"rate": "32 Mbit/s", "delay": "9 ms", "jitter": "1 ms", "queue": "160 kB"}
    lte = {"rate": "19 Mbit/s", "delay": "26 ms", "jitter": "2 ms", "queue": "190 kB"}
    table = scenario(BULK | {"size": "36 MB"}, tcp={"send_buffer": size}, wifi=wifi, lte=lte)
    package.run(table, out=tmp_path / "run", captures="none")
    kinds = {row["kind"] for row in package.why(tmp_path / "run").rows}
    assert ("send_buffer" in kinds) is is_small


def test_what_is_in_force_is_not_recommended(slow: Path) -> None:
    """A scheduler, or a backup, that the run has already."""
    advice = one(package.why(slow).rows, "head_of_line")["remedy"]
    assert advice.startswith("a scheduler that considers delays: ecf; or that path as a backup")
    row = {"remedy": advice}
    backup = {"path": {"lte": {"backup": True}}, "mptcp": {"scheduler": "ecf"}}
    left = remedies.left(row, backup, FindingPaths("lte"), several=True)
    assert left == "a shorter queue on that path"
    # Of one path no scheduler makes more.
    assert "scheduler" not in remedies.left(row, {"path": {}}, FindingPaths("lte"), several=False)
    only = {"remedy": remedies.named("the path manager guard").words}
    there = remedies.left(only, {"mptcp": {"path_manager": "guard"}}, FindingPaths(), several=True)
    assert there.startswith("what helps against it is in force already: a path manager")


@pytest.mark.parametrize(
    ("there", "setting", "has"),
    [
        ({"tcp": {"send_buffer": "64 MB"}}, "tcp.send_buffer=16MB", True),
        ({"tcp": {"send_buffer": "16 MB"}}, "tcp.send_buffer=16MB", True),
        ({"tcp": {"send_buffer": "4194304 B"}}, "tcp.send_buffer=16MB", False),
        ({"mptcp": {"max_subflows": 8}}, "mptcp.max_subflows=4", True),
        ({"mptcp": {"max_subflows": 2}}, "mptcp.max_subflows=4", False),
        ({"tcp": {"receive_buffer_tuning": True}}, "tcp.receive_buffer_tuning=false", False),
    ],
)
def test_a_remedy_lowers_nothing(there: Any, setting: str, has: bool) -> None:
    """What is larger than a remedy has it stays as it is."""
    assert remedies.has(there, setting) is has


def test_a_fixed_buffer_that_is_larger_than_a_remedy_has_it_stays(tmp_path: Path) -> None:
    """A buffer that grows to less is no scenario, and none is made of it."""
    fixed = {"receive_buffer": "40 MB", "receive_buffer_tuning": False}
    table = scenario(mptcp={"path_manager": "single"}, tcp=fixed)
    package.run(table, out=tmp_path / "run", captures="none")
    (tried,) = tried_for(package.why(tmp_path / "run", tries=True), "no_second_path")
    assert tried["gained_s"] > 0
    small = {"tcp": fixed | {"receive_buffer": "300 kB", "max_receive_buffer": "30 MB"}}
    window = remedies.named("a receive buffer that grows, to 25 MB").settings
    assert remedies.lacking(small, window) == ("tcp.receive_buffer_tuning=true",)


def test_a_path_that_carries_next_to_nothing_is_rightly_idle(tmp_path: Path) -> None:
    """The scheduler leaves a path alone that has a twelfth of the other's rate."""
    for rate, is_missed in (("2 Mbit/s", False), ("4 Mbit/s", True)):
        lte = SLOW | {"rate": rate}
        ecf = {"mptcp": {"scheduler": "ecf"}, "tcp": {"send_buffer": "200 kB"}}
        where = downloaded(tmp_path / rate, wifi=WIFI, lte=lte, **ecf)
        run = open_comparison(where)
        assert "capacity_unused" in {row["kind"] for row in run.mptcp.tables.rows("findings")}
        kinds = {row["kind"] for row in package.why(where).rows}
        assert bool(kinds & {"capacity_unused", "path_unused"}) is is_missed


@pytest.mark.parametrize(
    ("size", "tuning", "more"),
    [
        ("40 kB", True, ("tcp.send_buffer=16MB",)),
        ("40 kB", False, ("tcp.send_buffer=16MB", "tcp.send_buffer_tuning=true")),
        ("16 MB", False, ()),
        ("20 MB", True, ()),
    ],
)
def test_a_send_buffer_that_is_as_large_already_need_not_grow(
    size: str, tuning: bool, more: tuple[str, ...]
) -> None:
    has = {"tcp": {"send_buffer": size, "send_buffer_tuning": tuning}}
    assert remedies.lacking(has, remedies.LARGER_SEND_BUFFER.settings) == more


def test_a_path_is_recommended_as_a_backup_where_it_is_many_times_slower() -> None:
    """Of one that is half as fast, what it carries would be lost."""
    slow = {"rate": "2 Mbit/s", "delay": "150 ms", "queue": "2 s"}
    window = {"receive_buffer": "300 kB", "receive_buffer_tuning": False}
    asked = ask(response="843 kB", requests=12, think="56 ms")
    half = {"rate": "3.06 Mbit/s", "delay": "27.3 ms", "queue": "70 ms"}
    near = {"rate": "7.48 Mbit/s", "delay": "19.1 ms", "queue": "102 ms"}
    for table, is_backup in (
        (scenario(wifi=WIFI, lte=slow, mptcp={"scheduler": "round-robin"}, tcp=window), True),
        (scenario(asked, wifi=near, lte=half), False),
    ):
        row = one(found(table), "head_of_line")
        names = [remedy.name for remedy in remedies.triable(row)]
        assert names == ["the scheduler ecf", "that path as a backup"][: 1 + is_backup]


@pytest.mark.parametrize(
    ("sections", "is_redundant"),
    [
        ({"mptcp": {"scheduler": "redundant"}}, True),
        # What time-outs reinject comes twice, too: no other scheduler sends it once.
        (
            {"transfer": ask(response="500 B", think="0 s", requests=80), "wifi": {"loss": "5 %"}},
            False,
        ),
    ],
)
def test_another_scheduler_helps_against_a_redundant_one(
    sections: Table, is_redundant: bool
) -> None:
    wifi = WIFI | sections.pop("wifi", {})
    row = one(found(scenario(**sections, wifi=wifi, lte=LTE)), "reinjection_waste")
    assert ("redundant" in row["remedy"]) is is_redundant


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([], "wifi alone"),
        (["lte"], "the other path as a backup (ip mptcp endpoint change); or wifi alone"),
        (["lte", "dsl"], "the other paths as backups (ip mptcp endpoint change); or wifi alone"),
    ],
)
def test_what_is_slower_than_its_best_path_has_the_others_as_backups(
    others: list[str], words: str
) -> None:
    """Where there are others."""
    run = SimpleNamespace(
        transfer={"elapsed_s": 10.0},
        throughput_mbps=8.0,
        scenario={"path": {name: {} for name in ("wifi", *others)}},
    )
    comparison: Any = SimpleNamespace(
        gain=-0.2,
        best_path="wifi",
        mptcp=run,
        baselines={"wifi": SimpleNamespace(throughput_mbps=10.0, tables=measured())},
    )
    assert [row["remedy"] for row in slower.find(comparison, [])] == [words]


@pytest.mark.parametrize(("alone_s", "left_s"), [(3.0, 2.0), (2.0, 1.0), (0.0, None)])
def test_what_plain_tcp_waits_for_its_application_does_not_explain_why_mptcp_is_slower(
    alone_s: float, left_s: float | None
) -> None:
    """Of 2 s more, only idleness that there was not over the best path alone is another cause."""
    idle = {"kind": "application", "cost_s": 3.0, "confidence": 0.9, "subflow": None}
    best = SimpleNamespace(
        throughput_mbps=10.0, tables=measured(*([idle | {"cost_s": alone_s}] if alone_s else []))
    )
    run = SimpleNamespace(
        transfer={"elapsed_s": 10.0}, throughput_mbps=8.0, scenario={"path": {"wifi": {}}}
    )
    comparison: Any = SimpleNamespace(
        gain=-0.2, best_path="wifi", mptcp=run, baselines={"wifi": best}
    )
    (finding,) = slower.find(comparison, [idle])
    assert finding["cost_s"] == (None if left_s is None else pytest.approx(left_s))


@pytest.mark.parametrize(("mbps", "more"), [(0.0009, ""), (0.0011, ", 1.10 kbit/s more")])
def test_of_a_rate_that_is_next_to_nothing_nobody_speaks(mbps: float, more: str) -> None:
    row: Table = {"connection": 0, "subflow": None, "direction": "down", "kind": "tail_losses"}
    row |= {"from_s": 0.0, "to_s": 9.0, "cost_s": 2.0, "cost_is_minimum": False, "cost_mbps": mbps}
    row |= {"message": "", "evidence": "", "remedy": "", "filter": "", "confidence": 0.9}
    stream = io.StringIO()
    print_all(Page(stream), [row | {"capture": None, "record": None}])
    assert f"without it 2.00 s less{more} · down" in stream.getvalue()


def test_programs_can_open_the_capture_that_a_finding_names(mptcplab: Any, tmp_path: Path) -> None:
    lossy = WIFI | {"loss": "2 %"}
    where = tmp_path / "run"
    table = scenario(BULK | {"size": "6 MB"}, wifi=lossy, lte=WIFI)
    package.run(table, out=where, captures="headers", baselines=False)
    findings = json.loads(mptcplab("why", "--json", str(where)).stdout)["findings"]
    row = one(findings, "losses_random")
    assert Path(row["capture"]).is_file()
    assert f"{row['capture']} packet {row['record']}" in " ".join(
        mptcplab("why", str(where)).stdout.split()
    )
    Path(row["capture"]).unlink()
    gone = one(
        json.loads(mptcplab("why", "--json", str(where)).stdout)["findings"], "losses_random"
    )
    assert (gone["capture"], gone["record"]) == (None, None)


def test_findings_lead_to_what_tries_their_remedies(mptcplab: Any) -> None:
    """What is printed is a command that runs."""
    outage = Path(__file__).parents[2] / "examples" / "outage"
    captures = sorted(map(str, outage.glob("*.pcapng.gz")))
    printed = " ".join(mptcplab("analyze", "--why", *captures).stdout.split())
    assert f"mptcplab why --try {' '.join(captures)} tries what would help" in printed
    assert "why --try" not in mptcplab("why", "--try", *captures).stdout
    # The sender's capture is missing: no model is made of the other.
    client = next(name for name in captures if "client" in name)
    assert "why --try" not in mptcplab("analyze", "--why", client).stdout
    assert "mptcplab why --try client.pcapng" in mptcplab("--help").stdout
