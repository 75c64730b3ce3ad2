"""Many runs, some at a time: those in real time by a ``mptcplab run`` each. Figures are kept: interrupt it, and go on later."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mptcplab
from mptcplab.engines import named
from mptcplab.results.run import Run

COMMAND = [sys.executable, "-m", "mptcplab", "run"]

Figures = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One run of a scenario, given as TOML, and what is taken from it."""

    name: str
    scenario: str
    engine: str
    seed: int
    figures: Callable[[Run], Figures]
    # Whether the run directory stays, so that its figures can be taken again.
    is_kept: bool = False

    def run(self, directory: Path) -> Figures:
        """Give its figures and its outcome, from the last time where that is known."""
        out, kept = self.out(directory), self._kept(directory)
        if kept.exists():
            figures: Figures = json.loads(kept.read_text())
            return figures
        if not (out / "done").exists():
            self._make(out)
        run = Run(out / "run" / "mptcp")
        figures = self.figures(run) | {"outcome": run.outcome["reason"]} | late(run)
        return self.keep(directory, figures)

    def keep(self, directory: Path, figures: Figures) -> Figures:
        """Keep what is taken from it, and the run if that is asked for; gives the same."""
        self._kept(directory).write_text(json.dumps(figures))
        if not self.is_kept:
            shutil.rmtree(self.out(directory))
        return figures

    def out(self, directory: Path) -> Path:
        """Say where it is made."""
        return directory / self.name / self.engine / str(self.seed)

    def forget(self, directory: Path) -> None:
        """Forget it, so that it is made again."""
        shutil.rmtree(self.out(directory), ignore_errors=True)
        self._kept(directory).unlink(missing_ok=True)

    def _kept(self, directory: Path) -> Path:
        return self.out(directory).with_suffix(".json")

    def _make(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        file = out / "scenario.toml"
        file.write_text(self.scenario, "utf-8")
        if named(self.engine).real_time:
            self._command(file, out / "run")
        else:
            # A process of its own would import for longer than many a run takes.
            mptcplab.run(
                file,
                engine=self.engine,
                seed=self.seed,
                baselines=False,
                out=out / "run",
                force=True,
            )
        (out / "done").touch()

    def _command(self, file: Path, out: Path) -> None:
        what = [str(file), "--engine", self.engine, "--seed", str(self.seed), "--no-baselines"]
        done = subprocess.run(
            [*COMMAND, *what, "--out", str(out), "--force"], capture_output=True, text=True
        )
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise RuntimeError(f"exit status {done.returncode}: {reason[0]}")


def late(run: Run) -> Figures:
    """Give how late the emulator was for 1 % of what it had to do, and at most, at the worst link; none in virtual time."""
    links = run.about.get("emulator", {}).get("links", {}).values()
    return {
        f"late_ms_{name}": max(
            (link["lateness"][f"{name}_ns"] / 1e6 for link in links), default=None
        )
        for name in ("p99", "max")
    }


def run(jobs: Iterable[Job], directory: Path, at_once: int) -> dict[Job, Figures]:
    """Run them; one that fails is reported and left out."""
    found = {}
    with ThreadPoolExecutor(at_once) as pool:
        waiting = {pool.submit(job.run, directory): job for job in jobs}
        for number, done in enumerate(as_completed(waiting), 1):
            job = waiting[done]
            try:
                found[job] = done.result()
                outcome = found[job]["outcome"]
            except (RuntimeError, mptcplab.Error) as error:
                outcome = f"FAILED: {error}"
            what = f"{job.name} · {job.engine} · seed {job.seed}"
            print(f"{number} of {len(waiting)}  {what}  {outcome}", file=sys.stderr, flush=True)
    return found
