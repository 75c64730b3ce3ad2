"""What probes found on the paths to a server: the table ``probes``."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

from mptcplab import _core, writing
from mptcplab._core import Error
from mptcplab.engines.field import server_line
from mptcplab.probing import idle, scenario
from mptcplab.probing.client import ProbedPath, need
from mptcplab.probing.probe import TCP, probe
from mptcplab.probing.row import BLOCKED, CLEAR, UNKNOWN
from mptcplab.probing.session import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import Any

    import polars as pl

    from mptcplab.probing.row import Row

# The time that the other probes of a path may take, where packets vanish.
PATH_SECONDS = 300
# What begins a formula in a spreadsheet, and what steers a terminal; as in the tables of captures.
FORMULA = r"^[=+\-@\t\r]"
STEERS = r"[\p{Cc}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]"


class Probes:
    """The rows of one or more paths."""

    def __init__(self, found: Sequence[Row]) -> None:
        self._found = list(found)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table, a dictionary for each row."""
        return [asdict(row) for row in self._found]

    @property
    def table(self) -> pl.DataFrame:
        """The table as a frame."""
        import polars as pl

        return pl.DataFrame(self._table())

    @property
    def paths(self) -> list[str]:
        """The paths that were probed, in their order; the default route has an empty name."""
        return list(dict.fromkeys(row.path for row in self._found))

    @property
    def unreached(self) -> str | None:
        """Say why nothing was probed if no path reached the server's port."""
        tried = [row for row in self._found if row.probe == TCP]
        if any(row.verdict == CLEAR for row in tried):
            return None
        return "; ".join(dict.fromkeys(row.evidence for row in tried))

    def recommended(self, path: str) -> dict[str, str]:
        """Say what to set on a path, so that connections get through."""
        return scenario.recommended([row for row in self._found if row.path == path])

    def scenario(self) -> str:
        """Write what was found as a scenario; rates and delays are to be filled in."""
        return scenario.toml(self._found)

    def write(self, directory: str | PathLike[str], kind: str) -> None:
        """Write the table to ``probes.parquet`` or ``probes.csv`` there.

        Raises:
            Error: It cannot be written.
        """
        with writing.files(Path(directory)) as target:
            if kind == "parquet":
                self.table.write_parquet(target / "probes.parquet")
            else:
                _harmless(self.table).write_csv(target / "probes.csv")

    def _table(self) -> _core.Table:
        return _core.rows("probes", json.dumps(self.rows))


def _harmless(table: pl.DataFrame) -> pl.DataFrame:
    """Give it with text that is harmless in a spreadsheet; middleboxes wrote some of it."""
    import polars as pl

    text = pl.col(pl.String)
    quoted = pl.when(text.str.contains(FORMULA)).then("'" + text).otherwise(text)
    return table.with_columns(quoted.str.replace_all(STEERS, "\ufffd").name.keep())


def probe_paths(
    line: str,
    paths: Sequence[str],
    token: str | None,
    idle_seconds: float,
    begin: Callable[[str, float], None] | None,
) -> Probes:
    """Probe each path to a server in turn."""
    if not 0 <= idle_seconds <= idle.MOST_SECONDS:
        raise Error(f"connections are silent for 0 to {idle.MOST_SECONDS} s, not {idle_seconds:g}")
    server = server_line.read(line)
    secret = server_line.token(token)
    for name in filter(None, paths):
        need(name)
    found: list[Row] = []
    for at, name in enumerate(paths or [""]):
        if begin is not None:
            begin(name, idle_seconds + 20)
        # A session each: none of them lasts longer than a server grants.
        with opened(server, secret, int(idle_seconds) + PATH_SECONDS) as session:
            beside = ProbedPath(paths[at - 1], session) if len(paths) > 1 else None
            path = ProbedPath(name, session)
            found += probe(path, beside=beside, idle_seconds=idle_seconds)
    return Probes(blameless(found))


def blameless(rows: Sequence[Row]) -> list[Row]:
    """Blame no path where none reaches the probes' port: the server's firewall may block it."""
    if any(row.probe != TCP or row.verdict != BLOCKED for row in rows):
        return list(rows)
    return [
        replace(row, verdict=UNKNOWN, evidence=f"{row.sent} of the server is not reached: open it")
        for row in rows
    ]
