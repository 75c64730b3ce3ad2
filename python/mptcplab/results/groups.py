"""Groups of a campaign's runs, and runs under the same conditions against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab._core import Error
from mptcplab.labels.connections import RECEIVERS, SENDERS, candidate
from mptcplab.results.run_metrics import SERVER
from mptcplab.results.statistics import gain

#: Bins of one run: from, to, count.
Bins = list[tuple[float, float, int]]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from mptcplab.results.campaign import Campaign
    from mptcplab.results.statistics import Gain


@dataclass(frozen=True)
class Group:
    """Runs with MPTCP, or of plain TCP over one path, that have the same values of some axes."""

    #: Value by axis. Plain TCP has none of an axis that it does not depend on.
    axes: dict[str, Any]
    #: None with MPTCP.
    path: str | None
    #: Rows of ``Campaign.runs``.
    runs: pl.DataFrame
    #: ``tcp`` or ``quic``; None with runs of both.
    protocol: str | None = "tcp"

    @property
    def name(self) -> str:
        """What ran, in words."""
        return candidate(self.protocol, self.path)

    def values(self, figure: str) -> list[float | None]:
        """Give a figure of each run; that of one that did not finish is unknown."""
        import polars as pl

        known = pl.when("finished").then(pl.col(figure).cast(pl.Float64))
        return self.runs.select(known.alias(figure))[figure].to_list()


def groups(campaign: Campaign, by: Sequence[str], runs: pl.DataFrame | None = None) -> list[Group]:
    """Split runs by axes, in the order of the axes' values; MPTCP before plain TCP."""
    _check(campaign, by)
    rows = campaign.runs if runs is None else runs
    found = []
    for key in rows.select(*by, "path").unique(maintain_order=True).rows(named=True):
        own = rows.filter(*(_is(name, value) for name, value in key.items()))
        axes = {axis: key[axis] for axis in by if key[axis] is not None}
        found.append(Group(axes, key["path"], own, campaign.protocol(own["run"])))
    single = paths(campaign)

    def position(group: Group) -> list[int]:
        return [
            0 if group.path is None else 1 + single.index(group.path),
            *(
                campaign.axes[axis].index(group.axes[axis]) if axis in group.axes else -1
                for axis in by
            ),
        ]

    return sorted(found, key=position)


def paths(campaign: Campaign) -> list[str]:
    """Name the single paths that plain TCP runs over, in the order of the plan."""
    planned = campaign.plan["path"].drop_nulls()
    return [str(path) for path in planned.unique(maintain_order=True)]


def where(campaign: Campaign, values: Mapping[str, str]) -> pl.DataFrame:
    """Give the runs with MPTCP of which axes have these values, and plain TCP beside them.

    Raises:
        Error: There is no such axis or value.
    """
    import polars as pl

    _check(campaign, values)
    runs = campaign.runs
    own = runs.filter(kind="mptcp")
    for axis, value in values.items():
        known = {str(one): one for one in campaign.axes[axis]}
        if value not in known:
            raise Error(f"axis {axis} has no value {value!r}: there are {', '.join(known)}")
        own = own.filter(_is(axis, known[value]))
    beside = pl.col("pair").is_in(own["pair"].unique().implode())
    mptcp = pl.col("run").is_in(own["run"].implode())
    return runs.filter(mptcp | ((pl.col("kind") == "tcp") & beside))


def shares(campaign: Campaign) -> pl.DataFrame:
    """Give ``run``, ``path``, ``share``: the part of the delivered bytes that each path carried.

    Where a proxy gave either end a connection of its own, of the client's: paths are there. A path
    without a subflow carried nothing.
    """
    import polars as pl

    share = pl.col("share")
    flows = (
        _of_transfers(campaign, "flows", dict.fromkeys(RECEIVERS, "client"))
        .join(campaign.table("subflows"), on=["run", "connection", "subflow"])
        .group_by("run", "path")
        .agg(share=pl.when(share.is_not_null().any()).then(share.sum()), there=pl.lit(True))
        .collect()
    )
    known = flows.select("path").unique().drop_nulls()
    every = flows.select("run").unique().join(known, how="cross")
    return (
        every.join(flows, on=["run", "path"], how="left")
        .select("run", "path", share=pl.when("there").then("share").otherwise(0.0))
        .sort("run", "path")
    )


