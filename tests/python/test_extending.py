"""What docs/extending.md shows works where it belongs: in a copy of the project."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extending.md"
# It stays between runs, so that cargo compiles only what has changed.
COPY = ROOT / "build" / "extending"
COPIED = ("Cargo.toml", "Cargo.lock", "clippy.toml", "rust-toolchain.toml")
CODE = re.compile(
    r"<!-- (new|into|is in|prints|runs):(.*?) -->\n```\w+\n(.*?)^```$", re.DOTALL | re.M
)
INTO = re.compile(r"(\S+), (before|after): (.*)")


class Example(NamedTuple):
    """A block of the page, and what is to be done with it."""

    act: str
    what: str
    code: str


def examples(*acts: str) -> list[Example]:
    return [
        one
        for found in CODE.findall(PAGE.read_text())
        if (one := Example(found[0], found[1].strip(), found[2])).act in acts
    ]


def inserted(text: str, side: str, anchor: str, code: str) -> str:
    """Put the code beside every line that is the anchor, as far indented."""
    lines = []
    for line in text.splitlines(keepends=True):
        beside = [line]
        if line.strip() == anchor:
            blank = line[: len(line) - len(line.lstrip())]
            beside.insert(0 if side == "before" else 1, indent(code, blank))
        lines += beside
    assert "".join(lines) != text, f"no line is {anchor!r}"
    return "".join(lines)


def sources() -> Iterator[Path]:
    yield from (ROOT / name for name in COPIED)
    for directory in ("crates", "python"):
        files = (ROOT / directory).rglob("*")
        yield from (file for file in files if file.is_file() and "__pycache__" not in file.parts)


@pytest.fixture(scope="module")
def copy() -> Path:
    """The project, with all examples in their places."""
    files = {str(file.relative_to(ROOT)): file.read_bytes() for file in sources()}
    for act, what, code in examples("new", "into"):
        if act == "new":
            assert what not in files, f"{what} is there already"
            files[what] = code.encode()
        else:
            match = INTO.fullmatch(what)
            assert match, what
            path, side, anchor = match.groups()
            files[path] = inserted(files[path].decode(), side, anchor, code).encode()
    # cargo takes crates of one version for the same, wherever they are: what it has built of the
    # project is not to stand for the copy, nor the other way round.
    for name in ("Cargo.toml", "Cargo.lock"):
        files[name] = files[name].replace(b'version = "0.1.0"', b'version = "0.1.0-copy"')
    for old in COPY.rglob("*"):
        if old.is_file() and str(old.relative_to(COPY)) not in files:
            old.unlink()
    for path, content in files.items():
        file = COPY / path
        if not file.exists() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return COPY


def test_the_page_has_an_example_of_each() -> None:
    policies = ["congestion", "scheduler", "path_manager", "settings"]
    about = [*policies, "elements", "metrics", "findings", "mptcp", "applications", "cli", "charts"]
    written = " ".join(one.what for one in examples("new"))
    assert [name for name in about if name not in written] == []


def test_code_that_is_quoted_is_there() -> None:
    for _, path, code in examples("is in"):
        assert code in (ROOT / path).read_text(), path


def test_rust_compiles_and_its_tests_pass(copy: Path) -> None:
    # With the features that all tests of Rust have: what they built of the registry is shared.
    command = ["cargo", "test", "--quiet", "--locked", "--workspace", "--exclude", "python"]
    command += ["--test", "example_*"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = sum(map(int, re.findall(r"(\d+) passed", done.stdout)))
    assert ran == sum(one.code.count("#[test]") for one in examples("new"))


def test_commands_do_what_the_page_says(copy: Path, tmp_path: Path) -> None:
    path = os.pathsep.join([str(copy / "python"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "COLUMNS": "160"}
    start = "from mptcplab.cli.main import main; main()"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for act, line, shown in examples("prints", "runs"):
        for given in [line] if act == "prints" else shown.splitlines():
            command = [sys.executable, "-c", start, *shlex.split(given)[1:]]
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            assert act == "runs" or done.stdout == shown
