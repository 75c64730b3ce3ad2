"""Try remedies in models of captures, beside what they really give: ``python -m experiments.findings.models``.

Captures both ends of each simulated scenario that provokes a kind with a remedy, forgets the scenario, and keeps in
``models.json`` how far off the model of the captures is, and what the remedy gains in it and in the scenario itself.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mptcplab
from experiments.findings import views
from experiments.findings.provoked import Case, provoked
from experiments.findings.run import SEED, gains, recommended
from experiments.findings.table import best

RESULTS = Path(__file__).parent / "models.json"
KINDS = {
    *("backup_unused", "bufferbloat", "capacity_unused", "head_of_line", "losses_bursts"),
    *("losses_random", "losses_unclear", "no_second_path", "path_back_unused", "path_dead"),
    *("receive_window", "reinjection_waste", "slow_start_early", "slow_start_loss"),
    "timeout_chain",
}


def cases() -> Iterator[Case]:
    """Give the scenarios whose kind captures tell and a setting may mend."""
    return (case for case in provoked() if case.kind in KINDS and case.view is not views.beside)


def modelled(number: int) -> dict[str, Any]:
    """Try what is found in the captures of a scenario."""
    case = list(cases())[number]
    with TemporaryDirectory() as directory:
        run = mptcplab.run(
            copy.deepcopy(case.table),
            seed=SEED,
            out=Path(directory) / "run",
            baselines=False,
            captures="headers",
        )
        why = mptcplab.why(sorted(run.mptcp.directory.glob("*.pcapng")), tries=True)
        assert why.model is not None
        assert why.tried_rows is not None
        own = [row for row in why.tried_rows if case.kind in row["kind"].split(", ")]
        really = gains(case.table, recommended(case.table, SEED))
        gained = best(own)
        return {
            "name": case.kind,
            "off": round(why.model["off"], 3),
            "shown": case.kind in why.model["shown"],
            "gained_s": None if gained is None else round(gained, 3),
            "at_least": any(row["gained_is_minimum"] for row in own),
            "true_gain_s": best(really.get(case.kind, ())),
        }


def main() -> None:
    """Try all of them."""
    rows = []
    with ProcessPoolExecutor() as pool:
        for row in pool.map(modelled, range(len(list(cases())))):
            rows.append(row)
            print(*row.values(), file=sys.stderr, flush=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