def distributions(
    campaign: Campaign, quantity: str, runs: pl.Series | None = None
) -> dict[str, Bins]:
    """Give the bins of ``rtt`` or ``out_of_order_delay`` over all subflows, by run."""
    import polars as pl

    wanted = campaign.plan["run"] if runs is None else runs
    rows = (
        _of_transfers(campaign, "distributions", RECEIVERS)
        .filter(
            pl.col("quantity") == quantity,
            pl.col("subflow").is_null(),
            pl.col("run").is_in(wanted.implode()),
        )
        .select("run", "from_ms", "to_ms", "count")
        .collect()
    )
    found: dict[str, Bins] = {}
    for run, start, end, count in rows.iter_rows():
        found.setdefault(run, []).append((start, end, count))
    return found


def _of_transfers(campaign: Campaign, table: str, ends: Mapping[str, str]) -> pl.LazyFrame:
    """Give the rows of the connection and direction that moved most bytes of each run.

    Where a proxy gave either end a connection of its own it is that of the end that ``ends`` says
    by direction.
    """
    import polars as pl

    vantages = campaign.table("connections").select("run", "connection", "vantage", *SERVER)
    transfers = (
        campaign.table("transfers")
        .join(vantages, on=["run", "connection"], maintain_order="left")
        .sort("bytes", descending=True, maintain_order=True)
    )
    largest = transfers.unique("run", keep="first", maintain_order=True)
    at_an_end = pl.col("vantage").is_in([*SENDERS.values()])
    wanted = pl.col("vantage") == pl.col("direction").replace_strict(dict(ends))
    split = largest.filter(at_an_end)
    of_end = (
        transfers.filter(wanted)
        .join(split, on=["run", "direction", *SERVER], how="semi", maintain_order="left")
        .unique("run", keep="first", maintain_order=True)
    )
    chosen = pl.concat([of_end, largest.join(of_end, on="run", how="anti")])
    return campaign.table(table).join(
        chosen, on=["run", "connection", "direction"], how="semi", maintain_order="left"
    )


def _check(campaign: Campaign, axes: Sequence[str] | Mapping[str, str]) -> None:
    for axis in axes:
        if axis not in campaign.axes:
            names = ", ".join(campaign.axes) or "none"
            raise Error(f"{campaign.name} has no axis {axis}; its axes: {names}")


def _is(column: str, value: Any) -> pl.Expr:
    import polars as pl

    return pl.col(column).eq_missing(pl.lit(value))


@dataclass(frozen=True)
class Versus:
    """A figure of two that met the same conditions, a pair of values each time."""

    one: list[float]
    other: list[float]

    @property
    def more(self) -> int:
        """In how many pairs the first had more."""
        return sum(a > b for a, b in zip(self.one, self.other, strict=True))

    @property
    def less(self) -> int:
        """In how many it had less."""
        return sum(a < b for a, b in zip(self.one, self.other, strict=True))


def versus(runs: pl.DataFrame, one: str | None, other: str | None, figure: str) -> Versus:
    """Set two against each other: plain TCP over a path each, or MPTCP (None)."""
    import polars as pl

    finished = runs.filter("finished").drop_nulls(figure).select("pair", "path", value=figure)

    def of(path: str | None) -> pl.DataFrame:
        return finished.filter(pl.col("path").eq_missing(pl.lit(path, pl.String)))

    both = of(one).join(of(other), on="pair", maintain_order="left_right")
    return Versus(both["value"].to_list(), both["value_right"].to_list())


def gain_of(campaign: Campaign, group: Group) -> Gain:
    """Compare the throughput of a group with MPTCP with the best single path beside it."""
    return _gain(group.runs, _single_paths(campaign))


def gains(campaign: Campaign) -> dict[int, Gain]:
    """Give what MPTCP has over the best single path, by configuration, where there is one."""
    beside = _single_paths(campaign)
    if not beside.height:
        return {}
    own = campaign.runs.filter(kind="mptcp")
    return {
        number: _gain(runs, beside)
        for (number,), runs in own.group_by("configuration", maintain_order=True)
    }


def _single_paths(campaign: Campaign) -> pl.DataFrame:
    return campaign.runs.filter(kind="tcp").select("pair", "path", value=_throughput())


def _throughput() -> pl.Expr:
    """Give the throughput of runs that finished."""
    import polars as pl

    return pl.when("finished").then("throughput_mbps")


def _gain(runs: pl.DataFrame, beside: pl.DataFrame) -> Gain:
    own = runs.select("run", "pair", value=_throughput())
    pairs = own.drop("value").join(beside, on="pair", maintain_order="left")
    return gain(
        dict(own.select("run", "value").iter_rows()),
        {
            str(path): dict(runs.select("run", "value").iter_rows())
            for (path,), runs in pairs.group_by("path", maintain_order=True)
        },
    )
