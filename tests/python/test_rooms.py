"""ARCHITECTURE's table of rooms says what crates and packages use, and no more."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = "mptcplab"
# What every room of Python may use.
GROUND = {"analysis", "messages", "pages", "quantity", "reading", "starting", "writing"}
ROW = re.compile(r"^\| `(\S+)` \| .* \| (.*) \|$", re.MULTILINE)
TABLE = dict(ROW.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8")))


def crates() -> dict[str, set[str]]:
    """Give what each crate depends on; its tests may use more."""
    done = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return {
        f"crates/{crate['name']}": {
            needed["name"]
            for needed in crate["dependencies"]
            if needed["kind"] is None and "path" in needed
        }
        for crate in json.loads(done.stdout)["packages"]
    }


def packages() -> dict[str, set[str]]:
    """Give what each package imports, also within functions."""
    graph = grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)
    used: dict[str, set[str]] = {}
    for module in graph.modules - {PACKAGE, f"{PACKAGE}.__main__"}:
        # `_core` is compiled: imports of it are taken for such of the whole package.
        found = graph.find_modules_directly_imported_by(module) - {PACKAGE}
        room, *rooms = (name.split(".")[1] for name in [module, *found])
        name = f"python/{PACKAGE}" + ("" if room in GROUND else f"/{room}")
        used.setdefault(name, set()).update(set(rooms) - {room} - GROUND)
    return used


@pytest.mark.parametrize("used", [crates(), packages()], ids=["crates", "packages"])
def test_rooms_use_what_the_table_names(used: dict[str, set[str]]) -> None:
    table = {room.removesuffix(".py"): allowed for room, allowed in TABLE.items()}
    assert used.keys() <= table.keys()
    beyond = {
        room: rooms - set(re.findall(r"\w+", table[room]))
        for room, rooms in used.items()
        if table[room] != "all"
    }
    assert {room: rooms for room, rooms in beyond.items() if rooms} == {}


EXAMPLE = re.compile(r"//[/!] ```(\w*)\n(?:\s*//[/!].*\n)*?\s*//[/!] ```\n")


def test_crates_compile_tests_beside_their_code_where_there_are_any() -> None:
    declared, there = {}, {}
    for library in ROOT.glob("crates/*/src/lib.rs"):
        name = library.parents[1].name
        code = "".join(file.read_text("utf-8") for file in library.parent.rglob("*.rs"))
        about = tomllib.loads((library.parents[1] / "Cargo.toml").read_text("utf-8")).get("lib", {})
        declared[name] = about.get("test", True), about.get("doctest", True)
        examples = [kind for kind in EXAMPLE.findall(code) if kind != "text"]
        there[name] = "#[test]" in code, bool(examples)
    assert declared == there
