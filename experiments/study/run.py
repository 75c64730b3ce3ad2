"""The papers' experiments, all of them, as ``mptcplab study all`` runs them; keeps what the documentation tells."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from mptcplab.study.outcome import NAME

RESULTS = Path(__file__).parent / NAME


def main() -> None:
    """Run what is not there already, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where runs are kept")
    given = parser.parse_args()
    command = [sys.executable, "-m", "mptcplab", "study", "all", "--out", str(given.directory)]
    subprocess.run(command, check=True)
    shutil.copyfile(given.directory / NAME, RESULTS)


if __name__ == "__main__":
    main()
