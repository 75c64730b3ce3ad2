"""The reference page of engines, from what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.engines import ENGINES
from mptcplab.engines.engine import Engine

HEAD = """\
# Engine reference

An engine runs scenarios. Choose it with `--engine` on the command line, or with `engine` in a campaign. An engine refuses what it does not
support before anything runs, and names it. [Engines](../engines.md) compares their results; [extending](../extending.md#an-engine) shows how
to add one.
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
        "real: campaigns run one after the other"
        if engine.real_time
        else "virtual: campaigns run one per core, and the same seed gives the same packets",
    )
    yield "endpoints", "Linux's, configured by `[kernel]`" if engine.linux else "mptcplab's own"
    yield "unmodified programs", "with `mptcplab shell`" if engine.programs else "no"
    yield "captures", _names(engine.captures)
    yield "tables beyond those from captures", _names(engine.samples)
    yield "timeline events", _names(engine.verbs)
    for key, names in engine.policies.items():
        yield f"`mptcp.{key}`", _names(names)


def _names(names: tuple[str, ...] | None) -> str:
    return "all" if names is None else ", ".join(f"`{name}`" for name in names) or "none"
