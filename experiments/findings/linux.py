"""Provoke findings with Linux, in real time: ``python -m experiments.findings.linux [KIND ...]``.

Runs the scenarios of each kind, or of those named, with the kernel engine and keeps in ``linux.json`` what was found, what it
cost by the run without the fault, or why Linux cannot. It needs root. What is kept already is not run again.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mptcplab
from experiments.findings import views
from experiments.findings.provoked import Case, provoked
from experiments.findings.run import cost, found
from experiments.findings.scenarios import Table, scenario
from experiments.guard.scenarios import LASTS_S
from experiments.guard.scenarios import Case as Lossy
from mptcplab.results.comparison import Comparison

RESULTS = Path(__file__).parent / "linux.json"
# No transfer is longer.
LONGEST_S = 30
# Of runs in which a receiver may stop for good.
MOST_TRIES = 12
LOST = """\
schema = 1
transfer = {{ size = "1 MB" }}
path.wifi = {{ rate = "20 Mbit/s", delay = "12 ms", queue = "60 ms" }}
path.lte = {{ rate = "12 Mbit/s", delay = "25 ms", queue = "100 ms" }}
timeline = [
    {{ at = "4 s", path = "wifi", verb = "blackout" }},
    {{ at = "{back_s} s", path = "wifi", verb = "restore" }},
]
"""


def bounded(table: Table | None) -> Table | None:
    """Bound how long a scenario takes."""
    return table and copy.deepcopy(table) | {"run": {"stop": f"{LONGEST_S} s"}}


def tried(case: Case) -> dict[str, Any]:
    """Run a scenario with Linux; give kinds with their costs, and the true one, or why it cannot."""
    try:
        result = found(bounded(case.table) or {}, 1, view=case.view, engine="kernel")
    except mptcplab.Error as error:
        return {"found": None, "why": str(error).splitlines()[0]}
    result["true_cost_s"] = None
    # Linux may have the fault, and not what takes it away.
    with suppress(mptcplab.Error):
        result["true_cost_s"] = cost(result["elapsed_s"], bounded(case.without), engine="kernel")
    return result


def limits() -> Iterator[Case]:
    """Joins beyond what Linux lets a server take: an endpoint of ours asks for more than 8."""
    for subflows in (10, 11, 12):
        table = scenario(
            mptcp={
                "path_manager": "ndiffports",
                "path_manager_parameters": {"subflows": subflows},
                "max_subflows": subflows,
            }
        )
        yield Case("join_limit", table | {"client": {"stack": "mptcplab"}}, view=views.counted)


def stuck() -> Iterator[dict[str, Any]]:
    """Run a paced transfer over a path that loses a fifth of its packets, until it stopped for good three times: chance decides."""
    table = tomllib.loads(Lossy("20 % lost", "paced download").text("linux"))
    stopped = 0
    for seed in range(1, MOST_TRIES + 1):
        result = found(bounded(table) or {}, seed, engine="kernel")
        if result["elapsed_s"] < LASTS_S - 1:
            stopped += 1
            yield result | {"true_cost_s": None}
        if stopped == 3:
            return


def forgetful(back_s: float) -> dict[str, Any]:
    """Lose the first three SYNs of a connection, after which Linux leaves MPTCP out; the next begins without."""
    # The first begins where the path goes: Linux blames MPTCP if the first SYN without it is answered.
    wait = "while curl --silent --max-time 0.5 --output /dev/null http://server:8000/; do :; done"
    fetch = "curl --silent --max-time 20 --output /dev/null http://server:8000/"
    with TemporaryDirectory() as directory:
        (Path(directory) / "large").write_bytes(bytes(3_000_000))
        (Path(directory) / "lost.toml").write_text(LOST.format(back_s=back_s), "utf-8")
        arguments = [
            sys.executable,
            "-m",
            "mptcplab",
            "shell",
            "lost.toml",
            "--mptcpize",
            "--out",
            "run",
        ]
        arguments += ["--serve", "python3 -m http.server 8000"]
        arguments += ["--", "sh", "-c", f"{wait}; {fetch}lost.toml; {fetch}large"]
        subprocess.run(arguments, cwd=directory, check=True, capture_output=True)
        run = mptcplab.open_run(Path(directory) / "run")
        rows = views.counted(Comparison(run.directory, run, {}))
        return {"found": {row["kind"]: row["cost_s"] for row in rows}, "true_cost_s": None}


def main() -> None:
    """Run those that are asked for and not kept."""
    wanted = set(sys.argv[1:])
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else []
    rows = {(row["name"], row["number"]): row for row in kept}
    cases = [*provoked(), *limits()]
    numbered: dict[str, int] = {}
    for case in cases:
        number = numbered[case.kind] = numbered.get(case.kind, 0) + 1
        if (case.kind, number) not in rows and (not wanted or case.kind in wanted):
            _keep(rows, case.kind, number, tried(case))
    if ("receiver_stuck", 1) not in rows and (not wanted or "receiver_stuck" in wanted):
        for number, result in enumerate(stuck(), start=1):
            _keep(rows, "receiver_stuck", number, result)
    for number, back_s in enumerate((6.7, 6.8, 6.9), start=1):
        if ("black_hole", number) not in rows and (not wanted or "black_hole" in wanted):
            _keep(rows, "black_hole", number, forgetful(back_s))


def _keep(rows: dict[tuple[str, int], dict[str, Any]], kind: str, number: int, result: Any) -> None:
    rows[kind, number] = {"name": kind, "number": number, **result}
    print(*rows[kind, number].values(), file=sys.stderr, flush=True)
    lines = ",\n".join(json.dumps(rows[key]) for key in sorted(rows))
    RESULTS.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
