"""Remedies: what a finding recommends is tried, and nothing is recommended that is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import mptcplab as package
from experiments.findings.scenarios import BULK, scenario
from mptcplab import _core
from mptcplab.results.findings import remedies
from mptcplab.results.findings.remedies import OWN, FindingPaths, declared
from mptcplab.results.why import Why
from mptcplab.scenario.scenario import load

Table = dict[str, Any]

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
        resolved = remedy.of(FindingPaths("lte", ("lte",)))
        assert resolved is not None
        assert between not in remedy.words
        assert remedy.name
        settings = [*resolved.settings, *resolved.beside]
        changed = [load(table, settings)[1] != load(table)[1] for table in tables]
        assert any(changed), remedy.name


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


def test_all_that_a_finding_recommends_and_settings_do_is_tried(slow: Path) -> None:
    why = package.why(slow, tries=True)
    recommended = {remedy.name for row in why.rows for remedy in remedies.triable(row)}
    names = {row["remedy"] for row in why.tried_rows or []}
    # Two findings may recommend the same in different words.
    assert {"the scheduler blest", "the scheduler ecf"} <= names <= recommended
    assert len(names) >= len(recommended) - 1


def test_a_send_buffer_that_never_grew_is_not_called_too_small_at_most(slow: Path) -> None:
    """A higher maximum gains nothing; one that is large from the start does."""
    why = package.why(slow, tries=True)
    row = one(why.rows, "send_buffer")
    assert "SO_SNDBUF" in row["remedy"]
    (tried,) = tried_for(why, "send_buffer")
    assert tried["settings"] == ["tcp.send_buffer=16MB", "tcp.send_buffer_tuning=false"]
    assert tried["gained_s"] > 0.5


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


def test_what_is_in_force_is_not_recommended(tmp_path: Path) -> None:
    """A scheduler, or a backup, that the run has already."""
    where = downloaded(tmp_path / "blest", mptcp={"scheduler": "blest"}, **paths(2))
    told = one(package.why(where).rows, "head_of_line")["remedy"]
    assert "blest" not in told
    assert "the scheduler ecf" in told
    row = {"remedy": told}
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


def test_a_path_that_carries_next_to_nothing_is_rightly_idle(tmp_path: Path) -> None:
    """The scheduler leaves a path alone that has a twenty-fifth of the other's rate."""
    where = downloaded(tmp_path / "ecf", mptcp={"scheduler": "ecf"}, **paths(2))
    kinds = {row["kind"] for row in package.why(where).rows}
    assert not kinds & {"capacity_unused", "path_unused"}


def test_programs_can_open_the_capture_that_a_finding_names(mptcplab: Any, tmp_path: Path) -> None:
    lossy = WIFI | {"loss": "2 %"}
    where = tmp_path / "run"
    table = scenario(BULK | {"size": "6 MB"}, wifi=lossy, lte=WIFI)
    package.run(table, out=where, captures="headers", baselines=False)
    told = json.loads(mptcplab("why", "--json", str(where)).stdout)["findings"]
    row = one(told, "losses_random")
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
