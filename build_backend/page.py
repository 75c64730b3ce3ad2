"""Bundles the page of reports with npm, into the Python package."""

import json
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "report-ui"
BUNDLE = [ROOT / "python/mptcplab/charts" / name for name in ("report.js", "report.css")]
ADVICE = "install nodejs and npm (Debian: apt install nodejs npm) and try again"


def is_bundled() -> bool:
    """Say whether the page came with the sources, as it does in a source distribution."""
    return (ROOT / "PKG-INFO").exists() and all(file.exists() for file in BUNDLE)


def trouble() -> str | None:
    """Say why the page cannot be bundled here."""
    if is_bundled():
        return None
    needed = _needed()
    if not (shutil.which("node") and shutil.which("npm")):
        return f"it needs Node {needed} or newer with npm and found none; {ADVICE}"
    asked = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"v(\d+)\.", asked.stdout)
    if not found or int(found[1]) < needed:
        return f"it needs Node {needed} or newer and found {asked.stdout.strip()}; {ADVICE}"
    return None


def bundle() -> None:
    """Write report.js and report.css, where they did not come with the sources."""
    if is_bundled():
        return
    kept = SOURCE / "node_modules" / ".package-lock.json"
    lock = SOURCE / "package-lock.json"
    if not kept.exists() or kept.stat().st_mtime < lock.stat().st_mtime:
        _npm("ci", "--no-progress")
    _npm("run", "build")


def _npm(*arguments: str) -> None:
    done = subprocess.run(
        ["npm", *arguments], cwd=SOURCE, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "npm warn" not in line] or ["nothing"]
        raise SystemExit(f"npm {' '.join(arguments)} in {SOURCE} failed:\n" + "\n".join(said))


def _needed() -> int:
    engines = json.loads((SOURCE / "package.json").read_text())["engines"]
    return int(re.sub(r"\D", "", engines["node"]))


if __name__ == "__main__":
    bundle()
