"""The page of a campaign, and the runs behind it: their keys, and how each is repeated."""

from __future__ import annotations

import shlex
from array import array
from collections.abc import Mapping
from itertools import count
from typing import Any

import polars as pl

from mptcplab._core import VERSION, Error
from mptcplab.charts.campaign.charts import charts
from mptcplab.charts.campaign.estimates import curves, gains, shares, sides, variation
from mptcplab.charts.campaign.probes import probes
from mptcplab.charts.campaign.shape import (
    Axis,
    CampaignPage,
    Curve,
    Expected,
    Group,
    Quantity,
    Runs,
)
from mptcplab.charts.campaign.subject import Subject
from mptcplab.charts.campaign.summaries import figures
from mptcplab.charts.campaign.verdict import sentences
from mptcplab.charts.shape import Badge, Document, Fact, Provenance, Table
from mptcplab.engines import named
from mptcplab.labels import text
from mptcplab.labels.commands import typed_command
from mptcplab.labels.connections import candidate
from mptcplab.labels.findings import called
from mptcplab.results.campaign import RUNS, Campaign
from mptcplab.results.statistics.intervals import LEVEL

# Failed runs that the page lists; campaign.failures has all.
MOST_FAILURES = 200
# And lines of findings.
MOST_FINDINGS = 200


def describe(campaign: Campaign) -> CampaignPage:
    """Describe the page."""
    if not campaign.runs.height:
        raise Error(f"{campaign.directory} has no run that is done: there is nothing to draw")
    subject = Subject(campaign)
    page_runs, indices = runs(subject)
    shown, points = figures(subject, indices)
    curved, band = curves(subject)
    gained, shared = gains(subject), shares(subject)
    keys = campaign.about["keys"]
    return CampaignPage(
        title=text.clean(campaign.name),
        subtitle=text.clean(campaign.title or f"campaign over {campaign.about['scenario']}"),
        badges=_badges(campaign),
        verdict=[*sentences(subject, gained, shared, LEVEL), *_captured(campaign, curved)],
        axes=[
            Axis(name, keys[name], [str(value) for value in values])
            for name, values in campaign.axes.items()
        ],
        candidates=candidates(subject),
        paths=subject.paths,
        groups=groups(subject),
        expected=expected(subject),
        figures=shown,
        runs=page_runs,
        shares=shared,
        gains=gained,
        variation=list(variation(subject)),
        curves=curved,
        sides=sides(subject),
        charts=charts(points, band),
        tables=[*probes(campaign), *_findings(campaign), *_missed(campaign), *_failures(campaign)],
        provenance=_provenance(subject),
        level=LEVEL,
    )


def _badges(campaign: Campaign) -> list[Badge]:
    about = campaign.about
    engine = named(about["engine"])
    badges = [
        Badge(engine.made, engine.means),
        Badge(text.plural(campaign.runs.height, "run"), "runs that are done"),
        Badge(text.plural(about["configurations"], "configuration"), "combinations of the axes"),
        _times(about),
    ]
    if (policies := about.get("policies")) and policies["in_words"]:
        badges.insert(
            1, Badge(text.clean(policies["in_words"]), "what all its runs over several paths have")
        )
    if campaign.failures.height:
        badges.append(Badge(f"{text.count(campaign.failures.height)} failed", "see the list"))
    return badges


def _captured(campaign: Campaign, curved: Mapping[Quantity, list[Curve]]) -> list[str]:
    """Say why there are no curves, where these need captures."""
    if named(campaign.about["engine"]).emulates or any(curved.values()):
        return []
    return ["Nobody captured: round trips and out-of-order delays are not known."]


def _times(about: dict[str, Any]) -> Badge:
    """Say how often each configuration was run."""
    if (calendar := about.get("calendar")) is None:
        return Badge(text.plural(about["repetitions"], "repetition"), "seeds of each configuration")
    description = f"times of day are those of {calendar['time_zone']}"
    return Badge(text.plural(calendar["visits"], "visit"), description)


def _missed(campaign: Campaign) -> list[Table]:
    """List the visits of a calendar that were missed."""
    if campaign.about.get("calendar") is None:
        return []
    zone = campaign.about["calendar"]["time_zone"]
    local = pl.col("due").dt.convert_time_zone(zone).dt.strftime("%a %Y-%m-%d %H:%M")
    missed = campaign.visits.filter(state="missed").with_columns(due=local)
    if not missed.height:
        return []
    rows = [
        [str(visit), due, reason, text.clean(why)]
        for visit, due, reason, why in missed.select("visit", "due", "reason", "why").iter_rows()
    ]
    columns = ["visit", f"due ({zone})", "reason", "why"]
    numeric = [True, False, False, False]
    return [Table("missed", "Visits that were missed", columns, numeric, rows, [None] * 4)]


def _findings(campaign: Campaign) -> list[Table]:
    found = campaign.findings
    if found.is_empty():
        return []
    planned = campaign.plan.filter(kind="mptcp").unique("configuration")
    axes = {row["configuration"]: row for row in planned.iter_rows(named=True)}
    rows = [
        [
            *(text.clean(str(axes[row["configuration"]][axis])) for axis in campaign.axes),
            called(row["finding"]),
            f"{row['runs']} of {row['of']}",
            text.UNKNOWN if row["cost_s_median"] is None else text.seconds(row["cost_s_median"]),
        ]
        for row in found.head(MOST_FINDINGS).iter_rows(named=True)
    ]
    more = found.height - len(rows)
    title = "Why runs were slow" + (f" (and {text.count(more)} more)" if more else "")
    of = "of MPTCP" if campaign.protocol() == "tcp" else "over several paths"
    columns = [*campaign.axes, "finding", f"runs {of}", "cost"]
    meanings = [None] * (len(columns) - 1) + ["median of the runs in which it is known"]
    numeric = [False] * (len(columns) - 1) + [True]
    return [Table("findings", title, columns, numeric, rows, meanings)]


