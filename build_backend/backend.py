"""Builds mptcplab: looks for Rust and Node, makes what maturin does not, then hands over to it.

Without the look, a missing compiler shows as an attempt to download one, and an old one (such as
Debian's) as a page of errors from deep inside some dependency.
"""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import page
import preload

Settings = dict[str, Any] | None

ADVICE = "install Rust from https://rustup.rs and try again"


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """PEP 517."""
    maturin = _maturin()
    _make()
    name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def build_editable(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """PEP 660."""
    maturin = _maturin()
    _make()
    name: str = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    return name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """PEP 517; the page is in it, so that who builds from it needs no Node."""
    maturin = _maturin()
    page.bundle()
    name: str = maturin.build_sdist(sdist_directory, config_settings)
    return name


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """PEP 517."""
    return _maturin().prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:  # noqa: ARG001
    """Nothing beside maturin, which pyproject.toml names; but the first chance to look for Rust."""
    check()
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel


def check() -> None:
    """Ends the build with one line if it cannot succeed."""
    trouble = _trouble()
    if trouble:
        raise SystemExit(f"mptcplab cannot be built: {trouble}")


def _make() -> None:
    page.bundle()
    preload.build()


def _trouble() -> str | None:
    needed = _needed()
    if not (shutil.which("rustc") and shutil.which("cargo")):
        return f"it needs Rust {needed} or newer and found none; {ADVICE}"
    asked = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"rustc (\d+)\.(\d+)", asked.stdout)
    if not found:
        said = (asked.stderr or asked.stdout).strip().splitlines() or ["nothing"]
        return f"it needs Rust {needed} or newer and rustc said: {said[-1]}; {ADVICE}"
    if (int(found[1]), int(found[2])) < tuple(map(int, needed.split(".")[:2])):
        return f"it needs Rust {needed} or newer and found {found[1]}.{found[2]}; {ADVICE}"
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        return "it needs a C compiler and found none; install gcc or clang and try again"
    return page.trouble()


def _needed() -> str:
    manifest = Path(__file__).parent.parent / "Cargo.toml"
    needed: str = tomllib.loads(manifest.read_text())["workspace"]["package"]["rust-version"]
    return needed


def _maturin() -> Any:
    check()
    import maturin

    return maturin


if __name__ == "__main__":
    check()
