"""Files of recordings → a directory with a scenario, a link for each path, and their traces."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from mptcplab import quantity, writing
from mptcplab._core import Error
from mptcplab.messages import nearest
from mptcplab.recordings import file as files
from mptcplab.recordings import output, timeline
from mptcplab.recordings.formats import formats
from mptcplab.recordings.formats.generic import becomes
from mptcplab.recordings.path import Assumed, ImportedLink, make
from mptcplab.recordings.recording import DIRECTIONS, Source
from mptcplab.scenario.path import NAME, TAKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo
    from typing import Any

    from mptcplab.recordings.file import File
    from mptcplab.recordings.formats import Format
    from mptcplab.recordings.timeline import Window

# NAME=FILE, NAME/up=FILE, NAME/down=FILE.
NAMED = re.compile(r"([a-z][a-z0-9-]{0,14})?(?:/(up|down))?=(.+)", re.DOTALL)
GENERIC = "csv"
# Words of file names that do not name a network.
PLAIN = {"udp", "tcp", "ping", "all", "data", "trace", "csv", "json", "txt", "out", "log"}
MOST_NAME = 15


@dataclass(frozen=True)
class ImportSettings:
    """How recordings are read, and what replaces figures that they do not have."""

    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo | None = None
    licence: str | None = None
    unaligned: bool = False
    start_s: float = 0
    end_s: float | None = None
    step_s: float = 1
    rate: str = "20 Mbit/s"
    delay: str = "20 ms"
    queue: str = "200 ms"


@dataclass(frozen=True)
class Imported:
    """The links made of recordings, and the scenario with them."""

    #: The directory.
    directory: Path
    window: Window
    paths: list[ImportedLink]
    #: Logs for ``mptcplab annotate``, if the recordings have samples for them.
    radio: Path | None
    positions: Path | None

    @property
    def scenario(self) -> Path:
        """The scenario, which ``run`` takes."""
        return self.directory / output.SCENARIO

    @property
    def began(self) -> str:
        """The start of runs by the clock of the logs, for ``annotate --began``."""
        at_ns = self.window.start_ns
        return f"{at_ns // timeline.SECOND}.{at_ns % timeline.SECOND:09d}".rstrip("0").rstrip(".")

    def document(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {
            "scenario": str(self.scenario),
            "start_ns": self.window.start_ns if self.window.aligned else None,
            "duration_s": self.window.length_ns / timeline.SECOND,
            "aligned": self.window.aligned,
            "radio": self.radio and str(self.radio),
            "positions": self.positions and str(self.positions),
            "paths": {
                one.name: {
                    "link": str(self.directory / f"{one.name}.toml"),
                    "files": [
                        {"file": str(source.path), "format": source.format, "sha256": source.sha256}
                        for source in one.sources
                    ],
                    "measured": one.measured,
                    "assumed": one.assumed,
                    "odd": one.odd,
                }
                for one in self.paths
            },
        }


def import_recordings(arguments: Sequence[str], out: Path, settings: ImportSettings) -> Imported:
    """Make links of recordings, and write them all or nothing.

    Args:
        arguments: Files; ``NAME=FILE`` names its path, ``NAME/up=FILE`` its direction, too.
        out: The directory that the scenario goes into, with what it needs; other files in it stay.
        settings: How to read them.

    Raises:
        Error: A file cannot be read: which line, why, and what to do; or they do not go together.
    """
    _check(settings)
    writing.check(out)
    paths = _paths(arguments, settings)
    window = timeline.window(
        paths, unaligned=settings.unaligned, start_s=settings.start_s, end_s=settings.end_s
    )
    assumed = Assumed(settings.rate, settings.delay, settings.queue)
    least_ns = round(settings.step_s * timeline.SECOND)
    links = [make(name, sources, window, least_ns, assumed) for name, sources in paths.items()]
    texts = output.texts(links, window)
    with tempfile.TemporaryDirectory() as trial:
        output.check(texts, Path(trial))
    with writing.files(out) as new:
        for name, text in texts.items():
            (new / name).write_text(text, "utf-8")
    logs = {
        name: out / name if name in texts else None for name in (output.RADIO, output.POSITIONS)
    }
    return Imported(out, window, links, logs[output.RADIO], logs[output.POSITIONS])


def _check(settings: ImportSettings) -> None:
    known = formats()
    if settings.format is not None and settings.format not in known:
        raise Error(f"there is no format {settings.format!r}: {nearest(settings.format, known)}")
    if settings.columns and settings.format not in (None, GENERIC):
        raise Error(f"--column is for --as {GENERIC}: {settings.format} knows its columns")
    if not 0.001 <= settings.step_s <= 3600:
        raise Error(f"--step is {settings.step_s:g}: it must be from 0.001 to 3600 s")
    for option, kind, value in (
        ("--rate", quantity.RATE, settings.rate),
        ("--delay", quantity.DURATION, settings.delay),
        ("--queue", quantity.DURATION, settings.queue),
    ):
        try:
            kind.parse(value)
        except ValueError as error:
            raise Error(f"{option}: {error}") from error


def _paths(arguments: Sequence[str], settings: ImportSettings) -> dict[str, list[Source]]:
    """Read all files, and sort their recordings by path, in order."""
    if not arguments:
        raise Error("give at least one file to import")
    named = {_parse_argument(argument)[0] for argument in arguments}
    for key in settings.columns:
        of, slash, what = key.partition("/")
        if slash and not (of and what):
            absent = "quantity after" if of else "path before"
            raise Error(f"--column {key}: no {absent} the /: write [PATH/]WHAT=COLUMN")
        if slash and of not in named:
            raise Error(f"--column {key}: no file is given as {of}=FILE")
    paths: dict[str, list[Source]] = {}
    for argument in arguments:
        name, direction, path = _parse_argument(argument)
        file = files.read(path, direction)
        sources = _read(file, replace(settings, columns=_columns(name, file, settings)))
        if name is not None and len(sources) > 1:
            raise Error(
                f"{path}: holds {len(sources)} paths "
                f"({', '.join(str(one.recording.name) for one in sources)}), which "
                f"cannot all be {name}: leave "
                "the name out, or choose one with --where or --column"
            )
        for source in sources:
            path_name = name or _name(source)
            paths.setdefault(path_name, []).append(source)
    return paths


def _parse_argument(argument: str) -> tuple[str | None, str | None, Path]:
    """Give the path's name, the direction and the file in an argument."""
    found = NAMED.fullmatch(argument)
    if found is None or Path(argument).exists():
        return None, None, Path(argument)
    if found[1] in TAKEN or found[1] == Path(output.SCENARIO).stem:
        raise Error(f"{found[1]!r} cannot name a path: choose another name")
    return found[1], found[2], Path(found[3])


