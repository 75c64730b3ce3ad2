"""Runs, whichever engine runs them: run.json, the scenario in full and the tables, as files."""

from __future__ import annotations

import hashlib
import json
import platform
import random
import shutil
import sys
import tempfile
import tomllib
import weakref
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from mptcplab import _core, writing
from mptcplab._core import Error
from mptcplab.engines import DEFAULT
from mptcplab.engines.engine import CAPTURES, Engine, Measured, Programs, Progress, Target, Trial
from mptcplab.results import policies
from mptcplab.results.comparison import Comparison
from mptcplab.results.files import write_parquet
from mptcplab.results.run import ABOUT, ABOUT_SCHEMA, Run
from mptcplab.scenario import long
from mptcplab.scenario.resolved import drawn
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.section import DIRECTIONS


def run(
    engine: Engine,
    scenario: Scenario,
    target: Path,
    *,
    name: str,
    seed: int = 1,
    baseline: str | None = None,
    captures: str = "headers",
    force: bool = False,
    progress: Progress | None = None,
    most_bytes: int | None = None,
    watch: Callable[[Path], None] = lambda _: None,
) -> tuple[Run, bool]:
    """Run a scenario, or plain TCP over its path ``baseline``, into the directory ``target``.

    ``most_bytes`` is the most payload that it may have over real networks; ``watch`` is called with
    the directory in which it is written. Returns the run, and whether it existed already.
    """
    trial = Trial(drawn(scenario, seed), seed, baseline)
    record = _Record(engine, trial, name, captures)
    if record.is_there(target, force=force):
        return Run(target), True
    engine.check(trial.scenario, baseline)
    engine.need(trial.scenario)
    with engine.session(target.parent) as session, writing.directory(target) as new:
        record.begin(new)
        watch(new)
        measured = engine.run(trial, Target(new, session, captures, progress, most_bytes))
        record.complete(new, measured)
    return Run(target), False


def with_baselines(
    name: str,
    scenario: Scenario,
    out: Path,
    *,
    seed: int = 1,
    baselines: bool | None = None,
    captures: str = "headers",
    force: bool = False,
    engine: Engine = DEFAULT,
    owned: OwnedDirectory | None = None,
    begin: Callable[[str], Callable[[int, int], None] | None] = lambda _: None,
    done: Callable[[str, bool], None] = lambda *_: None,
    watch: Callable[[Path], None] = lambda _: None,
) -> Comparison:
    """Run a scenario and its baselines into ``out``.

    All that is returned keeps ``owned``. ``begin`` takes the name of each run and returns what is
    called with its progress; ``done`` takes the name, and whether the run existed already;
    ``watch`` is called with the directory in which each run is written.
    """
    if captures not in engine.captures:
        raise Error(f"captures is {captures!r}; it must be one of {', '.join(engine.captures)}")
    if not 0 <= seed < 2**64:
        raise Error(f"the seed is {seed}; it must be from 0 to 2^64 - 1")
    has_baselines = scenario.run.baselines if baselines is None else baselines
    runs = {}
    paths = [None, *(scenario.paths if has_baselines else ())]
    order = list(paths)
    if engine.visits:
        # No seed brings back the network of another time, so the order need not be repeatable.
        random.shuffle(order)
    for path in order:
        run_name = "mptcp" if path is None else f"tcp-{path}"
        runs[path], existed = run(
            engine,
            scenario,
            out / run_name,
            name=name,
            seed=seed,
            baseline=path,
            captures=captures,
            force=force,
            progress=begin(run_name),
            watch=watch,
        )
        runs[path].tables.owned = owned
        done(run_name, existed)
    baselines_of = {str(path): runs[path] for path in paths if path is not None}
    return Comparison(out, runs[None], baselines_of)


