"""The documentation is what the code says."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl
import pytest

import mptcplab
from mptcplab import _core
from mptcplab.cli.main import parser
from mptcplab.scenario import library
from mptcplab.scenario.scenario import load

if TYPE_CHECKING:
    from command import Run

ROOT = Path(__file__).parents[2]


def described(page: str) -> set[str]:
    """The names in the first column of a page's tables."""
    text = (ROOT / "docs" / "reference" / page).read_text()
    rows = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_reference_and_man_page_have_every_command() -> None:
    (commands,) = (one.choices for one in parser()._actions if isinstance(one.choices, dict))
    assert commands is not None
    pages = {
        "docs/reference/command.md": r"^## mptcplab (.+)$",
        "packaging/data/share/man/man1/mptcplab.1": r"^\.SS \\fBmptcplab (.+)\\fR$",
    }
    for page, heading in pages.items():
        text = (ROOT / page).read_text().replace(r"\-", "-")
        assert re.findall(heading, text, re.MULTILINE) == list(commands)


def test_events_are_described() -> None:
    source = (ROOT / "crates/analysis/src").rglob("*.rs")
    named = re.compile(r'Happening::new\("(\w+)"\)')
    known = {name for path in source for name in named.findall(path.read_text())}
    seen = {
        event
        for capture in sorted((ROOT / "examples").glob("*/*.pcapng*"))
        for event in mptcplab.analyze(capture, samples=False).events["event"].unique()
    }
    assert known
    assert (known | seen) - described("events.md") == set()


def test_diagnostics_are_described() -> None:
    named = re.compile(r'(?:diagnostic: |remark\(|push\()\s*(?:\w+(?:\(\w+\))?,\s*)?"([a-z_]+)"')
    source = [
        *(ROOT / "crates/analysis/src").rglob("*.rs"),
        *(ROOT / "crates/sim/src").rglob("*.rs"),
        ROOT / "crates/python/src/diagnostics.rs",
    ]
    known = {name for path in source for name in named.findall(path.read_text())}
    assert {"capture_cut", "not_ip", "midway", "hmac_wrong"} <= known
    assert known - described("diagnostics.md") == set()


def test_what_links_and_endpoints_have_is_described_and_shown() -> None:
    """Every element, queue and policy is in the reference, and in something that ships and runs."""
    reference = (ROOT / "docs" / "reference" / "scenario.md").read_text()
    kinds = "scenarios", "links", "campaigns"
    ships = [library.table(kind, name) for kind in kinds for name in library.names(kind)]
    used = set(values(ships))
    parts = {one["name"] for one in [*_core.elements(), *_core.queues()]}
    policies = {one["name"] for kind in _core.policies().values() for one in kind}
    for name in parts | policies:
        assert re.search(rf"^(### \w+ |\| )`{name}`", reference, re.MULTILINE), name
    assert (parts | policies) - used == set()


def test_the_page_on_own_captures_tells_why_mptcp_is_refused(
    mptcplab: Run, download: list[str]
) -> None:
    page = (ROOT / "docs" / "own-network.md").read_text()
    done = mptcplab("calibrate", *download)
    assert done.returncode == 2
    _, _, reason = done.stderr.strip().split(": ", 2)
    assert reason.startswith("holds MPTCP")
    assert reason in " ".join(page.split())


def values(what: object) -> Iterator[object]:
    """Give all values in tables and lists."""
    inner = what.values() if isinstance(what, dict) else what if isinstance(what, list) else ()
    for one in inner:
        yield from values(one)
        if not isinstance(one, dict | list):
            yield one


def test_who_cites_it_names_this_version() -> None:
    found = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert found is not None
    assert found[1] == mptcplab.__version__


def shown() -> set[str]:
    """What follows ``mptcplab run`` wherever users are shown it."""
    (subparsers,) = (one for one in parser()._actions if isinstance(one.choices, dict))
    helps = [command.format_help() for command in dict(subparsers.choices or {}).values()]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(
        [
            *helps,
            *(page.read_text() for page in pages),
            *(library.text("scenarios", name) for name in library.names("scenarios")),
        ]
    )
    lines = re.findall(r"mptcplab run ((?!-->)\S+(?: (?!-->)[^\s|#`;]+)*)", text)
    known = [*library.names("scenarios"), "mine.toml"]
    return {line for line in lines if line.split()[0] in known}


def test_what_is_shown_can_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(library.text("scenarios", "wifi-lte"))
    lines = shown()
    assert "wifi-lte --set path.wifi.rate=10Mbit/s --set mptcp.congestion_control=olia" in lines
    assert any("--repeat" in line for line in lines)
    for line in sorted(lines):
        options = parser().parse_args(["run", *line.split()])
        load(options.scenario, options.settings)
    for page in ("README.md", "docs/simulation.md"):
        found = re.findall(r'mptcplab\.run\("(.*?)".*settings=(\{.*?\})', (ROOT / page).read_text())
        assert found
        for name, settings in found:
            load(name, json.loads(settings))


def test_the_examples_of_real_networks_are_those_that_are_shipped() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/field.md").read_text(), re.DOTALL)
    for name in ("field.toml", "weeks.toml"):
        shipped = (ROOT / "examples" / name).read_text()
        assert re.sub(r"\A(#.*\n)+\n", "", shipped) in blocks


def test_a_load_that_follows_the_hour_makes_answers_slower() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/scenarios.md").read_text(), re.DOTALL)
    (day,) = (one for one in blocks if one.startswith("# day.toml"))
    run = mptcplab.run(tomllib.loads(day)).mptcp
    assert run.outcome["finished"]
    took = {"night": (0, 7), "office": (8, 17), "evening": (19, 21)}
    means = {
        name: fmean(
            run.responses.filter(pl.col("at_s").is_between(begin * 3600, end * 3600))[
                "response_time_ms"
            ]
        )
        for name, (begin, end) in took.items()
    }
    assert 1.2 * means["night"] < means["office"] < means["evening"]
