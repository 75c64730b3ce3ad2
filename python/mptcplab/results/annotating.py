"""Radio and positions from logs, joined to runs by time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any, TypeAlias

from mptcplab import _core, writing
from mptcplab._core import Error
from mptcplab.results.files import write_parquet
from mptcplab.results.record import sizes
from mptcplab.results.run import ABOUT, Run
from mptcplab.surroundings import logs, moments
from mptcplab.surroundings.coverage import Span, coverage, span_of

Row: TypeAlias = dict[str, Any]

#: Tables of the surroundings of a run.
TABLES = ("radio", "positions")
# Rows so long before and after a run are kept: what is sampled seldom has one at each end.
MARGIN_NS = 10 * 10**9


@dataclass(frozen=True)
class Annotated:
    """An annotated run."""

    #: As it is now.
    run: Run
    #: Of each table, how many rows came from the logs.
    rows: dict[str, int]


def annotate(
    directory: Path,
    *,
    radio: Sequence[Path] = (),
    positions: Sequence[Path] = (),
    path: str | None = None,
    time_zone: str | None = None,
    began: str | None = None,
) -> list[Annotated]:
    """Join logs to a run, or to all runs of ``mptcplab run``, and keep the rows with them.

    Raises:
        Error: A log cannot be read, fits no run, or names another path; or nothing can be written.
    """
    zone = moments.zone(time_zone)
    read = {
        "radio": [row for file in radio for row in logs.read_radio(file, path, zone)],
        "positions": [row for file in positions for row in logs.read_positions(file)],
    }
    if not any(read.values()):
        raise Error("no log was given: --radio or --positions")
    runs = _runs(directory)
    began_ns = None if began is None else _began(began, zone)
    found = [(run, _of_run(run, read, began_ns)) for run in runs]
    if not any(rows for _, own in found for rows in own.values()):
        raise Error(_apart(runs[0], read, began_ns))
    return [_with_rows(run, own, began) for run, own in found]


def _began(text: str, zone: tzinfo | None) -> int:
    try:
        return moments.read(text, zone)
    except ValueError as error:
        raise Error(f"when the run began: {error}") from error


def _runs(directory: Path) -> list[Run]:
    from mptcplab.results.comparison import open_comparison

    return [Run(directory)] if (directory / ABOUT).exists() else open_comparison(directory).runs


def _span(run: Run) -> Span:
    found = span_of(list(run.tables.rows("connections")))
    if found is None:
        raise Error(f"{run.directory} has no connection that a log could be joined to")
    return found


def _of_run(run: Run, read: Mapping[str, list[Row]], began_ns: int | None) -> dict[str, list[Row]]:
    span = _span(run)
    shift_ns = 0 if began_ns is None else span.start_ns - began_ns
    paths = run.scenario.get("path", {})
    for row in read["radio"]:
        if row["path"] not in paths:
            raise Error(
                f"{row['source']}: the run has no path {row['path']!r}, only {', '.join(paths)}"
            )
    first, last = span.start_ns - MARGIN_NS, span.end_ns + MARGIN_NS
    return {
        name: [
            moved
            for row in rows
            if first <= (moved := row | {"at_ns": row["at_ns"] + shift_ns})["at_ns"] <= last
        ]
        for name, rows in read.items()
    }


def _apart(run: Run, read: Mapping[str, list[Row]], began_ns: int | None) -> str:
    span = _span(run)
    times = [row["at_ns"] for rows in read.values() for row in rows]
    start_ns = span.start_ns if began_ns is None else began_ns
    length_ns = span.end_ns - span.start_ns
    return (
        f"no row of the logs is from the time of a run: they go from {_iso(min(times))} to "
        f"{_iso(max(times))}, {run.directory} from {_iso(start_ns)} to "
        f"{_iso(start_ns + length_ns)}; --began says when it began by the clock of the logs"
    )


def _iso(at_ns: int) -> str:
    from datetime import timedelta

    return (moments.EPOCH + timedelta(seconds=at_ns // 10**9)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _with_rows(run: Run, own: Mapping[str, list[Row]], began: str | None) -> Annotated:
    span = _span(run)
    about = dict(run.about)
    annotated = {name: list(about.get("surroundings", {}).get(name, ())) for name in TABLES}
    with writing.directory(run.directory) as new:
        shutil.copytree(run.directory, new, copy_function=_linked, dirs_exist_ok=True)
        for name, rows in own.items():
            sources = {row["source"] for row in rows}
            merged = [row for row in run.tables.rows(name) if row["source"] not in sources]
            merged += [{**row, "at_s": (row["at_ns"] - span.start_ns) / 1e9} for row in rows]
            merged.sort(key=lambda row: (row["at_ns"], row["source"]))
            file = new / "tables" / f"{name}.parquet"
            # It may be the same file as that of the run.
            file.unlink(missing_ok=True)
            write_parquet(_core.rows(name, json.dumps(merged)), file)
            annotated[name] = [one for one in annotated[name] if one["source"] not in sources] + [
                {
                    "source": source,
                    "why": None,
                    "began": began,
                    **coverage([row for row in rows if row["source"] == source], span),
                }
                for source in sorted(sources)
            ]
        about["surroundings"] = annotated
        about["sizes"] = sizes(new)
        (new / ABOUT).unlink()
        (new / ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    return Annotated(Run(run.directory), {name: len(rows) for name, rows in own.items()})


def _linked(source: str, target: str) -> str:
    """Link a file, or copy it where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