class OwnedDirectory:
    """A directory that is removed once nothing refers to this any more."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="mptcplab-"))
        weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)


def run_programs(
    engine: Engine,
    scenario: Scenario,
    target: Path,
    programs: Programs,
    *,
    name: str,
    seed: int = 1,
    captures: str = "headers",
    force: bool = False,
    begin: Callable[[list[str]], None] = lambda _: None,
    watch: Callable[[Path], None] = lambda _: None,
) -> tuple[Run, int]:
    """Run programs in a scenario; returns the run, and the exit status of the client's program.

    ``begin`` is called with notes for the user once all is ready, before that is started;
    ``watch`` is called with the directory in which the run is written.
    """
    more = {"programs": asdict(programs)}
    record = _Record(engine, Trial(scenario, seed, None), name, captures, more)
    if record.is_there(target, force=force):
        raise Error(f"{target} is there: choose another place (--out) or replace it (--force)")
    with (
        engine.session(target.parent, programs=True) as session,
        writing.directory(target) as new,
    ):
        record.begin(new)
        watch(new)
        measured, status = engine.run_programs(
            record.trial, Target(new, session, captures), programs, name=name, begin=begin
        )
        record.complete(new, measured)
    return Run(target), status


@dataclass
class _Record:
    """One run by an engine, and what distinguishes it from others."""

    engine: Engine
    trial: Trial
    #: Of the scenario.
    name: str
    captures: str
    #: What else must be equal for a run to be the same.
    conditions: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._text = long.write(self.trial.scenario)
        self._started = datetime.now(UTC)

    def is_there(self, target: Path, *, force: bool) -> bool:
        """Say whether this very run is there; refuse to touch what is not ours to replace."""
        return is_there(target, self._identity, force=force)

    def begin(self, directory: Path) -> None:
        """Write the scenario."""
        self._started = datetime.now(UTC)
        (directory / "scenario.toml").write_text(self._text, "utf-8")

    def complete(self, directory: Path, measured: Measured) -> None:
        """Write the tables and ``run.json``."""
        tables = directory / "tables"
        tables.mkdir()
        for name, table in measured.tables.items():
            write_parquet(table, tables / f"{name}.parquet")
        trial = self.trial
        about = {
            "schema": ABOUT_SCHEMA,
            "mptcplab": _core.VERSION,
            "engine": self.engine.name,
            "run": "mptcp" if trial.baseline is None else f"tcp-{trial.baseline}",
            "scenario": self.name,
            "seed": trial.seed,
            "path": trial.baseline,
            "mptcp": trial.mptcp,
            "protocol": trial.protocol,
            "direction": DIRECTIONS[trial.scenario.transfer.direction],
            "identity": self._identity,
            "command_line": sys.orig_argv,
            "platform": platform.platform(),
            "python": platform.python_version(),
            "started": self._started.isoformat(),
            "ended": datetime.now(UTC).isoformat(),
            "outcome": measured.outcome,
            **measured.more,
            "sizes": sizes(directory),
            "sha256": {path.name: _digest(path) for path in sorted(directory.glob("*.pcapng"))},
        }
        about["policies"] = policies.described(about, tomllib.loads(self._text))
        (directory / ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")

    @property
    def _identity(self) -> dict[str, Any]:
        return {
            "scenario": hashlib.sha256(self._text.encode()).hexdigest(),
            "seed": self.trial.seed,
            "path": self.trial.baseline,
            "engine": self.engine.name,
            "version": _core.VERSION,
            "build": build(),
            "captures": self.captures,
            **self.engine.conditions(),
            **self.conditions,
        }


@cache
def build() -> str:
    """Name the build: another one may give other results under the same version."""
    return _digest(Path(_core.__file__))[:16]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_there(target: Path, identity: dict[str, Any], *, force: bool) -> bool:
    """Say whether this very run exists already; refuse to replace anything else.

    One of which files are missing or cut does not count: it is to be run again.
    """
    try:
        about = json.loads((target / ABOUT).read_text("utf-8"))
        stored, stored_sizes = dict(about["identity"]), dict(about["sizes"])
    except (FileNotFoundError, NotADirectoryError):
        if _is_free(target):
            return False
        raise Error(f"{target} is there and is not a run: choose another place (--out)") from None
    except PermissionError as error:
        raise Error(f"cannot read {target}: {error.strerror}") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise Error(f"{target} is there and is not a run: choose another place (--out)") from None
    found = sizes(target)
    same = all(found.get(name) == size for name, size in stored_sizes.items())
    if (force or not same) and (foreign := sorted(found.keys() - stored_sizes.keys())):
        raise Error(
            f"{target} is to be replaced and holds {foreign[0]}, which is not part of the run: "
            "move it elsewhere"
        )
    if force:
        return False
    differ = [
        key for key, value in identity.items() if key != "captures" and stored.get(key) != value
    ]
    captures = stored.get("captures")
    if captures not in CAPTURES or CAPTURES.index(captures) < CAPTURES.index(identity["captures"]):
        differ.append("captures")
    if differ:
        what = " and ".join(differ) + (" differs" if len(differ) == 1 else " differ")
        raise Error(
            f"{target} holds another run (its {what}): choose another place (--out) or replace it "
            "(--force)"
        )
    return same


def sizes(run: Path) -> dict[str, int]:
    """Give the bytes of each file of a run, except ``run.json``."""
    files = (path for path in sorted(run.rglob("*")) if path.is_file() and path != run / ABOUT)
    return {str(path.relative_to(run)): path.stat().st_size for path in files}


def _is_free(target: Path) -> bool:
    writing.check(target)
    return not target.exists() or not any(target.iterdir())
