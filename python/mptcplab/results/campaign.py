"""A campaign on the disk: its runs, their tables, and how each compares with plain TCP."""

from __future__ import annotations

import json
import shlex
from functools import cached_property
from os import PathLike
from pathlib import Path

from mptcplab import pages
from mptcplab._core import Error
from mptcplab.engines import DEFAULT, named
from mptcplab.metrics import OF_RUNS
from mptcplab.results import files, ledger, run_metrics, shards
from mptcplab.results.files import read_parquet
from mptcplab.results.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from mptcplab.charts.paper.paper import Paper
    from mptcplab.results.ledger import Ledger

ABOUT = "campaign.json"
# Version of what it holds.
ABOUT_SCHEMA = 1
PLAN = "plan.parquet"
FAILURES = "failures.json"
SHARDS = "shards"
SCENARIOS = "scenarios"
RUNS = "runs"
PROBES = "probes.parquet"

KEYS = ("run", "configuration", "repetition", "seed", "kind", "path", "pair")

#: What is always known of a campaign.
NEEDED = {"campaign", "title", "scenario", "engine", "axes", "keys", "repetitions", "seed"}
# No axis can have a name with a space.
BEST = "best Mbit/s"


def open_campaign(directory: str | PathLike[str]) -> Campaign:
    """Open what :func:`mptcplab.sweep` wrote, also while it is written.

    Raises:
        Error: There is no campaign, or it cannot be read.
    """
    return Campaign(directory)


def is_column(name: str) -> bool:
    """Say whether ``runs`` has a column of that name, so that no axis can."""
    return name in {*KEYS, "scenario", "finished", "reason", *OF_RUNS, "gain", "best_path"}


