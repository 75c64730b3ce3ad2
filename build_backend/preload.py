"""Builds the library that gives MPTCP to programs, into the Python package."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "python" / "mptcplab" / "libpreload.so"
COMMAND = ("cargo", "build", "--release", "--locked", "--package", "preload")


def build() -> None:
    """Write libpreload.so; only Linux has a use for it."""
    if sys.platform != "linux":
        return
    words = [*COMMAND, "--message-format", "json-render-diagnostics"]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(COMMAND)} in {ROOT} failed")
    # Where cargo builds is a matter of its settings.
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    (built,) = (
        file
        for message in messages
        if message.get("target", {}).get("name") == "preload"
        for file in message.get("filenames", ())
    )
    # A new file in the place of the old one, which programs may be running with.
    new = PLACE.with_suffix(".new")
    shutil.copy(built, new)
    new.replace(PLACE)


if __name__ == "__main__":
    build()
