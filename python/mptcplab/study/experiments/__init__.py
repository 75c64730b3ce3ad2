"""The experiments of the papers, a file each, in the order of the documentation."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.engines import DEFAULT
from mptcplab.engines.engine import Engine
from mptcplab.measurements import shape
from mptcplab.messages import nearest
from mptcplab.reading import read_text
from mptcplab.scenario.fault import ScenarioError
from mptcplab.study import campaigns, comparing, questions
from mptcplab.study.experiment import Drawing, Experiment, Finding
from mptcplab.study.links import profile
from mptcplab.study.quantities import Scope

Table = dict[str, Any]

NAMES = (
    "single-downloads",
    "single-uploads",
    "eight-subflows",
    "eight-subflows-settings",
    "uplink-four-subflows",
    "receive-window",
    "ssthresh-cache",
    "verizon-4g-to-3g",
    "att-4g-to-3g",
    "sprint-4g-to-3g",
    "drives-by-size",
    "3g-to-4g",
    "campus-drive",
    "boston-drive",
    "upload-intermittent-wifi",
    "upload-4g-to-3g",
    "uplink-mss",
    "large-downloads",
    "small-downloads",
    "infinite-backlog",
    "simultaneous-syn",
    "latency",
    "cell-edge",
    "call",
    "prague-lte",
    "coupled-algorithms",
    "split-connections",
    "idle-timeouts",
    "times-of-day",
)


@cache
def experiments() -> dict[str, Experiment]:
    """Give all experiments by their names."""
    return {name: read(Path(__file__).parent / f"{name}.toml") for name in NAMES}


def chosen(names: Sequence[str], engine: Engine = DEFAULT) -> list[Experiment]:
    """Give the experiments of these names, in their order; ``all`` is all that the engine runs."""
    known = experiments()
    for name in names:
        if name != "all" and name not in known:
            raise ScenarioError(f"there is no experiment {name}; {nearest(name, [*known, 'all'])}")
    every = "all" in names
    return [
        one
        for name, one in known.items()
        if name in names
        or (every and (not engine.linux or (one.on_linux and not one.lacking(engine))))
    ]


def read(file: Path) -> Experiment:
    """Read an experiment."""
    try:
        return _experiment(file.stem, tomllib.loads(read_text(file)))
    except (shape.ShapeError, KeyError, ValueError) as error:
        raise Error(f"{file}: {error}") from error


def _experiment(name: str, table: Table) -> Experiment:
    paper = table.pop("paper")
    of_campaigns, listed = table.pop("campaign"), table.pop("compare", [])
    for one in of_campaigns.values():
        shape.refuse_unknown(one, campaigns.KEYS)
    return shape.build(
        Experiment,
        {
            "name": name,
            "campaigns": partial(campaigns.written, of_campaigns),
            "compare": partial(comparing.compare, listed=listed, campaigns=of_campaigns),
            "findings": [_finding({"paper": paper} | one) for one in table.pop("finding", [])],
            "drawings": [shape.build(Drawing, one) for one in table.pop("drawings", [])],
            **table,
        },
    )


def _finding(table: Table) -> Finding:
    scope = Scope().narrowed({key: table.pop(key) for key in ("in", "with") if key in table})
    asks, each = table.pop("asks"), table.pop("each", {})
    for ask in asks:
        shape.refuse_unknown(ask, questions.KEYS)
    if "links" in table:
        table["links"] = list(map(profile, table["links"]))
    if "alone" in table:
        table["against"] = questions.beyond(table.pop("alone"), asks)
    judge = partial(questions.judge, asks=asks, each=each, scope=scope)
    return shape.build(Finding, table | {"judge": judge})
