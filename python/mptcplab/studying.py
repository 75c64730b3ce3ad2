"""Experiments of the papers in, what came of them out."""

from __future__ import annotations

from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines import DEFAULT, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import Any

    from mptcplab.study.running import Begin


def run_study(
    names: str | Sequence[str],
    *,
    out: str | PathLike[str] = "study",
    quick: bool = False,
    engine: str = DEFAULT.name,
    era: str = "2012",
    jobs: int | None = None,
    begin: Begin = lambda *_: None,
) -> dict[str, Any]:
    """Run experiments of the papers, and put every printed number beside ours.

    What is there already is kept, the rest is run.

    Args:
        names: An experiment, several, or ``"all"`` that the engine runs; ``mptcplab study`` lists
            them.
        out: A directory for campaigns, ``results.json``, Parquet, figures and ``study.html``.
        quick: Fewer repetitions.
        engine: What runs them: ``"simulation"``, or another one. Linux (``"kernel"``) runs some.
        era: ``"2012"`` for the papers' stack, ``"current"`` for today's beside it.
        jobs: How many runs at once; if left out one per core.
        begin: Told a campaign's name and number of runs; gives who is told of its progress.

    Returns:
        What ``results.json`` holds.

    Raises:
        Error: There is no such experiment, it cannot be run so, or nothing can be written.
        KeyboardInterrupt: Ctrl-C; all but the last seconds is kept.
    """
    from mptcplab.study.experiment import LINUX, PAPERS, TODAY, Extent
    from mptcplab.study.experiments import chosen
    from mptcplab.study.running import study

    stacks = {PAPERS: (PAPERS,), TODAY: (PAPERS, TODAY)}
    by = named(engine)
    if era not in stacks:
        raise Error(f"there is no era {era}; known: {', '.join(stacks)}")
    if by.linux and era == TODAY:
        raise Error(f"era current goes with the simulation: the {engine} engine has Linux alone")
    experiments = chosen([names] if isinstance(names, str) else names, by)
    extent = Extent(quick, by, (LINUX,) if by.linux else stacks[era])
    return study(experiments, Path(out), extent, jobs=jobs, begin=begin)
