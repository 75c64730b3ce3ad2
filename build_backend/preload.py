"""Builds what is no part of the extension module, into the Python package: a library, programs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "mptcplab"
# What cargo calls each, and its file's name.
BUILT = {
    "preload": "libpreload.so",
    "mptcplab-guard": "mptcplab-guard",
    "mptcplab-convert": "mptcplab-convert",
}
PACKAGES = ("preload", "agent", "converter")
OPTIONS = ("--release", "--locked", *(f"--package={name}" for name in PACKAGES))


def build(command: str = "build", *options: str) -> None:
    """Write them by a command of cargo; only Linux has a use for them."""
    if sys.platform != "linux":
        return
    arguments = [
        "cargo",
        command,
        *OPTIONS,
        *options,
        "--message-format",
        "json-render-diagnostics",
    ]
    done = subprocess.run(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} in {ROOT} failed")
    # Where cargo builds is a matter of its settings.
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    for message in messages:
        name = BUILT.get(message.get("target", {}).get("name"))
        if name is not None and "filenames" in message:
            # A new file in the place of the old one, which programs may be running with.
            new = PACKAGE / f"{name}.new"
            shutil.copy(message["filenames"][0], new)
            new.replace(PACKAGE / name)


if __name__ == "__main__":
    build(*sys.argv[1:])
