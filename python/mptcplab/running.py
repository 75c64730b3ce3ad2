"""Scenarios in, runs out."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines import DEFAULT, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import Any

    from mptcplab.engines.engine import Engine
    from mptcplab.results.comparison import Comparison
    from mptcplab.scenario.scenario import Scenario


def run(
    scenario: str | PathLike[str] | dict[str, Any],
    *,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    settings: Sequence[str] = (),
    baselines: bool | None = None,
    captures: str | None = None,
    force: bool = False,
    engine: str = DEFAULT.name,
) -> Comparison:
    """Run a scenario with MPTCP, and with plain TCP over each of its paths.

    Args:
        scenario: A file, the name of a scenario that ships, or the scenario as a dictionary.
        seed: Runs with the same seed meet the same radio conditions.
        out: Where the run directories go. Those that are there already from the same scenario,
            seed and version are not run again. If left out, they live as long as what is returned.
        settings: Changes to the scenario, such as ``"path.wifi.rate=10 Mbit/s"``.
        baselines: Whether to run plain TCP too; if left out, as the scenario says.
        captures: ``"none"``, ``"headers"`` or ``"full"`` (payload too). If left out ``"headers"``
            with ``out`` and ``"none"`` without.
        force: Replace other runs in ``out``.
        engine: What runs it: ``"simulation"``, in virtual time, or another one, such as
            ``"kernel"``: Linux's own MPTCP, in real time.

    Raises:
        ScenarioError: The scenario cannot be, or not with this engine; says where and why.
        Error: Something cannot be written or is there already, or this machine forbids it.
        KeyboardInterrupt: Ctrl-C; finished runs are kept, nothing is left of the others.
    """
    from mptcplab.scenario.scenario import load

    chosen = named(engine)
    name, read = load(scenario, list(settings))
    if out is not None:
        return compare(
            name,
            read,
            Path(out),
            seed=seed,
            baselines=baselines,
            captures=captures or "headers",
            force=force,
            engine=chosen,
        )
    keeper = Keeper()
    return compare(
        name,
        read,
        keeper.directory,
        seed=seed,
        baselines=baselines,
        captures=captures or "none",
        engine=chosen,
        keeper=keeper,
    )


class Keeper:
    """A directory that goes when nobody holds this any more."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="mptcplab-"))
        weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)


def compare(
    name: str,
    scenario: Scenario,
    out: Path,
    *,
    seed: int = 1,
    baselines: bool | None = None,
    captures: str = "headers",
    force: bool = False,
    engine: Engine = DEFAULT,
    keeper: Keeper | None = None,
    begin: Callable[[str], Callable[[int, int], None] | None] = lambda _: None,
    done: Callable[[str, bool], None] = lambda *_: None,
) -> Comparison:
    """Run a scenario and its baselines into ``out``.

    ``keeper`` is held by all that is returned. ``begin`` is told the name of each run and gives who
    is told of its progress; ``done`` is told the name, and whether the run was there already.
    """
    from mptcplab.results import record
    from mptcplab.results.comparison import Comparison

    if captures not in engine.captures:
        raise Error(f"captures is {captures!r}; it must be one of {', '.join(engine.captures)}")
    if not 0 <= seed < 2**64:
        raise Error(f"the seed is {seed}; it must be from 0 to 2^64 - 1")
    wanted = scenario.run.baselines if baselines is None else baselines
    runs = {}
    for path in (None, *(scenario.paths if wanted else ())):
        what = "mptcp" if path is None else f"tcp-{path}"
        runs[path], there = record.run(
            engine,
            scenario,
            out / what,
            name=name,
            seed=seed,
            baseline=path,
            captures=captures,
            force=force,
            progress=begin(what),
        )
        runs[path].keeper = keeper
        done(what, there)
    mptcp = runs.pop(None)
    return Comparison(out, mptcp, {str(path): run for path, run in runs.items()})
