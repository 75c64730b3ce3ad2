"""The papers' experiments, as ``mptcplab study all`` runs them; keeps what the documentation tells.

``--engine kernel`` runs those that Linux itself can, with ``--quick`` as they take real time, and keeps them apart.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from mptcplab.engines import DEFAULT, named
from mptcplab.study.outcome import NAME

HERE = Path(__file__).parent
KEPT = {"simulation": HERE / NAME, "kernel": HERE / "linux.json"}


def main() -> None:
    """Run what is not there already, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where runs are kept")
    parser.add_argument("--engine", choices=KEPT, default=DEFAULT.name)
    given = parser.parse_args()
    extent = ["--quick"] if named(given.engine).real_time else []
    words = ["study", "all", *extent, "--engine", given.engine, "--out", str(given.directory)]
    subprocess.run([sys.executable, "-m", "mptcplab", *words], check=True)
    shutil.copyfile(given.directory / NAME, KEPT[given.engine])


if __name__ == "__main__":
    main()
