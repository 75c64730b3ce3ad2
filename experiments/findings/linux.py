"""Provoke findings with Linux, in real time: ``python -m experiments.findings.linux DIR``.

Runs the first scenario of each kind with the kernel engine, with what it asks of the simulation alone left out, and keeps in
``linux.json`` what was found, or why Linux cannot. It needs root. A kind that is kept already is not run again.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from pathlib import Path
from typing import Any

import mptcplab
from experiments.findings.scenarios import provoked

RESULTS = Path(__file__).parent / "linux.json"
# No transfer is longer.
LONGEST_S = 10


def found(table: dict[str, Any], out: Path) -> dict[str, Any]:
    """Run a scenario with Linux; give kinds with their costs, and how long it took."""
    table = copy.deepcopy(table)
    table["run"] = {"stop": f"{LONGEST_S} s"}
    try:
        run = mptcplab.run(table, engine="kernel", baselines=False, out=out, force=True).mptcp
    except mptcplab.Error as error:
        return {"found": None, "why": str(error).splitlines()[0]}
    costs = {row["kind"]: row["cost_s"] for row in run.tables.rows("findings")}
    elapsed_s = run.transfer["elapsed_s"] if run.transfer else None
    return {"found": costs, "elapsed_s": elapsed_s and round(elapsed_s, 3)}


def main() -> None:
    """Run those of all kinds that are not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where run directories go")
    directory = parser.parse_args().directory
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else []
    rows = {row["name"]: row for row in kept}
    for kind, table, _ in provoked():
        if kind not in rows:
            rows[kind] = {"name": kind, **found(table, directory / kind)}
            print(*rows[kind].values(), file=sys.stderr, flush=True)
            lines = ",\n".join(json.dumps(rows[name]) for name in sorted(rows))
            RESULTS.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
