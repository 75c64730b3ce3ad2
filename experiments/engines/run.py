"""Runs every case with both engines, and keeps the figures: ``python -m experiments.engines.run DIR``.

They go to ``simulation.json`` and ``kernel.json`` beside this file, of which ``docs/generate.py`` draws the tables of the
documentation. The kernel's captures stay in ``DIR``: ``--measure-again`` takes its figures from them anew.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

from experiments import pool
from experiments.engines.case import Case
from experiments.engines.cases import CASES
from mptcplab import _core
from mptcplab.engines import named
from mptcplab.engines.engine import Engine
from mptcplab.results.run import Run
from mptcplab.scenario.plan import planned_transfer
from mptcplab.scenario.scenario import load

ENGINES = ("simulation", "kernel")
HERE = Path(__file__).parent
CAPTURES = ["client.pcapng", "server.pcapng"]
OF_TRANSFER = (
    "throughput_mbps",
    "elapsed_s",
    "response_time_ms_mean",
    "message_delay_ms_mean",
    "rtt_ms_mean",
    "rtt_ms_p95",
    "longest_gap_ms",
    "out_of_order_delay_ms_mean",
    "reinjected_bytes",
)


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("directory", type=Path, help="where figures of single runs are kept")
    parser.add_argument("--repeat", type=int, help="runs of each case, if not as many as it says")
    parser.add_argument("--at-once", type=int, default=4, help="runs at once")
    parser.add_argument("--only", default="", help="regular expression: cases to run")
    parser.add_argument(
        "--engine", choices=ENGINES, help="only of this one; those of the other stay"
    )
    parser.add_argument(
        "--measure-again", action="store_true", help="forget the figures, not the kernel's runs"
    )
    parser.add_argument(
        "--not-later-than",
        type=float,
        nargs=2,
        metavar=("P99", "MAX"),
        help="make the kernel's runs again whose emulator was later, in ms: one time of a hundred, or once",
    )
    given = parser.parse_args()
    cases = [case for case in CASES if re.search(given.only, case.name)]
    for engine in (given.engine,) if given.engine else ENGINES:
        for case in cases:
            for kept in (given.directory / directory_name(case) / engine).glob("*.json"):
                _forget(kept, given.not_later_than, measured=given.measure_again)
        _run(engine, cases, given.directory, given.at_once, given.repeat)


def _forget(kept: Path, most_ms: list[float] | None, *, measured: bool) -> None:
    """Forget figures that are to be taken again, and a run that was made too late."""
    figures = json.loads(kept.read_text())
    late_ms = [figures["late_ms_p99"], figures["late_ms_max"]]
    is_late = any(
        late is not None and late > most for late, most in zip(late_ms, most_ms or [], strict=False)
    )
    if is_late:
        shutil.rmtree(kept.with_suffix(""), ignore_errors=True)
    if is_late or measured:
        kept.unlink()


def _run(engine: str, cases: list[Case], directory: Path, at_once: int, repeat: int | None) -> None:
    """Run them with one engine; the first seeds of all come first."""
    by = named(engine)
    most = repeat or max((case.runs(by) for case in cases), default=0)
    jobs = {
        (case.name, seed): job(case, by, seed)
        for seed in range(1, most + 1)
        for case in cases
        if seed <= (repeat or case.runs(by))
    }
    done = pool.run(jobs.values(), directory, at_once)
    file = HERE / f"{engine}.json"
    results = json.loads(file.read_text()) if file.exists() else {"cases": {}}
    results |= by.conditions()
    for case in cases:
        results["cases"][case.name] = [
            done[job] for (name, _), job in jobs.items() if name == case.name and job in done
        ]
    file.write_text(json.dumps(results, indent=1) + "\n")


def job(case: Case, engine: Engine, seed: int) -> pool.Job:
    """Give one run: those in real time take long, and stay."""
    return pool.Job(
        directory_name(case),
        case.text,
        engine.name,
        seed,
        Figures(case.first, _messages(case)),
        is_kept=engine.real_time,
    )


def _messages(case: Case) -> dict[str, Any] | None:
    """Give the transfer if it consists of messages, whose delays are measured."""
    transfer = load(tomllib.loads(case.text))[1].transfer
    return planned_transfer(transfer) if transfer.application == "constant-bit-rate" else None


def directory_name(case: Case) -> str:
    """Name the directory of a case."""
    return re.sub(r"[^a-z0-9.]+", "-", case.name.lower()).strip("-")


class Figures:
    """Takes what is compared from the captures of a run, as they are measured today."""

    def __init__(self, first: str, messages: dict[str, Any] | None) -> None:
        self._first = first
        self._messages = messages

    def __call__(self, run: Run) -> pool.Figures:
        """Give the figures."""
        run.tables = _core.analyze(  # type: ignore[assignment]
            CAPTURES, directory=run.directory, one_clock=True, transfer=self._messages
        )
        transfer = run.transfer or {}
        return {key: _rounded(transfer.get(key)) for key in OF_TRANSFER} | {
            "loss_rate_percent": _rounded(run.loss_rate_percent),
            "share_percent": _rounded(100 * self._share(run, transfer)),
        }

    def _share(self, run: Run, transfer: pool.Figures) -> float:
        connection, direction = transfer.get("connection"), transfer.get("direction")
        paths = {
            row["subflow"]: row["path"]
            for row in run.tables.rows("subflows", connection=connection)
        }
        return sum(
            flow["share"] or 0
            for flow in run.tables.rows("flows", connection=connection)
            if flow["direction"] == direction and paths[flow["subflow"]] == self._first
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


if __name__ == "__main__":
    main()
