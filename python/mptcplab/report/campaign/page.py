"""The page of a campaign."""

from __future__ import annotations

from mptcplab._core import VERSION, Error
from mptcplab.engines import named
from mptcplab.labels import text
from mptcplab.report.campaign.charts import charts
from mptcplab.report.campaign.curves import curves
from mptcplab.report.campaign.estimated import gains, shares, variation
from mptcplab.report.campaign.figures import figures
from mptcplab.report.campaign.runs import awaited, contenders, described, runs
from mptcplab.report.campaign.shape import Axis, CampaignPage
from mptcplab.report.campaign.sides import sides
from mptcplab.report.campaign.subject import Subject
from mptcplab.report.campaign.verdict import sentences
from mptcplab.report.provenance import typed
from mptcplab.report.shape import Badge, Document, Fact, Provenance, Table
from mptcplab.results.campaign import Campaign
from mptcplab.results.statistics.intervals import LEVEL

# Failed runs that the page lists; campaign.failures has all.
MOST_FAILURES = 200


def describe(campaign: Campaign) -> CampaignPage:
    """Describe the page."""
    if not campaign.runs.height:
        raise Error(f"{campaign.directory} has no run that is done: there is nothing to draw")
    subject = Subject(campaign)
    made, places = runs(subject)
    shown, points = figures(subject, places)
    curved, band = curves(subject)
    gained, shared = gains(subject), shares(subject)
    keys = campaign.about["keys"]
    return CampaignPage(
        title=text.clean(campaign.name),
        subtitle=text.clean(campaign.title or f"campaign over {campaign.about['scenario']}"),
        badges=_badges(campaign),
        verdict=sentences(subject, gained, shared, LEVEL),
        axes=[
            Axis(name, keys[name], [str(value) for value in values])
            for name, values in campaign.axes.items()
        ],
        contenders=contenders(subject),
        paths=subject.paths,
        groups=described(subject),
        awaited=awaited(subject),
        figures=shown,
        runs=made,
        shares=shared,
        gains=gained,
        variation=list(variation(subject)),
        curves=curved,
        sides=sides(subject),
        charts=charts(points, band),
        tables=_failures(campaign),
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
        Badge(text.plural(about["repetitions"], "repetition"), "seeds of each configuration"),
    ]
    if (policies := about.get("policies")) and policies["in_words"]:
        badges.insert(1, Badge(text.clean(policies["in_words"]), "what all its runs of MPTCP have"))
    if campaign.failures.height:
        badges.append(Badge(f"{text.count(campaign.failures.height)} failed", "see the list"))
    return badges


def _failures(campaign: Campaign) -> list[Table]:
    if not campaign.failures.height:
        return []
    rows = [
        [
            row["run"],
            *("" if row[axis] is None else text.clean(str(row[axis])) for axis in campaign.axes),
            "MPTCP" if row["path"] is None else f"TCP over {row['path']}",
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
    facts = {
        "campaign": about["campaign"],
        "scenario": about["scenario"],
        "engine": about["engine"],
        "what varies": "; ".join(
            f"{name}: {', '.join(keys)}" for name, keys in about["keys"].items()
        ),
        "seeds": f"{about['seed']} to {about['seed'] + about['repetitions'] - 1}",
        "mptcplab": f"{about['mptcplab']}, build {about['build']}; page by {VERSION}",
        "platform": f"{about['platform']}, Python {about['python']}",
        "kernel": about.get("kernel"),
        "started": about["started"],
        "ended": about["ended"] or "still running, or interrupted",
        "directory": str(campaign.directory),
        "command": typed(about["command_line"]),
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
