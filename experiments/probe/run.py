"""Every middlebox and every control, probed over emulated links: the confusion matrix of docs/probe.md.

    python -m experiments.probe.run [CASE ...]

Each case is probed three times.

Two network namespaces are joined by a path with one box; ``mptcplab serve`` answers in one, ``mptcplab probe`` asks
in the other. What came is kept in ``probes.json`` beside this file, and the table is written into the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from experiments.probe.cases import CASES, Case
from experiments.probe.table import write

KEPT = Path(__file__).with_name("probes.json")
AT_A_TIME = 4
TIMES = 3
SECONDS = 400
IDLE_SECONDS = 12
MPTCPLAB = f"{sys.executable} -m mptcplab"
SERVE = f"{MPTCPLAB} serve --name server --state state --probe-port 7444 --probe-port 80"


def prepared(case: Case, directory: Path, idle_seconds: int = IDLE_SECONDS) -> list[str]:
    """Write what a case needs into a directory; gives the arguments of ``mptcplab`` that probe it there."""
    return line_of(directory, case.toml(), idle_seconds=idle_seconds, beside=case.beside)


def line_of(
    directory: Path, scenario: str, *, idle_seconds: int, beside: bool = False, serve: str = SERVE
) -> list[str]:
    """Write a scenario and what runs at its ends into a directory; gives the arguments that probe there."""
    (directory / "path.toml").write_text(scenario, "utf-8")
    paths = "--path wifi --path lte" if beside else "--path wifi"
    scripts = {
        "serve.sh": f"{serve} > line",
        "probe.sh": f"until [ -s line ]; do sleep 0.1; done; {MPTCPLAB} probe $(cat line) "
        f"--token state/token {paths} --json --idle {idle_seconds}",
    }
    for script, line in scripts.items():
        (directory / script).write_text(line + "\n", "utf-8")
    shell = ["shell", "path.toml", "--no-captures", "--out", "run"]
    return [*shell, "--serve", "sh serve.sh", "--", "sh", "probe.sh"]


def of_first_path(printed: str) -> list[dict[str, Any]]:
    """Read what ``--json`` printed."""
    found: list[dict[str, Any]] = json.loads(printed)["probes"]
    return [row for row in found if row["path"] == "wifi"]


def probe(case: Case) -> list[dict[str, Any]]:
    """Probe a path with this box."""
    with tempfile.TemporaryDirectory() as directory:
        return of_first_path(probed(prepared(case, Path(directory)), directory, SECONDS))


def probed(arguments: list[str], directory: str, seconds: int) -> str:
    """Run ``mptcplab`` with these words there; gives what it printed."""
    done = subprocess.run(
        [*MPTCPLAB.split(), *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr[-2000:]}")
    return done.stdout


def keep(kept: dict[str, list[list[dict[str, Any]]]]) -> None:
    """Write what was found, a line for each run; in the order of the cases, and without its time."""
    lines = [
        f" {json.dumps(case.name)}: [\n  " + ",\n  ".join(map(_line, kept[case.name])) + "\n ]"
        for case in CASES
        if case.name in kept
    ]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _line(run: list[dict[str, Any]]) -> str:
    return json.dumps([{key: row[key] for key in row if key != "at_ns"} for row in run])


def main() -> None:
    """Probe the cases that are named, or all, and write the table."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() and sys.argv[1:] else {}
    wanted = [case for case in CASES if not sys.argv[1:] or case.name in sys.argv[1:]]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        tries = [(case, [pool.submit(probe, case) for _ in range(TIMES)]) for case in wanted]
        for case, times in tries:
            runs = [one.result() for one in times]
            for rows in runs:
                verdicts = [
                    f"{row['probe']}: {row['verdict']}" for row in rows if row["verdict"] != "clear"
                ]
                print(case.name, verdicts, flush=True)
            kept[case.name] = runs
            keep(kept)
    write(kept)


if __name__ == "__main__":
    main()
