"""What the campaigns of an experiment measured: figures per run, in the order of their seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mptcplab.scenario.section import DIRECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from mptcplab.results.campaign import Campaign

    Values = list[float | None]


class Measured:
    """The campaigns of an experiment, opened."""

    def __init__(self, campaigns: dict[str, Campaign], tables: dict[str, dict[str, Any]]) -> None:
        self.campaigns = campaigns
        #: The campaigns as tables, by name.
        self.tables = tables

    def sample(self, campaign: str = "main", stack: str | None = None, **labels: Any) -> Sample:
        """Give the runs of one configuration, with the first stack if left out.

        There are none of a stack that was not run.
        """
        stack = stack or next(iter(self.tables[campaign]["axis"]["stack"]["points"]))
        scene = self.tables[campaign]["scenario"]
        direction = DIRECTIONS[scene["transfer"]["direction"]]
        return Sample(self.campaigns[campaign], {"stack": stack, **labels}, direction)


@dataclass
class Sample:
    """Runs that differ in nothing but their seed."""

    campaign: Campaign
    labels: dict[str, Any]
    direction: str

    def figure(self, name: str) -> Values:
        """Give a figure of the transfers, a column of ``Campaign.runs``."""
        return self.runs[name].to_list()

    def alone(self, path: str, name: str = "throughput_mbps") -> Values:
        """Give a figure of plain TCP over a path, under the same conditions."""
        pairs = self.runs.select("pair")
        rows = self.campaign.runs.filter(kind="tcp", path=path)
        return pairs.join(rows, on="pair", how="left", maintain_order="left")[name].to_list()

    def best_alone(self) -> Values:
        """Give the throughput of plain TCP over the path that is best in the mean."""
        paths = self.campaign.runs.filter(kind="tcp")["path"].unique(maintain_order=True)
        found = [self.alone(path) for path in paths]
        return max(found, key=_mean, default=[])

    def transfer(self, name: str) -> Values:
        """Give a column of the table ``transfers``."""
        rows = self._table("transfers").filter(connection=0, direction=self.direction)
        return self._in_order(rows.select("run", name), name)

    def subflow(self, path: str, number: int, name: str) -> Values:
        """Give a figure of a path's subflow to a server address, counted from 1.

        Where it was joined again, of all of them together; its handshake is the first one's.
        """
        import polars as pl

        resent, sent = pl.col("retransmitted_packets").sum(), pl.col("data_packets").sum()
        samples = pl.col("rtt_samples")
        figures = {
            "throughput_mbps": pl.col("throughput_mbps").sum(),
            "rtt_ms_mean": (pl.col("rtt_ms_mean") * samples).sum() / samples.sum(),
            "loss_rate_percent": 100 * resent / sent,
            "handshake_rtt_ms": pl.col("handshake_rtt_ms").sort_by("subflow").first(),
            "rtt_ms_max": pl.col("rtt_ms_max").max(),
            "rtt_ms_min": pl.col("rtt_ms_min").min(),
        }
        rows = self._subflows.filter(path=path, number=number).group_by("run")
        known = rows.agg(figures[name].alias(name)).with_columns(pl.col(name).fill_nan(None))
        return self._in_order(known, name)

    def shortest_at_the_sender(self) -> Values:
        """Give the shortest round trip of data, at whatever end of a split connection sends it."""
        import polars as pl

        flows = self._table("flows").filter(direction=self.direction)
        return self._in_order(flows.group_by("run").agg(pl.col("rtt_ms_min").min()), "rtt_ms_min")

    def seen_by_the_server(self) -> list[bool]:
        """Say of each run whether the server saw any connection."""
        import polars as pl

        connections = self._table("connections").filter(pl.col("vantage").is_in(["server", "both"]))
        runs = set(connections["run"])
        return [run in runs for run in self.runs["run"]]

    def established(self) -> dict[str, int]:
        """Count the subflows of each run whose handshake was completed."""
        own = self._table("subflows").filter(connection=0, handshake="established")
        return dict(own.group_by("run").len().iter_rows())

    def path(self, path: str, name: str = "throughput_mbps") -> Values:
        """Give the sum of a column over the path's subflows."""
        import polars as pl

        rows = self._subflows.filter(path=path).group_by("run").agg(pl.col(name).sum())
        return self._in_order(rows, name)

    def between(self, start_s: float, end_s: float, path: str | None = None) -> Values:
        """Give the throughput in a part of the run, of the connection or of a path.

        Where a run ends in it, until there; a run that ended before has none.
        """
        import polars as pl

        ends = self.runs.select("run", "elapsed_s")
        span = pl.min_horizontal("elapsed_s", pl.lit(end_s)) - start_s
        sums = self.bins(path).filter(pl.col("at_s").is_between(start_s, end_s, closed="left"))
        rows = (
            ends.join(sums.group_by("run").agg(pl.col("bytes").sum()), on="run", how="left")
            .with_columns(pl.col("bytes").fill_null(0), span=span)
            .with_columns(mbps=pl.when(pl.col("span") > 0).then(pl.col("bytes") * 8e-6 / span))
        )
        return self._in_order(rows, "mbps")

    def bins(self, path: str | None = None) -> pl.DataFrame:
        """Give the bytes of each bin of time, of the connection or a path."""
        import polars as pl

        if path is None:
            rows = self._table("throughput").filter(connection=0, direction=self.direction)
            return rows.filter(pl.col("subflow").is_null()).select("run", "at_s", "bytes")
        own = self._of_subflows.filter(path=path)
        return own.group_by("run", "at_s").agg(pl.col("bytes").sum()).sort("run", "at_s")

    def carried(self, run: str, start_s: float, end_s: float, path: str, number: int) -> int:
        """Give the bytes that a subflow carried in a part of a run."""
        import polars as pl

        rows = self._of_subflows.filter(run=run, path=path, number=number)
        within = rows.filter(pl.col("at_s").is_between(start_s, end_s, closed="left"))
        return int(within["bytes"].sum())

    def timeouts(
        self, path: str, number: int, start_s: float, end_s: float
    ) -> dict[str, list[float]]:
        """Give the times in a part of each run at which a subflow's timer sent something again."""
        import polars as pl

        rows = self._of_subflow("events", path, number).filter(event="timeout")
        within = rows.filter(pl.col("at_s").is_between(start_s, end_s)).sort("at_s")
        return dict(within.group_by("run").agg("at_s").iter_rows())

    def rtt_samples(self, path: str, number: int) -> dict[str, list[tuple[float, float]]]:
        """Give each run's round trips over a subflow: when they ended, and how long they were."""
        rows = self._of_subflow("rtt", path, number).sort("run", "at_s")
        return {
            run: list(own.select("at_s", "rtt_ms").iter_rows())
            for (run,), own in rows.group_by("run", maintain_order=True)
        }

    def retransmissions(self, path: str, number: int) -> dict[str, list[float]]:
        """Give the times at which a subflow sent something again, by run."""
        import polars as pl

        rows = self._of_subflow("events", path, number).filter(
            pl.col("event").is_in(["retransmission", "timeout"])
        )
        return dict(rows.sort("at_s").group_by("run").agg("at_s").iter_rows())

    def samples(
        self, quantity: str, path: str, low_ms: float, high_ms: float
    ) -> tuple[Values, Values]:
        """Count a quantity's samples of a path's subflows within a span, and all of them, by run.

        Bins that the span cuts are not within it.
        """
        import polars as pl

        of_transfer = {"connection": 0, "direction": self.direction, "quantity": quantity}
        own = self._subflows.filter(path=path).select("run", "subflow")
        rows = self._table("distributions").filter(**of_transfer).join(own, on=["run", "subflow"])
        inside = (pl.col("from_ms") >= low_ms) & (pl.col("to_ms") <= high_ms)
        counted = rows.group_by("run").agg(
            within=pl.col("count").filter(inside).sum().cast(pl.Float64),
            every=pl.col("count").sum().cast(pl.Float64),
        )
        return self._in_order(counted, "within"), self._in_order(counted, "every")

    @cached_property
    def runs(self) -> pl.DataFrame:
        """The transfers, in the order of their seeds."""
        import polars as pl

        rows = self.campaign.runs.filter(kind="mptcp")
        for axis, label in self.labels.items():
            rows = rows.filter(pl.col(axis) == label)
        return rows.sort("seed")

    @cached_property
    def _of_subflows(self) -> pl.DataFrame:
        """Bins of time of all subflows, with their paths and numbers there."""
        rows = self._table("throughput").filter(connection=0, direction=self.direction)
        own = self._subflows.select("run", "subflow", "path", "number")
        return rows.join(own, on=["run", "subflow"])

    @cached_property
    def _subflows(self) -> pl.DataFrame:
        """Flows in the direction of the data, with their paths and numbers there."""
        import polars as pl

        keys = ["run", "connection", "subflow"]
        own = self._table("subflows").filter(connection=0, handshake="established")
        flows = self._table("flows").filter(connection=0, direction=self.direction)
        rank = pl.col("server_address").rank("dense").over("run", "path").cast(pl.Int64)
        numbered = own.with_columns(number=rank)
        return numbered.select(*keys, "path", "number", "handshake_rtt_ms").join(flows, on=keys)

    def _of_subflow(self, table: str, path: str, number: int) -> pl.DataFrame:
        """Rows of a table about the data of a path's subflow."""
        own = self._subflows.filter(path=path, number=number).select("run", "subflow")
        rows = self._table(table).filter(connection=0, direction=self.direction)
        return rows.join(own, on=["run", "subflow"])

    def _table(self, name: str) -> pl.DataFrame:
        runs = self.runs.lazy().select("run")
        return self.campaign.table(name).join(runs, on="run", how="semi").collect()

    def _in_order(self, rows: pl.DataFrame, name: str) -> Values:
        order = self.runs.select("run")
        return order.join(rows, on="run", how="left", maintain_order="left")[name].to_list()


def _mean(values: Values) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0
