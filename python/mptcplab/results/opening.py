"""What a directory or a file holds: a run, runs that belong together, a campaign, or captures."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from os import PathLike
from pathlib import Path

from mptcplab._core import Error
from mptcplab.analysis import Analysis
from mptcplab.messages import close
from mptcplab.reading import accessible, dangling
from mptcplab.results.campaign import ABOUT as CAMPAIGN
from mptcplab.results.campaign import Campaign
from mptcplab.results.comparison import Comparison, open_comparison
from mptcplab.results.measured import measure
from mptcplab.results.run import ABOUT, Run
from mptcplab.sources.reading import is_known

CAPTURE = re.compile(r".*\.(pcap|pcapng|cap)(\.gz|\.zst)?", re.IGNORECASE)


@accessible()
def opened(
    source: str | PathLike[str],
    *,
    samples: bool = False,
    from_seconds: float = 0.0,
    to_seconds: float | None = None,
) -> Run | Comparison | list[Comparison] | Campaign | Analysis:
    """Open a run, a comparison, one per seed (``run --repeat``), a campaign, or captures.

    The captures of a directory are taken as one, beside files of other tools; samples of captures
    are left out unless asked for, and so is what is before or after a part of the time.
    """
    path = Path(source)
    part = {"from_seconds": from_seconds, "to_seconds": to_seconds}
    if path.is_file():
        return Analysis(measure(path, samples=samples, **part))
    if not path.is_dir():
        raise missing(path)
    found = _results(path)
    if found is not None:
        if from_seconds or to_seconds is not None:
            raise Error(f"{source} holds runs: a part (from, to) is chosen of captures alone")
        return found
    if files := sorted(file for file in path.iterdir() if _is_measurable(file)):
        return Analysis(measure(files, samples=samples, **part))
    raise Error(
        f"{source} holds no runs, no campaign and no captures, nor files of tools that are known"
    )


@accessible()
def left_out(directory: Path) -> list[str]:
    """Name the files beside captures that are of no tool that is known, other than pages."""
    if not directory.is_dir() or _results(directory) is not None:
        return []
    return sorted(
        file.name
        for file in directory.iterdir()
        if file.is_file()
        and not file.name.startswith(".")
        and file.suffix != ".html"
        and not _is_measurable(file)
    )


def missing(path: Path) -> Error:
    """Say that it is not there, and which one beside it has nearly its name."""
    if nowhere := dangling(path):
        return Error(nowhere)
    if os.path.lexists(path):
        return Error(f"{path} is neither a file nor a directory")
    meant = ""
    with suppress(OSError):
        if near := close(path.name, (one.name for one in path.parent.iterdir())):
            meant = f"; did you mean {path.parent / near}?"
    return Error(f"{path}: no such file or directory{meant}")


def _results(path: Path) -> Run | Comparison | list[Comparison] | Campaign | None:
    """Open what commands of ours left in a directory, if they did."""
    if (path / ABOUT).exists():
        return Run(path)
    if (path / CAMPAIGN).exists():
        return Campaign(path)
    if _is_comparison(path):
        return open_comparison(path)
    if seeds := sorted(filter(_is_comparison, path.iterdir()), key=_in_order):
        return [open_comparison(seed) for seed in seeds]
    return None


def _is_measurable(file: Path) -> bool:
    """Say whether it is a capture by its name, or of another tool by its content."""
    return CAPTURE.fullmatch(file.name) is not None or is_known(file)


def _is_comparison(directory: Path) -> bool:
    return (directory / "mptcp" / ABOUT).exists()


def _in_order(path: Path) -> tuple[int, str]:
    """Seed 10 comes after seed 9."""
    return (int(path.name) if path.name.isdecimal() else 0, path.name)
