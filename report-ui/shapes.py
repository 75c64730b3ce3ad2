"""Writes the shapes of pages in TypeScript; run it when a ``shape.py`` of Python changes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

SOURCE = Path(__file__).parent / "src"
FILES = {
    "page/shape.ts": "mptcplab.charts.shape",
    "campaign/shape.ts": "mptcplab.charts.campaign.shape",
}
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}
Item = TypeVar("Item")


class Column(Generic[Item]):
    """Stands for ``array``, which knows of its items in annotations only."""


COLUMNS = {float: "Float64Array", int: "Uint32Array | Uint16Array"}


def main() -> None:
    """Write all of them."""
    for file, text in written().items():
        (SOURCE / file).write_text(text)


def written() -> dict[str, str]:
    """Give what each file holds."""
    modules = {file: import_module(name) for file, name in FILES.items()}
    homes = {module.__name__: f"../{file.removesuffix('.ts')}" for file, module in modules.items()}
    return {file: _file(module, homes) for file, module in modules.items()}


def _file(module: ModuleType, homes: dict[str, str]) -> str:
    there = [one for one in vars(module).values() if isinstance(one, type) and is_dataclass(one)]
    lines = [f"// Made by report-ui/shapes.py from {module.__name__}, which says what it means."]
    for home, path in homes.items():
        names = sorted(one.__name__ for one in there if one.__module__ == home)
        if names and home != module.__name__:
            lines.append(f'import type {{ {", ".join(names)} }} from "{path}";')
    for one in there:
        if one.__module__ == module.__name__:
            hints = get_type_hints(one, localns={"array": Column})
            inside = [f"  {each.name}: {_type(hints[each.name])};" for each in fields(one)]
            lines += ["", f"export interface {one.__name__} {{", *inside, "}"]
    return "\n".join(lines) + "\n"


def _type(hint: Any) -> str:
    if hint in PLAIN:
        return PLAIN[hint]
    if is_dataclass(hint):
        return str(getattr(hint, "__name__", ""))
    kind, inside = get_origin(hint), get_args(hint)
    if kind is Literal:
        return " | ".join(f'"{one}"' for one in inside)
    if kind in (Union, UnionType):
        return " | ".join(map(_type, inside))
    if kind is Column:
        return COLUMNS[inside[0]]
    if kind is list:
        item = _type(inside[0])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if kind is dict:
        return f"Record<{_type(inside[0])}, {_type(inside[1])}>"
    raise TypeError(f"{hint} has no shape in TypeScript yet: report-ui/shapes.py can be taught it")


if __name__ == "__main__":
    main()