def _failures(campaign: Campaign) -> list[Table]:
    if not campaign.failures.height:
        return []
    protocol = campaign.protocol()
    rows = [
        [
            row["run"],
            *("" if row[axis] is None else text.clean(str(row[axis])) for axis in campaign.axes),
            candidate(protocol, row["path"]),
            str(row["seed"]),
            text.clean(row["reason"]),
        ]
        for row in campaign.failures.head(MOST_FAILURES).iter_rows(named=True)
    ]
    more = campaign.failures.height - len(rows)
    title = "Runs that failed" + (f" (and {text.count(more)} more)" if more else "")
    columns = ["run", *campaign.axes, "what", "seed", "reason"]
    return [Table("failures", title, columns, [False] * len(columns), rows, [None] * len(columns))]


def _provenance(subject: Subject) -> Provenance:
    campaign, about = subject.campaign, subject.campaign.about
    seeds = about.get("seeds", about["repetitions"])
    facts = {
        "campaign": about["campaign"],
        "scenario": about["scenario"],
        "engine": about["engine"],
        "what varies": "; ".join(
            f"{name}: {', '.join(keys)}" for name, keys in about["keys"].items()
        ),
        "seeds": f"{about['seed']} to {about['seed'] + seeds - 1}",
        "mptcplab": f"{about['mptcplab']}, build {about['build']}; page by {VERSION}",
        "platform": f"{about['platform']}, Python {about['python']}",
        "kernel": about.get("kernel"),
        "started": about["started"],
        "ended": about["ended"] or "still running, or interrupted",
        "directory": str(campaign.directory),
        "command": typed_command(about["command_line"]),
    }
    return Provenance(
        [Fact(name, text.clean(value)) for name, value in facts.items() if value],
        [],
        None,
        [
            Document(
                "The scenario of the first configuration in full",
                "scenario.toml",
                campaign.scenario(campaign.plan["run"][0]),
            )
        ],
    )


# Where pages of single runs lie, in the directory of the campaign.
PAGES = "reports"
# Digits of a key that one column holds.
HALF = 8


def runs(subject: Subject) -> tuple[Runs, dict[str, int]]:
    """Give the runs of all groups, one after the other, and their indices by their keys."""
    campaign = subject.campaign
    keys = [key for group in subject.groups for key in group.runs["run"]]
    indices = dict(zip(keys, count()))
    numbers = [number for number, group in enumerate(subject.groups) for _ in group.runs["run"]]
    own = {page.stem for page in (campaign.directory / PAGES).glob("*.html")}

    def column(code: str, name: str) -> array[int]:
        return array(code, [value for group in subject.groups for value in group.runs[name]])

    command = f"mptcplab report {shlex.quote(str(campaign.directory))} --run {{run}}"
    found = Runs(
        key_high=array("I", [int(key[:HALF], 16) for key in keys]),
        key_low=array("I", [int(key[HALF:], 16) for key in keys]),
        group=array("I", numbers),
        seed=array("d", map(float, column("Q", "seed"))),
        pair=column("I", "pair"),
        finished=array("H", map(int, column("H", "finished"))),
        pages=sorted(indices[key] for key in own & indices.keys()),
        kept=(campaign.directory / RUNS).is_dir(),
        command=command,
    )
    return found, indices


def groups(subject: Subject) -> list[Group]:
    """Describe the groups themselves."""
    campaign = subject.campaign
    names = candidates(subject)
    found = []
    for number, group in enumerate(subject.groups):
        planned = _same(subject, number, campaign.plan)
        first = group.runs.row(0, named=True)
        command = campaign.command(first["run"])
        found.append(
            Group(
                candidate=names.index(group.name),
                values=_indices(subject, group.axes),
                planned=planned,
                done=len(group.runs),
                finished=int(group.runs["finished"].sum()),
                failed=_same(subject, number, campaign.failures),
                command=command.replace(f"--seed {first['seed']}", "--seed {seed}"),
                against=subject.against.get(number),
            )
        )
    return found


def expected(subject: Subject) -> list[Expected]:
    """Give the groups that are planned and of which no run is done, of what ran elsewhere."""
    names = candidates(subject)
    ran = {group.path: names.index(group.name) for group in subject.groups}
    done = [(group.path, _indices(subject, group.axes)) for group in subject.groups]
    planned = subject.campaign.plan.select("path", *subject.campaign.axes)
    found = []
    for row in planned.unique(maintain_order=True).iter_rows(named=True):
        path = row.pop("path")
        values = _indices(subject, row)
        if path in ran and (path, values) not in done:
            found.append(Expected(ran[path], values))
    return found


def candidates(subject: Subject) -> list[str]:
    """Name what ran: MPTCP, and plain TCP over each path."""
    return list(dict.fromkeys(group.name for group in subject.groups))


def _indices(subject: Subject, values: dict[str, Any]) -> list[int | None]:
    """Give the indices of a group's values in those of each axis."""
    return [
        None if values.get(axis) is None else known.index(values[axis])
        for axis, known in subject.campaign.axes.items()
    ]


def _same(subject: Subject, number: int, rows: pl.DataFrame) -> int:
    """Count the rows that are of a group."""
    group = subject.groups[number]
    keys = {axis: group.axes.get(axis) for axis in subject.campaign.axes} | {"path": group.path}
    return rows.filter(
        *(pl.col(name).eq_missing(pl.lit(value)) for name, value in keys.items())
    ).height
