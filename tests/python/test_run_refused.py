"""Runs that are refused: nothing is left of them, and a line says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import SMALL

import mptcplab as package
from command import Run
from mptcplab import Error
from mptcplab.results.run import Run as RunDirectory


def test_what_is_refused_leaves_nothing(mptcplab: Run, tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("5\n3\n")
    elements = '[{ element = "trace", trace = "up.trace" }]'
    text = SMALL.partition("[path.wifi]")[0]
    text += f"[link.far]\nuplink = {elements}\ndownlink = {elements}\n"
    (tmp_path / "bad.toml").write_text(text + '[path.far]\nlink = "far"\n')
    done = mptcplab("run", "bad.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        'mptcplab: bad.toml:9:32: link.far.uplink.0.trace: up.trace:2: "3" is before the line above'
        " it\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml", "up.trace"]


def test_what_cannot_be_is_an_error(small: Path, tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"settings path.wifi.rate=1: path.wifi.rate: 1 is not a rate"):
        package.run(small, settings=["path.wifi.rate=1"])
    with pytest.raises(Error, match="the seed is -1"):
        package.run(small, seed=-1)
    with pytest.raises(Error, match="captures is 'some'"):
        package.run(small, captures="some")
    with pytest.raises(Error, match="/dev/null is not a directory"):
        package.run(small, out="/dev/null/x")
    with pytest.raises(Error, match="holds no run"):
        RunDirectory(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run"], "SCENARIO"),
        (["run", "wifi-ltee"], "did you mean wifi-lte?"),
        (["run", "nosuch.toml"], "nosuch.toml: there is no such file"),
        (["run", "wifi-lte", "--seed", "-1"], "--seed: -1 is not a number"),
        (["run", "wifi-lte", "--repeat", "0"], "--repeat: 0 is not a number above 0"),
        (["run", "wifi-lte", "--set", "path.wifi.rat=1"], "did you mean rate?"),
        (["run", "wifi-lte", "--no-captures", "--full-payload"], "not allowed with"),
        (
            ["run", "wifi-lte", "--out", "/dev/null"],
            "/dev/null/mptcp: /dev/null is not a directory",
        ),
        (["scenarios", "wifi"], "no scenario wifi ships; did you mean wifi-lte?"),
        (["links", "lt"], "no link lt ships; did you mean lte?"),
    ],
)
def test_one_line_and_status_2(mptcplab: Run, arguments: list[str], complaint: str) -> None:
    done = mptcplab(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_files_of_others_are_not_replaced(
    tmp_path: Path, mptcplab: Run, ran: Path, refused: str
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    out = tmp_path / "out"
    out.mkdir()
    page = out / "report.html"
    page.write_text("<html>my own</html>")
    arguments = ("run", tmp_path / "small.toml", "--out", out)
    done = mptcplab(*arguments)
    assert done.returncode == 2
    assert (
        done.stderr
        == f"mptcplab: {page} is there and is not a page of mptcplab: move it elsewhere\n"
    )
    assert [path.name for path in out.iterdir()] == ["report.html"]
    said = f"mptcplab: {page} is there and is not a page of mptcplab: move it elsewhere\n"
    for named in (
        ("analyze", refused, "--report", page),
        ("analyze", "no.pcap", "--report", page),
        ("report", ran, "--out", page),
    ):
        done = mptcplab(*named)
        assert (done.returncode, done.stderr) == (2, said)
    assert page.read_text() == "<html>my own</html>"
    for content in ("", None):
        if content is not None:
            (tmp_path / "page.html").write_text(content)
        # An empty file, and then the page that it has become.
        assert mptcplab("report", ran, "--out", tmp_path / "page.html").returncode == 0
    assert mptcplab(*arguments, "--no-report").returncode == 0
    assert mptcplab("report", out).returncode == 2
    assert page.read_text() == "<html>my own</html>"
    page.unlink()
    # Pages of ours are.
    for _ in range(2):
        assert mptcplab(*arguments).returncode == 0
    notes = out / "mptcp" / "tables" / "notes.txt"
    notes.write_text("mine")
    done = mptcplab(*arguments, "--seed", "2", "--force")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "holds tables/notes.txt, which is not part of the run" in done.stderr
    assert notes.read_text() == "mine"
    notes.unlink()
    assert mptcplab(*arguments, "--seed", "2", "--force").returncode == 0
