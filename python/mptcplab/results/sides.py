"""Runs under the same conditions against each other."""

from __future__ import annotations

from dataclasses import dataclass

from mptcplab.results.statistics import gain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from mptcplab.results.campaign import Campaign
    from mptcplab.results.groups import Group
    from mptcplab.results.statistics import Gain


@dataclass(frozen=True)
class Sides:
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


def sides(runs: pl.DataFrame, one: str | None, other: str | None, figure: str) -> Sides:
    """Set two against each other: plain TCP over a path each, or MPTCP (None)."""
    import polars as pl

    finished = runs.filter("finished").drop_nulls(figure).select("pair", "path", value=figure)

    def of(path: str | None) -> pl.DataFrame:
        return finished.filter(pl.col("path").eq_missing(pl.lit(path, pl.String)))

    both = of(one).join(of(other), on="pair", maintain_order="left_right")
    return Sides(both["value"].to_list(), both["value_right"].to_list())


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
