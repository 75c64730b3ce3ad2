"""Every middlebox and every control, probed over emulated links: the confusion matrix of docs/probe.md.

    python -m experiments.probe.run [CASE ...]

Two network namespaces are joined by a path with one box; ``mptcplab probe --serve`` answers in one, ``mptcplab probe`` asks
in the other. What came is kept in ``probes.json`` beside this file, and the table is written into the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from experiments.probe.cases import CASES, Case
from experiments.probe.table import write

KEPT = Path(__file__).with_name("probes.json")
AT_A_TIME = 3
SECONDS = 400
IDLE_SECONDS = 12
MPTCPLAB = f"{sys.executable} -m mptcplab"


def probe(case: Case) -> list[dict[str, str]]:
    """Probe a path with this box."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "path.toml").write_text(case.toml(), "utf-8")
        (place / "token").write_text("a token of an experiment\n", "utf-8")
        asks = f"{MPTCPLAB} probe server --token token --path wifi --json --idle {IDLE_SECONDS}"
        asks += " --path lte" if case.beside else ""
        serves = f"{MPTCPLAB} probe --serve --token token"
        shell = [
            sys.executable,
            "-m",
            "mptcplab",
            "shell",
            "path.toml",
            "--no-captures",
            "--out",
            "run",
        ]
        done = subprocess.run(
            [*shell, "--serve", serves, "--", *asks.split()],
            cwd=place,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{case.name}: {done.stderr[-2000:]}")
    found: list[dict[str, str]] = json.loads(done.stdout)["probes"]
    return [row for row in found if row["path"] == "wifi"]


def main() -> None:
    """Probe the cases that are named, or all, and write the table."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    wanted = [case for case in CASES if not sys.argv[1:] or case.name in sys.argv[1:]]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for case, rows in zip(wanted, pool.map(probe, wanted), strict=True):
            print(
                case.name,
                [f"{row['probe']}: {row['verdict']}" for row in rows if row["verdict"] != "clear"],
            )
            kept[case.name] = rows
            KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    write(kept)


if __name__ == "__main__":
    main()
