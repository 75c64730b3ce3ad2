"""Whether the crates that the project builds on are allowed, old enough, and used.

- Licences: one that deny.toml allows. cargo-deny looks closer, but takes minutes to build.
- Rust: none asks for a newer one than ``rust-version`` in Cargo.toml.
- Use: a crate names in its code whatever it depends on, and a member what the workspace lists.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    packages = [*_packages(ROOT), *_packages(ROOT / "quic")]
    foreign = [package for package in packages if package["source"]]
    own = [package for package in packages if not package["source"]]
    wrong = [
        *_refused(foreign, allowed),
        *_too_new(foreign, workspace["package"]["rust-version"]),
        *(fault for package in own for fault in _unused(package)),
        *_unclaimed(own, set(workspace["dependencies"])),
    ]
    if wrong:
        sys.exit("\n".join(wrong))
    count = len({package["id"] for package in foreign})
    print(f"{count} crates: licences are allowed, none needs a newer Rust, all are used")


def _packages(workspace: Path) -> list[dict[str, Any]]:
    host = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    (target,) = re.findall(r"host: (\S+)", host)
    command = ["cargo", "metadata", "--format-version=1", "--locked"]
    command += ["--filter-platform", target]
    done = subprocess.run(command, cwd=workspace, stdout=subprocess.PIPE, check=True)
    packages: list[dict[str, Any]] = json.loads(done.stdout)["packages"]
    return packages


def _refused(packages: list[dict[str, Any]], allowed: set[str]) -> Iterator[str]:
    for package in packages:
        if not _allows(package["license"] or "", allowed):
            yield f"{_name(package)}: deny.toml does not allow the licence {package['license']}"


def _allows(expression: str, allowed: set[str]) -> bool:
    """Whether one of the alternatives is allowed in all its parts."""
    flat = re.sub(r"[()]|\s+WITH\s+\S+", " ", expression).replace("/", " OR ")
    alternatives = [part.split(" AND ") for part in flat.split(" OR ")]
    return any(all(name.strip() in allowed for name in names) for names in alternatives)


def _too_new(packages: list[dict[str, Any]], ours: str) -> Iterator[str]:
    for package in packages:
        if _version(package["rust_version"] or "0") > _version(ours):
            yield f"{_name(package)} needs Rust {package['rust_version']}, and we promise {ours}"


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")[:2]))


def _unused(package: dict[str, Any]) -> Iterator[str]:
    """Say which dependencies of a crate of ours its code does not name."""
    directory = Path(package["manifest_path"]).parent
    code = "\n".join(file.read_text() for file in directory.rglob("*.rs"))
    for dependency in package["dependencies"]:
        name = (dependency["rename"] or dependency["name"]).replace("-", "_")
        if not re.search(rf"\b{name}\b", code):
            yield f"crate {package['name']} depends on {dependency['name']}, which it does not use"


def _unclaimed(own: list[dict[str, Any]], listed: set[str]) -> Iterator[str]:
    used = {dependency["name"] for package in own for dependency in package["dependencies"]}
    for name in sorted(listed - used):
        yield f"Cargo.toml lists {name} for the workspace, and no crate depends on it"


def _name(package: dict[str, Any]) -> str:
    return f"{package['name']} {package['version']}"


if __name__ == "__main__":
    main()
