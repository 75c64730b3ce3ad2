"""A campaign at a glance: each configuration's runs, with mean and spread."""

from __future__ import annotations

from mptcplab.metrics import of_runs
from mptcplab.results.groups import gains
from mptcplab.results.statistics import adjust, pairs_needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import polars as pl

    from mptcplab.results.campaign import Campaign
    from mptcplab.results.statistics import Gain

# Version of the document.
SCHEMA = 1
# No axis can have a name with a space.
OF = "of configuration"
SHOWN = tuple(one.column for one in of_runs("overview"))


def document(campaign: Campaign) -> dict[str, Any]:
    """Give what was run, its results, and what failed.

    With fewer than ``repetitions_needed`` no p-value of paired runs can be below 0.05.
    """
    about = campaign.about
    copied = ("campaign", "title", "scenario", "engine", "axes", "repetitions", "seed")
    return {
        "schema": SCHEMA,
        **{key: about[key] for key in copied},
        "policies": about.get("policies"),
        "directory": str(campaign.directory),
        "repetitions_needed": pairs_needed(),
        "runs": {
            "planned": campaign.plan.height,
            "done": campaign.runs.height,
            "failed": campaign.failures.height,
        },
        "calendar": calendar(campaign),
        "probes": None if campaign.probes is None else campaign.probes.to_dicts(),
        "configurations": configurations(campaign),
        "failures": list(campaign.failures.iter_rows(named=True)),
    }


def calendar(campaign: Campaign) -> dict[str, Any] | None:
    """Give the outcomes of the visits of a calendar, and what each path carried in them."""
    about = campaign.about.get("calendar")
    if about is None:
        return None
    import polars as pl

    visits, carried = campaign.visits, campaign.data.group_by("path", maintain_order=True)
    state = pl.coalesce("reason", "state")
    counts = visits.group_by(state.alias("state"), maintain_order=True).len()
    return {
        "time_zone": about["time_zone"],
        "visits": visits.height,
        "states": dict(counts.iter_rows()),
        "bytes": dict(carried.agg(pl.col("bytes").sum()).iter_rows()),
        "missed": [
            {
                "visit": row["visit"],
                "due": row["due"].isoformat(),
                "reason": row["reason"],
                "why": row["why"],
            }
            for row in visits.filter(state="missed").iter_rows(named=True)
        ],
    }


def configurations(campaign: Campaign) -> list[dict[str, Any]]:
    """Give a row per configuration: its axes, and under ``runs`` what MPTCP and plain TCP gave.

    Of each figure ``n`` finished runs are known, with their ``mean`` and ``sigma`` (n − 1). The
    ``gain`` is that of the page: mean throughput over that of plain TCP over the path that is best
    on average, − 1; unknown where not every run of both finished. Its ``p_value`` is corrected over
    the configurations (Benjamini and Hochberg). MPTCP has its ``neighbours``:
    what cross traffic got beside it, and ``findings``: in how many of its runs each kind was made.
    """
    rows = campaign.plan.filter(kind="mptcp").unique("configuration").sort("configuration")
    by_number: dict[int, dict[str, Any]] = {}
    found = gains(campaign)
    p_values = [one.paired.p_value if one.all_finished else None for one in found.values()]
    corrected = dict(zip(found, adjust(p_values, "benjamini-hochberg"), strict=True))
    for row in rows.iter_rows(named=True):
        number = row["configuration"]
        axes = {axis: row[axis] for axis in campaign.axes}
        by_number[number] = {
            "configuration": number,
            "axes": axes,
            "runs": {},
            "gain": _gain(found.get(number), corrected.get(number)),
            "findings": [],
        }
    for row in campaign.findings.iter_rows(named=True):
        columns = ("finding", "runs", "of", "cost_s_median")
        by_number[row["configuration"]]["findings"].append({key: row[key] for key in columns})
    for row in _grouped(campaign).iter_rows(named=True):
        one = by_number[row[OF]]
        name = "mptcp" if row["path"] is None else f"tcp-{row['path']}"
        stated = {figure: _stated(row, figure) for figure in SHOWN}
        one["runs"][name] = {"runs": row["runs"], "finished": row["finished"], **stated}
    for row in _neighbours(campaign).iter_rows(named=True):
        beside = by_number[row["configuration"]]["runs"]["mptcp"].setdefault("neighbours", {})
        beside[row["name"]] = {"throughput_mbps": _stated(row, "throughput_mbps")}
    return list(by_number.values())


def _gain(found: Gain | None, p_value: float | None) -> dict[str, Any] | None:
    if found is None:
        return None
    ratio = found.paired.relative
    ends = {"mean": ratio.estimate, "low": ratio.low, "high": ratio.high}
    return {"n": ratio.n, **ends, "p_value": p_value, "best_path": found.best_path}


def _neighbours(campaign: Campaign) -> pl.DataFrame:
    """Describe what cross traffic got beside MPTCP in each configuration, where it finished."""
    import polars as pl

    own = campaign.runs.filter(pl.col("finished"), kind="mptcp").select("run", "configuration")
    return (
        own.join(campaign.neighbours, on="run", maintain_order="left_right")
        .group_by("configuration", "name", maintain_order=True)
        .agg(_described("throughput_mbps"))
    )


def _grouped(campaign: Campaign) -> pl.DataFrame:
    """Describe the runs of each configuration (``OF``), and those of plain TCP beside them."""
    import polars as pl

    planned = campaign.plan.filter(kind="mptcp")
    of = pl.col("configuration").alias(OF)
    pairs = planned.select("pair", of)
    own = campaign.runs.filter(kind="mptcp").with_columns(of)
    plain = campaign.runs.filter(kind="tcp").join(pairs, on="pair", maintain_order="left_right")
    described = []
    for name in SHOWN:
        described += _described(name, pl.col(name).filter(pl.col("finished")))
    return (
        pl.concat([own, plain.select(own.columns)])
        .group_by(OF, "path", maintain_order=True)
        .agg(pl.len().alias("runs"), pl.col("finished").sum(), *described)
    )


def _described(name: str, known: pl.Expr | None = None) -> list[pl.Expr]:
    """Describe a column, or what is known of it."""
    import polars as pl

    known = pl.col(name) if known is None else known
    return [
        known.count().alias(f"{name} n"),
        known.mean().alias(f"{name} mean"),
        known.std().alias(f"{name} sigma"),
    ]


def _stated(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {what: row[f"{name} {what}"] for what in ("n", "mean", "sigma")}
