"""A scenario in its long form, and as it is in one run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mptcplab import _core
from mptcplab.scenario import alternatives, draw
from mptcplab.scenario.converter import Converter
from mptcplab.scenario.endpoint import Client, Server
from mptcplab.scenario.field import Field as FieldSection
from mptcplab.scenario.kernel import Kernel
from mptcplab.scenario.path import Link, Path
from mptcplab.scenario.section import Flag, Section, declared
from mptcplab.scenario.timeline import Event, Profile
from mptcplab.scenario.traffic import Traffic
from mptcplab.scenario.transfer import Transfer

SCHEMA = 1


@declared(_core.settings()["run"])
class Run(Section):
    """Settings of the run."""

    stop: int | None
    sample: int
    baselines: Flag = True
    """Whether plain TCP over each path is run as well."""
    processing: int
    earlier_transfers: int | None


@dataclass(frozen=True)
class Scenario:
    """A scenario in its long form: nothing is left out, names are resolved."""

    title: str | None
    transfer: Transfer
    links: dict[str, Link]
    paths: dict[str, Path]
    client: Client
    server: Server
    mptcp: Section
    tcp: Section
    kernel: Kernel
    cross_traffic: list[Traffic]
    timeline: list[Event]
    run: Run
    #: Where paths are real.
    field: FieldSection | None = None
    #: Where the ends speak TCP.
    converter: Converter | None = None
    #: What is written and has no effect, in a line each.
    remarks: tuple[str, ...] = ()

    @property
    def unlinked(self) -> list[str]:
        """Name the paths that no engine can emulate: they have an interface and no link."""
        return [name for name, path in self.paths.items() if path.link is None]

    @property
    def stop_ns(self) -> int:
        """When the run is given up."""
        assert self.run.stop is not None  # noqa: S101 - read() has filled it
        return self.run.stop


def drawn(scenario: Scenario, seed: int) -> Scenario:
    """Give the scenario of one run: what is drawn has its value, and nothing is left to draw."""
    links = {name: _drawn(link, f"link.{name}", seed) for name, link in scenario.links.items()}
    timeline = [
        _drawn(event, f"timeline.{number}", seed) if isinstance(event, Profile) else event
        for number, event in enumerate(scenario.timeline)
    ]
    return replace(scenario, links=links, timeline=timeline)


def _drawn(holder: Any, name: str, seed: int) -> Any:
    """Give a link, or an event with one, with what is drawn of it."""
    if not holder.draw and not holder.alternatives:
        return holder
    own = {key: getattr(holder, key) for key in (*draw.DIRECTIONS, alternatives.DRAW)}
    link = alternatives.drawn(own, holder.alternatives or [], name, seed)
    directions = {direction: link[direction] for direction in draw.DIRECTIONS}
    directions = draw.apply(link.get(alternatives.DRAW) or {}, directions, name, seed)
    return holder.model_copy(update={**directions, "draw": None, alternatives.NAME: None})