def _columns(path: str | None, file: File, settings: ImportSettings) -> dict[str, str]:
    """Give the columns of a path's own, ``PATH/QUANTITY``, over those of all that its file has."""
    every = {key: name for key, name in settings.columns.items() if "/" not in key}
    prefix = f"{path}/"
    own = {
        key.removeprefix(prefix): name
        for key, name in settings.columns.items()
        if key.startswith(prefix)
    }
    if not own:
        return every
    taken = {becomes(key) for key in own}
    rest = {
        key: name
        for key, name in every.items()
        if name in file.columns and becomes(key) not in taken
    }
    return rest | own


def _read(file: File, settings: ImportSettings) -> list[Source]:
    form = _format(file, settings)
    options = files.Options(settings.zone, settings.where, settings.columns)
    try:
        recordings = form.read(file, options)
        if not recordings:
            raise ValueError("no row counts: the file holds none, or --where leaves none", 1)
        for recording in recordings:
            recording.check()
            recording.notes[:0] = file.notes
    except ValueError as error:
        message, line = error.args
        raise Error(f"{file.path}, line {line}: {message}") from error
    licence = settings.licence or form.licence
    return [Source(one, file.path, form.name, licence, file.sha256) for one in recordings]


def _format(file: File, settings: ImportSettings) -> Format:
    known = formats()
    if settings.format is not None:
        return known[settings.format]
    if settings.columns and set(settings.columns.values()) <= set(file.columns):
        return known[GENERIC]
    found = [one for one in known.values() if one.matches(file)]
    # A data set may have a column or two of these names.
    found = [one for one in found if one.name != GENERIC] or found
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(one.name for one in found)
        raise Error(f"{file.path}, line 1: may be {names}: say which with --as")
    absent = [name for name in settings.columns.values() if name not in file.columns]
    if absent and len(file.columns) > 1:
        raise Error(
            f"{file.path}, line 1: there is no column {absent[0]!r} for --column: "
            f"{nearest(absent[0], file.columns)}"
        )
    raise Error(
        f"{file.path}, line 1: is of no format that is known (mptcplab links import "
        "--formats lists them): say "
        "--as NAME, or which column is which with --column"
    )


def _name(source: Source) -> str:
    """Give a name for the path: that in the file, or in its name, in the form of paths' names."""
    plain = {*PLAIN, *(word for direction in DIRECTIONS for word in files.DIRECTIONS[direction])}
    recorded = source.recording.name
    words = files.words_of(recorded) if recorded else []
    words = words or [word for word in files.words_of(source.path.stem) if word not in plain]
    # Numbers of files are mostly times of day.
    words = [word for word in words if not word.isdigit()] or words
    name = "-".join(words)
    if not name[:1].isalpha() or not name.isascii():
        name = "-".join(["path", *(word for word in words if word.isascii())])
    name = name[:MOST_NAME].rstrip("-")
    return f"{name[: MOST_NAME - 2]}-1" if name in TAKEN or not NAME.fullmatch(name) else name
