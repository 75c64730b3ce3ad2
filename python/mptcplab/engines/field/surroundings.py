"""The radio of a run's paths and the position of its client, while it goes on."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab import _core
from mptcplab.surroundings.coverage import Span, coverage
from mptcplab.surroundings.gpsd import Gpsd, address
from mptcplab.surroundings.iw import Iw
from mptcplab.surroundings.modem_manager import ModemManager
from mptcplab.surroundings.sampling import Sampler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mptcplab.engines.field.routes import Route
    from mptcplab.scenario.field import Field
    from mptcplab.surroundings.sampling import Row, Source

TABLES = ("radio", "positions")
# The kernel has this of interfaces that cfg80211 drives.
WIRELESS = "/sys/class/net/{}/phy80211"


class Surroundings:
    """Follows what a scenario asks for, from when it is made until it ends."""

    def __init__(self, field: Field, routes: Mapping[str, Route]) -> None:
        self._sampler = Sampler(_sources(field, routes))
        self._results: list[tuple[Source, list[Row], str | None]] = []

    def end(self) -> None:
        """Stop."""
        self._results = self._sampler.end()

    def tables(self, span: Span) -> dict[str, _core.Table]:
        """Give the tables of a run in this span of time."""
        return {
            name: _core.rows(
                name,
                json.dumps(
                    [
                        {**row, "at_s": (row["at_ns"] - span.start_ns) / 1e9}
                        for row in sorted(self._rows(name), key=lambda row: int(row["at_ns"]))
                    ]
                ),
            )
            for name in TABLES
        }

    def about(self, span: Span) -> dict[str, list[dict[str, Any]]]:
        """Say of each source how much of the run it covers, and why there is no more."""
        return {
            name: [
                {
                    "source": source.name,
                    **({} if source.path is None else {"path": source.path}),
                    "why": reason,
                    **coverage(rows, span),
                    **_clock(source),
                }
                for source, rows, reason in self._results
                if source.table == name
            ]
            for name in TABLES
        }

    def _rows(self, table: str) -> list[Row]:
        return [row for source, rows, _ in self._results if source.table == table for row in rows]


def _clock(source: Source) -> dict[str, Any]:
    return {"clock_ahead_ms": source.clock_ahead_ms} if isinstance(source, Gpsd) else {}


def _sources(field: Field, routes: Mapping[str, Route]) -> list[Source]:
    every_s = field.radio / 1e9
    sources: list[Source] = []
    if field.radio:
        for path, one in routes.items():
            wireless = Path(WIRELESS.format(one.interface)).exists()
            sources.append((Iw if wireless else ModemManager)(path, one.interface, every_s))
    if field.gpsd is not None:
        sources.append(Gpsd(address(field.gpsd)))
    return sources
