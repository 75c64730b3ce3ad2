"""The reference page of engines, from what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.engines import ENGINES
from mptcplab.engines.engine import Engine

HEAD = """\
# Engine reference

What runs scenarios, for `--engine` and `engine` in campaigns. What an engine cannot it refuses by name, before anything runs;
[engines](../engines.md) compares their figures, and [extending](../extending.md#an-engine) says how to add one.
"""


def page() -> str:
    """Write the page."""
    return "\n".join([HEAD, *(line for one in ENGINES.values() for line in _engine(one))])


def _engine(engine: Engine) -> Iterator[str]:
    yield from (
        f"## `{engine.name}`",
        "",
        f"{engine.means[:1].upper()}{engine.means[1:]}.",
        "",
        "| | |",
        "|---|---|",
    )
    yield from (f"| {what} | {has} |" for what, has in _rows(engine))
    yield ""


def _rows(engine: Engine) -> Iterator[tuple[str, str]]:
    yield (
        "time",
        "real: one run at once"
        if engine.real_time
        else "virtual: a run per core, and each can be had again",
    )
    yield "endpoints", "Linux's, which go by `[kernel]`" if engine.linux else "of mptcplab"
    yield "programs as they are", "with `mptcplab shell`" if engine.programs else "no"
    yield "captures", _names(engine.captures)
    yield "tables beside those of captures", _names(engine.samples)
    yield "verbs of the timeline", _names(engine.verbs)
    for key, names in engine.policies.items():
        yield f"`mptcp.{key}`", _names(names)


def _names(names: tuple[str, ...] | None) -> str:
    return "all" if names is None else ", ".join(f"`{name}`" for name in names) or "none"
