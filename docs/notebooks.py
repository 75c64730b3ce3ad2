"""Runs the teaching notebooks and stores them with what they show: ``docs/notebooks/*.ipynb``.

A notebook is written as a Python file, with ``# %%`` before each cell. Jupyter is not needed.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import sys
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent / "notebooks"
CELL = re.compile(r"^# %%( \[markdown\])?\n", re.MULTILINE)


def cells(source: str) -> list[tuple[bool, str]]:
    """Give the cells: whether one is text, and what stands in it."""
    _, *parts = CELL.split(source)
    found = []
    for mark, body in zip(parts[::2], parts[1::2], strict=True):
        text = body.strip("\n")
        if mark:
            text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
        found.append((bool(mark), text))
    return found


def executed(source: str, *, draws: bool = True) -> list[tuple[bool, str, list[dict[str, Any]]]]:
    """Run the code of a notebook; gives its cells with what they show."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [
        (is_text, text, [] if is_text else _shown(_run(text, names), draws=draws))
        for is_text, text in cells(source)
    ]


def _run(code: str, names: dict[str, Any]) -> object:
    """Run a cell; gives the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def _shown(value: object, *, draws: bool) -> list[dict[str, Any]]:
    if value is None:
        return []
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    # A figure of matplotlib has none without a window.
    if draws and (shown := getattr(value, "_repr_html_", lambda: None)()):
        data["text/html"] = shown.splitlines(keepends=True)
    if draws and hasattr(value, "_repr_png_"):
        data["image/png"] = base64.b64encode(value._repr_png_()).decode()
    return [{"output_type": "display_data", "metadata": {}, "data": data}]


def document(ran: list[tuple[bool, str, list[dict[str, Any]]]]) -> dict[str, Any]:
    """Give a notebook as Jupyter stores it (nbformat 4.5)."""
    made = []
    for number, (is_text, text, outputs) in enumerate(ran):
        cell: dict[str, Any] = {
            "cell_type": "markdown" if is_text else "code",
            "id": f"cell-{number}",
            "metadata": {},
            "source": text.splitlines(keepends=True),
        }
        if not is_text:
            cell |= {"execution_count": None, "outputs": outputs}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": made,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def main(names: list[str]) -> None:
    """Run those asked for, or all."""
    for file in sorted(HOME.glob("*.py")):
        if names and file.stem not in names:
            continue
        made = document(executed(file.read_text("utf-8")))
        target = file.with_suffix(".ipynb")
        target.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(f"{target} written")


if __name__ == "__main__":
    main(sys.argv[1:])
