"""A transfer over several paths beside plain TCP over each of them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from mptcplab import pages
from mptcplab._core import Error
from mptcplab.results.run import ABOUT, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.charts.paper.paper import Paper

# Version of the document.
SCHEMA = 1


def open_comparison(directory: Path | str) -> Comparison:
    """Open what ``mptcplab run`` left: the run with MPTCP and the baselines that are there."""
    root = Path(directory)
    if not (root / "mptcp" / ABOUT).exists():
        raise Error(f"{directory} holds neither a run nor what mptcplab run leaves")
    mptcp = Run(root / "mptcp")
    directories = {path: root / f"tcp-{path}" for path in mptcp.scenario["path"]}
    baselines = {path: Run(run) for path, run in directories.items() if (run / ABOUT).exists()}
    return Comparison(root, mptcp, baselines)


class Comparison:
    """The run with MPTCP, and the baselines under the same radio conditions."""

    def __init__(self, directory: Path, mptcp: Run, baselines: dict[str, Run]) -> None:
        self.directory = directory
        self.mptcp = mptcp
        #: Plain TCP over each path, by the path's name.
        self.baselines = baselines

    @property
    def runs(self) -> list[Run]:
        """All runs, MPTCP first."""
        return [self.mptcp, *self.baselines.values()]

    @property
    def best_path(self) -> str | None:
        """The path with the highest throughput of plain TCP, of those that finished."""
        finished = {
            path: run.throughput_mbps
            for path, run in self.baselines.items()
            if run.outcome["finished"] and run.throughput_mbps is not None
        }
        return max(finished, key=lambda path: finished[path] or 0.0, default=None)

    @property
    def gain(self) -> float | None:
        """Gain of MPTCP's throughput over the best single path; 0.25 means 25 % more."""
        best = None if self.best_path is None else self.baselines[self.best_path].throughput_mbps
        own = self.mptcp.throughput_mbps
        if not best or own is None or not self.mptcp.outcome["finished"]:
            return None
        return own / best - 1

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """Write the page of the runs, as ``mptcplab.write_report`` does, and return its path."""
        return pages.write(self, path)

    def document(self) -> dict[str, Any]:
        """Give everything as one document."""
        from mptcplab.results.findings import findings

        return {
            "schema": SCHEMA,
            "scenario": self.mptcp.about["scenario"],
            "seed": self.mptcp.about["seed"],
            "directory": str(self.directory),
            "best_path": self.best_path,
            "gain": self.gain,
            "findings": findings(self),
            "runs": {run.name: run.document() for run in self.runs},
        }

    def plot(self, kind: str = "throughput", **choices: Any) -> Paper:
        """Draw a figure, ``throughput`` unless asked for another, as ``mptcplab.figure`` does."""
        return pages.draw(kind, self, **choices)

    def _repr_html_(self) -> str:
        return pages.html(self)

    def __repr__(self) -> str:
        return f"<mptcplab.Comparison of {self.mptcp.about['scenario']} in {self.directory}>"
