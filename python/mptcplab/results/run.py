"""A run directory: what was run, its outcome, and its tables."""

from __future__ import annotations

import json
import tomllib
from functools import cached_property
from pathlib import Path

from mptcplab._core import SCHEMA, Error, Tables, rows
from mptcplab.analysis import Analysis
from mptcplab.reading import accessible
from mptcplab.results import files, run_metrics
from mptcplab.results.files import read_parquet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike
    from typing import Any

    import polars as pl

    Row = dict[str, Any]

ABOUT = "run.json"
# Tables of logs and probes, which runs of earlier versions of the same schema lack: they had none.
ADDED = {"probes", "radio", "positions"}
# Version of what it holds.
ABOUT_SCHEMA = 1
NEEDED = {"run", "scenario", "engine", "seed", "path", "mptcp", "direction", "outcome"}


@accessible()
def open_run(directory: str | PathLike[str]) -> Run:
    """Open one run: a directory in what ``mptcplab run`` left, or what ``mptcplab shell`` left.

    Raises:
        Error: The directory holds no run, or several.
    """
    path = Path(directory)
    if not (path / ABOUT).exists() and (path / "mptcp" / ABOUT).exists():
        raise Error(f"{path} holds several runs: open one of them, such as {path / 'mptcp'}")
    return Run(path)


class StoredTables:
    """Tables on the disk, in the shape of those of an analysis; each is read when it is needed."""

    NAMES = Tables.NAMES

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._frames: dict[str, pl.DataFrame] = {}
        # What the directory lives as long as, where that is not for good.
        self.owned: object = None

    @property
    def complete(self) -> bool:
        """Nothing is missing in what was measured while it happened."""
        return True

    def table(self, name: str) -> pl.DataFrame:
        """Give a table."""
        if name not in self._frames:
            import polars as pl

            file = self._directory / f"{name}.parquet"
            if name in ADDED and not file.exists():
                self._frames[name] = pl.DataFrame(rows(name, "[]"))
                return self._frames[name]
            try:
                self._frames[name] = read_parquet(file)
            except (OSError, pl.exceptions.PolarsError) as error:
                remedy = files.REMEDIES["run"].format(self._directory.parent)
                raise files.unusable(file, error, remedy) from error
        return self._frames[name]

    def rows(
        self, name: str, *, connection: int | None = None, columns: Iterable[str] | None = None
    ) -> Iterator[Row]:
        """Give the rows of a table, of one connection and some columns if asked for."""
        frame = self.table(name)
        if connection is not None:
            frame = frame.filter(connection=connection)
        if columns is not None:
            frame = frame.select(list(columns))
        return frame.iter_rows(named=True)

    def write_csv(self, name: str, file: str | PathLike[str]) -> None:
        """Write a table."""
        self.table(name).write_csv(Path(file))

    def document(self) -> dict[str, Any]:
        """Nest the rows of the summary tables as ``mptcplab analyze --json`` does."""
        connections = [self._connection(row) for row in self.rows("connections")]
        return {
            "schema": SCHEMA,
            "complete": self.complete,
            "connections": connections,
            "diagnostics": list(self.rows("diagnostics")),
        }

    def _connection(self, row: Row) -> Row:
        number = row["connection"]
        flows = list(self.rows("flows", connection=number))
        subflows = []
        for subflow in self.rows("subflows", connection=number):
            own = [flow for flow in flows if flow["subflow"] == subflow["subflow"]]
            subflows.append({**subflow, "flows": _by_direction(own)})
        return {
            **row,
            "transfers": _by_direction(self.rows("transfers", connection=number)),
            "subflows": subflows,
            "events": list(self.rows("events", connection=number)),
            "findings": list(self.rows("findings", connection=number)),
        }

    def json(self) -> str:
        """Give the same as text."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False) + "\n"


def _by_direction(rows: Iterable[Row]) -> dict[str, Row | None]:
    found = {row["direction"]: row for row in rows}
    return {direction: found.get(direction) for direction in ("up", "down")}


class Run(Analysis):
    """One run: the tables of an analysis, and what was run."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self.about = files.read_about(self.directory / ABOUT, "run", NEEDED, ABOUT_SCHEMA)
        if "guest" in self.about:
            # As earlier versions wrote it.
            self.about["programs"] = self.about.pop("guest")
        self.tables = StoredTables(self.directory / "tables")
        super().__init__(self.tables)

    @property
    def began_s(self) -> float:
        """When its timeline began, in the tables' seconds, which count from the first packet.

        Programs send their first packet when they like; every other run begins with it.
        """
        first = next(self.tables.rows("connections", columns=["start_ns", "start_s"]), None)
        began_ns = self.outcome.get("began_ns")
        if first is None or began_ns is None:
            return 0.0
        return float(first["start_s"] + (began_ns - first["start_ns"]) / 1e9)

    @property
    def name(self) -> str:
        """``mptcp``, or ``tcp-`` and the path."""
        return str(self.about["run"])

    @property
    def outcome(self) -> dict[str, Any]:
        """How it ended, with ``finished``, ``reason``, ``virtual_ns``, ``packets`` and bytes."""
        return dict(self.about["outcome"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario in its long form, as tables."""
        return self._scenario[1]

    @property
    def scenario_text(self) -> str:
        """The same as it is written (TOML)."""
        return self._scenario[0]

    @cached_property
    def _scenario(self) -> tuple[str, dict[str, Any]]:
        file = self.directory / "scenario.toml"
        try:
            written = file.read_text("utf-8")
            return written, tomllib.loads(written)
        except (OSError, ValueError) as error:
            remedy = files.REMEDIES["run"].format(self.directory)
            raise files.unusable(file, error, remedy) from error

    @property
    def throughput_mbps(self) -> float | None:
        """Throughput of the transfer, as the table ``transfers`` has it."""
        return None if self.transfer is None else self.transfer["throughput_mbps"]

    @property
    def rtt_ms_mean(self) -> float | None:
        """Mean over all round-trip time samples of all subflows, in the transfer's direction."""
        flows = [flow for flow in self._flows if flow["rtt_samples"]]
        total = sum(flow["rtt_ms_mean"] * flow["rtt_samples"] for flow in flows)
        return total / sum(flow["rtt_samples"] for flow in flows) if flows else None

    @property
    def loss_rate_percent(self) -> float | None:
        """Retransmitted data packets / data packets over all subflows, in that direction."""
        value: float | None = self.metrics["loss_rate_percent"]
        return value

    @cached_property
    def metrics(self) -> Row:
        """The metrics of the transfer by name; unknown ones are None."""
        return run_metrics.metrics_of(self.transfer, self._flows)

    @cached_property
    def _flows(self) -> list[Row]:
        if self.transfer is None:
            return []
        return run_metrics.of_transfer(self.tables.rows("flows"), self.transfer)

    @cached_property
    def transfer(self) -> Row | None:
        """Its row in ``transfers``, for its direction and the connection with most bytes.

        If a proxy splits the connection, this is the receiver's connection.
        """
        connections, transfers = (self.tables.rows(name) for name in ("connections", "transfers"))
        return run_metrics.transfer(connections, transfers, self.about["direction"])

    def document(self) -> dict[str, Any]:
        """Give what was run, its figures, and the rows of the summary tables."""
        return {
            "about": self.about,
            "throughput_mbps": self.throughput_mbps,
            "rtt_ms_mean": self.rtt_ms_mean,
            "loss_rate_percent": self.loss_rate_percent,
            "tables": self.tables.document(),
        }

    def __repr__(self) -> str:
        return f"<mptcplab.Run {self.name} in {self.directory}>"
