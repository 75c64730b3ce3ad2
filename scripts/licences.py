"""Whether every crate that the project builds on has a licence that deny.toml allows.

cargo-deny looks closer, but takes minutes to build; this needs nothing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Print what is not allowed, and fail if there is any."""
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    packages = [package for package in _packages() if package["source"]]
    refused = [package for package in packages if not _allows(package["license"] or "", allowed)]
    for package in refused:
        print(f"{package['name']} {package['version']}: {package['license']}", file=sys.stderr)
    if refused:
        sys.exit("licences that deny.toml does not allow")
    print(f"licences of {len(packages)} crates are allowed")


def _packages() -> list[dict[str, str]]:
    host = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    (target,) = re.findall(r"host: (\S+)", host)
    command = ["cargo", "metadata", "--format-version=1", "--locked"]
    command += ["--filter-platform", target]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    packages: list[dict[str, str]] = json.loads(done.stdout)["packages"]
    return packages


def _allows(expression: str, allowed: set[str]) -> bool:
    """Whether one of the alternatives is allowed in all its parts."""
    flat = re.sub(r"[()]|\s+WITH\s+\S+", " ", expression).replace("/", " OR ")
    alternatives = [part.split(" AND ") for part in flat.split(" OR ")]
    return any(all(name.strip() in allowed for name in names) for names in alternatives)


if __name__ == "__main__":
    main()
