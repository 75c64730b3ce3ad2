"""The page of one run, or of one connection in captures."""

from __future__ import annotations

from mptcplab.engines import named
from mptcplab.labels import text
from mptcplab.labels.connections import is_mptcp, protocol
from mptcplab.report import events, provenance, tables, verdict
from mptcplab.report.charts import charts
from mptcplab.report.moments import moments
from mptcplab.report.shape import Badge, Page, Subflow
from mptcplab.report.subject import Subject
from mptcplab.results import policies
from mptcplab.results.labels import label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.results.run import Run


def describe(subject: Subject) -> Page:
    """Describe the page."""
    return Page(
        title=_title(subject),
        subtitle=_subtitle(subject),
        badges=_badges(subject),
        verdict=verdict.sentences(subject),
        from_s=subject.start_s,
        to_s=subject.end_s,
        captures=subject.captures,
        subflows=[Subflow(number, name) for number, name in subject.names.items()],
        tables=tables.tables(subject),
        charts=charts(subject),
        moments=moments(subject),
        events=events.told(subject),
        provenance=provenance.provenance(subject),
    )


def _title(subject: Subject) -> str:
    if subject.run is None:
        return f"connection {subject.connection['connection']}"
    name = str(subject.run.about["scenario"])
    return name if subject.comparison else f"{name}: {label(subject.run)}"


def _subtitle(subject: Subject) -> str:
    client, server = (
        text.endpoint(subject.connection[f"{end}_address"], subject.connection[f"{end}_port"])
        for end in ("client", "server")
    )
    ends = f"{client} → {server}"
    title = subject.scenario.get("title")
    return f"{title} · {ends}" if title else ends


def _badges(subject: Subject) -> list[Badge]:
    run, connection = subject.run, subject.connection
    badges = [
        _origin(subject),
        Badge(protocol(connection), "protocol and version in use")
        if is_mptcp(connection)
        else Badge("TCP", "plain TCP"),
        Badge(
            "download" if subject.direction == "down" else "upload",
            f"the data of this page goes from the {subject.sender} to the other end",
        ),
    ]
    if connection["fallback"] is not None:
        badges.append(Badge("fell back to TCP", text.clean(connection["fallback"])))
    if run is not None:
        badges.append(Badge(text.clean(_policies(subject, run)), "what the endpoints went by"))
        badges.append(Badge(f"seed {run.about['seed']}", "seed of all chance in the run"))
        if not run.outcome["finished"]:
            badges.append(Badge("not finished", str(run.outcome["reason"])))
    if not subject.analysis.complete:
        badges.append(Badge("cut", "a capture ends in the middle: see the remarks"))
    return badges


def _policies(subject: Subject, run: Run) -> str:
    if subject.comparison is not None:
        return policies.of_comparison(subject.comparison)
    return policies.of_run(run)


def _origin(subject: Subject) -> Badge:
    if subject.run is None:
        return Badge("captured", "measured in captures")
    engine = named(subject.run.about["engine"])
    return Badge(engine.made, engine.means)