class Campaign:
    """The runs of a campaign, as polars frames that are made when they are first looked at."""

    def __init__(self, directory: str | PathLike[str]) -> None:
        self.directory = Path(directory)
        self.about = files.read_about(self.directory / ABOUT, "campaign", NEEDED, ABOUT_SCHEMA)
        if not isinstance(self.about["axes"], dict):
            raise Error(f"{directory} holds no campaign: {ABOUT} lacks what a campaign has")
        # Shards that need no second look.
        self._checked: dict[Path, dict[str, float]] = {}
        # What the directory lives as long as, where that is not for good.
        self.owned: object = None

    @property
    def name(self) -> str:
        """Name of the campaign's file, or as it ships."""
        return str(self.about["campaign"])

    @property
    def title(self) -> str | None:
        """Title, in one line."""
        title: str | None = self.about["title"]
        return title

    @property
    def axes(self) -> dict[str, list[Any]]:
        """What varies, with the values of each axis in their order."""
        return dict(self.about["axes"])

    @cached_property
    def plan(self) -> pl.DataFrame:
        """One row per planned run, done or not."""
        import polars as pl

        file = self.directory / PLAN
        try:
            return read_parquet(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise files.unusable(file, error, files.SWEEP) from error

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per run, with its configuration, its figures, and its gain over plain TCP.

        A run with MPTCP and those of plain TCP that it is compared with, under the same
        conditions, have the same ``pair``. Plain TCP that several configurations are compared with
        has no ``configuration``, and no value of the axes in which they differ.
        """
        import polars as pl

        empty = pl.DataFrame(
            schema={
                "run": pl.String,
                "finished": pl.Boolean,
                "reason": pl.String,
                **run_metrics.schema(),
            }
        )
        found = shards.scan(self._shards, "runs")
        rows = empty
        if found is not None:
            # An earlier version of mptcplab may have known fewer metrics.
            stored = self._read(pl.LazyFrame.collect, found)
            rows = pl.concat([empty, stored], how="diagonal")
        planned = self.plan.drop("scenario")
        return _compared(
            planned.join(rows.unique("run"), on="run", how="inner", maintain_order="left")
        )

    @cached_property
    def failures(self) -> pl.DataFrame:
        """One row per run that failed, and why; the next sweep tries them again."""
        import polars as pl

        file = self.directory / FAILURES
        try:
            reasons = dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}
        except (OSError, ValueError, TypeError) as error:
            remedy = f"remove it and {files.SWEEP}"
            raise files.unusable(file, error, remedy) from error
        schema = {"run": pl.String, "reason": pl.String}
        rows = pl.DataFrame(list(reasons.items()), schema=schema, orient="row")
        planned = self.plan.drop("scenario")
        return planned.join(rows, on="run", how="inner", maintain_order="left")

    @cached_property
    def neighbours(self) -> pl.DataFrame:
        """Give the results of cross traffic, with a row per run and cross traffic."""
        import polars as pl

        if shards.scan(self._shards, run_metrics.NEIGHBOURS) is None:
            return pl.DataFrame(schema={"run": pl.String, **run_metrics.neighbours_schema()})
        return self._read(pl.LazyFrame.collect, self.table(run_metrics.NEIGHBOURS))

    @cached_property
    def visits(self) -> pl.DataFrame:
        """One row per visit of a calendar, with its time and its result.

        ``state`` is ``done``, ``missed``, ``to come`` or ``going on``; a missed one has a
        ``reason`` (``off``, ``interrupted``, ``busy``, ``budget``, ``away``), and ``why`` in words.
        ``begun`` and ``ended`` are those of its first and its last attempt; ``hour`` is that of
        the day when it began, or else when it is due.
        """
        return ledger.visits(self.plan, self._kept_ledger())

    @cached_property
    def probes(self) -> pl.DataFrame | None:
        """Results of probes, a row per path and probe; ``None``: paths were not probed."""
        import polars as pl

        file = self.directory / PROBES
        try:
            return read_parquet(file) if file.exists() else None
        except (OSError, pl.exceptions.PolarsError) as error:
            raise files.unusable(file, error, "remove it, and the schedule probes anew") from error

    @cached_property
    def data(self) -> pl.DataFrame:
        """One row per attempt of a visit and path, with the bytes reserved for it and taken."""
        return ledger.data(self._kept_ledger())

    def _kept_ledger(self) -> Ledger:
        if (found := ledger.read(self.directory)) is None:
            raise Error(f"{self.directory} holds a campaign without a calendar: it has no visits")
        return found

    @cached_property
    def findings(self) -> pl.DataFrame:
        """Count in how many runs with MPTCP each kind of finding occurs, by configuration.

        The axes of a configuration are those of ``plan``. ``runs`` of ``of`` had it, and
        ``cost_s_median`` is what it cost where that is known.
        """
        import polars as pl

        own = self.runs.filter(kind="mptcp")
        of = own.group_by("configuration").agg(of=pl.len())
        empty = {"run": pl.String, "kind": pl.String, "cost_s": pl.Float64}
        rows = pl.DataFrame(schema=empty)
        if shards.scan(self._shards, "findings") is not None:
            rows = self._read(pl.LazyFrame.collect, self.table("findings")).select(*empty)
        cost = pl.col("cost_s")
        by_run = rows.group_by("run", finding="kind").agg(
            cost_s=pl.when(cost.count() > 0).then(cost.sum())
        )
        return (
            own.select("run", "configuration")
            .join(by_run, on="run")
            .group_by("configuration", "finding")
            .agg(runs=pl.len(), cost_s_median=pl.col("cost_s").median())
            .join(of, on="configuration")
            .select("configuration", "finding", "runs", "of", "cost_s_median")
            .sort("configuration", "runs", "finding", descending=[False, True, False])
        )

    def protocol(self, runs: pl.Series | None = None) -> str | None:
        """Give the ``protocol`` of the transfers of these runs, or of all; None: several."""
        import polars as pl

        planned = self.plan
        if runs is not None:
            planned = planned.filter(pl.col("run").is_in(runs.implode()))
        # Campaigns of earlier versions had none with QUIC.
        over_quic = planned["scenario"].is_in(self.about.get("quic", []))
        if over_quic.any():
            return "quic" if over_quic.all() else None
        return "tcp"

    def table(self, name: str) -> pl.LazyFrame:
        """Give a table of all runs, with the run's key in the column ``run``."""
        found = shards.scan(self._shards, name)
        if found is None:
            raise Error(f"{self.directory} has no table {name}")
        return found.join(self.plan.lazy().select("run"), on="run", how="semi")

    def scenario(self, run: str) -> str:
        """Give the scenario of a run in its long form (TOML)."""
        file = self._scenario(run)
        try:
            return file.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise files.unusable(file, error, files.SWEEP) from error

    def command(self, run: str) -> str:
        """Give the command that repeats a run, exactly; for plain TCP, with MPTCP beside it."""
        row = self._planned(run)
        command = ["mptcplab", "run", str(self._scenario(run)), "--seed", str(row["seed"])]
        if named(self.about["engine"]) is not DEFAULT:
            command += ["--engine", self.about["engine"]]
        if row["path"] is None:
            command += ["--no-baselines"]
        return shlex.join(command)

    def run(self, run: str) -> Run:
        """Open a run whose directory was kept."""
        self._planned(run)
        return Run(self.directory / RUNS / run)

    def report(self, path: str | PathLike[str] | None = None, *, run: str | None = None) -> Path:
        """Write the page of the campaign or of a run, as ``mptcplab.write_report`` does."""
        return pages.write(self, path, run=run)

    @property
    def _shards(self) -> list[shards.Shard]:
        return shards.checked(self.directory / SHARDS, self._checked).whole

    def _scenario(self, run: str) -> Path:
        return self.directory / SCENARIOS / f"{self._planned(run)['scenario']}.toml"

    def _planned(self, run: str) -> dict[str, Any]:
        for row in self.plan.filter(run=run).iter_rows(named=True):
            return row
        raise Error(f"{self.directory} has no run {run}")

    def _read(self, how: Any, what: Any) -> pl.DataFrame:
        import polars as pl

        try:
            frame: pl.DataFrame = how(what)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise Error(f"{self.directory} cannot be read: {error}") from error
        return frame

    def plot(self, kind: str = "gain", **choices: Any) -> Paper:
        """Draw a figure, ``gain`` unless asked for another, as ``mptcplab.figure`` does."""
        return pages.draw(kind, self, **choices)

    def _repr_html_(self) -> str:
        return pages.html(self)

    def __repr__(self) -> str:
        return f"<mptcplab.Campaign {self.name} in {self.directory}>"


def _compared(runs: pl.DataFrame) -> pl.DataFrame:
    """Add ``gain`` and ``best_path``: MPTCP against the best single path that finished."""
    import polars as pl

    plain = pl.col("kind") == "tcp"
    best = (
        runs.filter(plain & pl.col("finished") & pl.col("throughput_mbps").is_not_null())
        .sort("throughput_mbps", descending=True, maintain_order=True)
        .group_by("pair", maintain_order=True)
        .agg(best_path=pl.col("path").first(), **{BEST: pl.col("throughput_mbps").first()})
    )
    gain = pl.col("throughput_mbps") / pl.col(BEST) - 1
    known = ~plain & pl.col("finished") & (pl.col(BEST) > 0)
    return (
        runs.join(best, on="pair", how="left", maintain_order="left")
        .with_columns(
            gain=pl.when(known).then(gain), best_path=pl.when(~plain).then(pl.col("best_path"))
        )
        .drop(BEST)
        .select(pl.exclude("gain", "best_path"), "gain", "best_path")
    )
