"""Why it was slow: the first findings at the head of a summary, or all with their evidence."""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.cli.summary.subflows import DOWN_FIRST
from mptcplab.labels import text
from mptcplab.labels.connections import SENDERS
from mptcplab.labels.findings import (
    MOST,
    NO_FAULT,
    NOTHING,
    by_cost,
    called,
    counted,
    described,
    is_minimum,
)
from mptcplab.results.findings.remedies import triable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.results.run import Run

Row = dict[str, Any]

# Of a lower rate nobody speaks.
LEAST_MBPS = 0.001
# A direction that carried a smaller part of what the other one did is not what was slow.
LEAST_PART = 0.1
SHOWN_NOTHING = "the packets show nothing that cost time"


def print_first(
    page: Page, rows: Iterable[Row], *, several: bool = False, rest: str = "--why"
) -> None:
    """Print at most three findings.

    ``several`` says that they may be about several connections, ``rest`` what shows all.
    """
    found = by_cost(rows)
    for row in found[:MOST]:
        prefix = f"connection {row['connection']}: " if several else ""
        page.paragraph(prefix + described(row), first="why ", style="strong", indent="")
    if len(found) > MOST:
        more = text.plural(len(found) - MOST, "more finding")
        page.paragraph(
            f"{more}: {rest} shows all, with evidence", first="    ", indent="", style="faint"
        )
    if found:
        page.line()


def next_step(rows: Iterable[Row], sources: Sequence[str]) -> str | None:
    """Say what tries the remedies of findings, if ``sources`` can be tried and one may help."""
    if not sources or not any(map(triable, rows)):
        return None
    return f"mptcplab why --try {shlex.join(sources)} tries what would help"


def sources_of(run: Run, source: str) -> list[str]:
    """Give what ``mptcplab why --try`` takes of a run: its captures, if it is of a real kernel."""
    from mptcplab import engines

    if engines.named(run.about["engine"]).in_memory:
        return [source]
    return sorted(map(str, run.directory.glob("*.pcapng")))


def print_counted(page: Page, findings: list[list[Row]]) -> None:
    """Print in how many of several runs each kind was found."""
    found = counted(findings)
    for kind, runs, cost in found[:MOST]:
        lost = "" if cost is None or kind in NO_FAULT else f": {text.seconds(cost)} lost (median)"
        page.paragraph(
            f"{called(kind)} in {runs} of {len(findings)} runs{lost}",
            first="why ",
            style="strong",
            indent="",
        )
    if len(found) > MOST:
        page.paragraph(
            f"{text.plural(len(found) - MOST, 'more kind')}: mptcplab why of one run shows all",
            first="    ",
            indent="",
            style="faint",
        )
    if found:
        page.line()


def print_all(
    page: Page,
    rows: Iterable[Row],
    *,
    several: bool = False,
    unseen: Iterable[str] = (),
    unanswered: str | None = None,
    sources: Sequence[str] = (),
) -> None:
    """Print all findings, each with its evidence, its remedy and a filter for Wireshark.

    Those of one kind with one remedy stand together. ``unseen`` are the ends that sent data where
    nobody captured, ``unanswered`` is what captures cannot answer,
    ``sources`` are what ``mptcplab why --try`` takes.
    """
    alike: dict[tuple[str, str], list[Row]] = {}
    for row in by_cost(rows):
        alike.setdefault((row["kind"], row["remedy"]), []).append(row)
    # What makes the captures unfit says what to do.
    unfit = any(kind == "capture_unfit" for kind, _ in alike)
    unseen = [] if unfit else list(unseen)
    if not alike:
        page.paragraph(SHOWN_NOTHING if unanswered or unseen else NOTHING, indent="")
    for number, ((_, remedy), group) in enumerate(alike.items()):
        if number:
            page.line()
        for row in group:
            prefix = f"connection {row['connection']}: " if several else ""
            page.paragraph(prefix + described(row), indent="", style="strong")
            page.facts(_facts(row))
            page.paragraph(row["evidence"], first="evidence  ")
            # Filters are copied: they stay on one line.
            page.line(f"  Wireshark {row['filter']}")
        page.paragraph(remedy, first="remedy    ")
    if not unseen and (step := next_step(itertools.chain(*alike.values()), sources)):
        page.paragraph(step, first="– ")
    if unanswered:
        page.paragraph(unanswered, first="– ")
    ends = list(unseen)
    if ends:
        wanted = "captures of both ends" if len(ends) > 1 else f"the capture of the {ends[0]} too"
        page.paragraph(
            f"much of what costs time shows only at the sender of the data: give {wanted}",
            first="– ",
            style="faint",
        )


def unseen_senders(flows: Iterable[Row]) -> list[str]:
    """List the ends that sent data of these flows, and at which nobody captured it.

    Of a connection whose data went one way, what asks for it and answers to it does not count.
    """
    rows = list(flows)
    sent: Counter[tuple[int, str]] = Counter()
    for flow in rows:
        sent[flow["connection"], flow["direction"]] += flow["bytes"] or 0
    most = {number: max(sent[number, direction] for direction in DOWN_FIRST) for number, _ in sent}
    blind = {
        flow["direction"]
        for flow in rows
        if flow["data_packets"]
        and flow["loss_rate_percent"] is None
        and sent[flow["connection"], flow["direction"]] >= LEAST_PART * most[flow["connection"]]
    }
    return [SENDERS[direction] for direction in DOWN_FIRST if direction in blind]


def _facts(row: Row) -> list[str]:
    facts = [called(row["kind"]), f"{text.at(row['from_s'])} to {text.at(row['to_s'])}"]
    if row["cost_s"] is None:
        facts.append("cost unknown")
    elif row["cost_mbps"] is not None:
        cost = f"{'at least ' if is_minimum(row) else ''}{text.seconds(row['cost_s'])}"
        rate = f", {text.rate(row['cost_mbps'])} more" if row["cost_mbps"] >= LEAST_MBPS else ""
        facts.append(f"without it {cost} less{rate}")
    if row["direction"] is not None:
        facts.append(row["direction"])
    facts.append(f"confidence {row['confidence']:.1f}")
    if row["record"] is not None:
        facts.append(f"{row['capture']} packet {row['record']}")
    return facts


def print_model(page: Page, model: Row, findings: list[Row]) -> None:
    """Print how accurate a model of a captured transfer is, and what it leaves out."""
    page.line()
    captured, taken = text.seconds(model["captured_s"]), model["taken_s"]
    sentence = f"a model of connection {model['connection']}, over links read off the captures, "
    if taken is None:
        page.paragraph(f"{sentence}does not come to its end: no remedy was tried", indent="")
        return
    off = f"{abs(model['off']):.0%} {'longer' if model['off'] > 0 else 'shorter'}".replace(
        "%", " %"
    )
    sentence += f"takes {text.seconds(taken)} where the transfer took {captured}, {off}"
    if not model["holds"]:
        band = f"{model['band']:.0%}".replace("%", " %")
        sentence += f": more than {band}, and so nothing is concluded from it"
    page.paragraph(sentence, indent="")
    if model["holds"] and (paths := model["never_filled"]):
        # Which gains are minima, the table says.
        sentence = f"round trips show no queue on {' and '.join(paths)}, which may carry more"
        page.paragraph(sentence, indent="")
    missing = {row["kind"] for row in findings if triable(row)} - set(model["shown"])
    if model["holds"] and missing:
        kinds = " and ".join(f"“{kind}”" for kind in sorted(map(called, missing)))
        sentence = f"it does not show the finding {kinds}, and nothing was tried against that"
        page.paragraph(sentence, indent="")


def print_tried(page: Page, tried: list[Row], *, model: bool = False) -> None:
    """Print what each remedy gave in a simulation."""
    from mptcplab.results.findings.tries import SERVED

    page.line()
    if not tried:
        page.paragraph("no finding has a remedy that a simulation can try", indent="")
        return
    where = "in the model, means of five seeds" if model else "with the same seed"
    page.paragraph(f"tried {where}:", indent="", style="strong")
    columns = [
        Column("remedy", [row["remedy"] for row in tried], left=True),
        Column("for", [_names(row["kind"]) for row in tried], left=True),
        Column("claimed", [_or_unknown(row["claimed_s"]) for row in tried]),
        Column("gained", [_gained(row) for row in tried]),
        Column("Mbit/s", [text.figure(row["throughput_mbps"]) for row in tried]),
        Column("before", [text.figure(row["before_mbps"]) for row in tried]),
    ]
    # What is gained of a long queue is delay.
    if any("bufferbloat" in row["kind"] for row in tried):
        columns += [
            Column("RTT ms", [_figure(row["rtt_ms_mean"]) for row in tried]),
            Column("before", [_figure(row["rtt_before_ms"]) for row in tried]),
        ]
    # What has to be in time gains no time.
    for column, head in (("late_share", "late %"), ("mos", "MOS"), ("stall_s", "stalled s")):
        if any(row[column] is not None for row in tried):
            scale = 100 if column == "late_share" else 1
            columns += [
                Column(
                    title,
                    [_figure(row[one] if row[one] is None else row[one] * scale) for row in tried],
                )
                for one, title in ((column, head), (SERVED[column], "before"))
            ]
    draw(page, columns)
    for row in tried:
        # Settings are copied: they stay on one line.
        page.line(f"{row['remedy']}: {shlex.join(_options(row))}")
        if row["limit"]:
            page.paragraph(f"{row['remedy']}: {row['limit']}", indent="")


def _options(row: Row) -> list[str]:
    """Give what ``mptcplab run`` takes to do what a try did."""
    return [word for setting in row["settings"] for word in ("--set", setting)]


def _gained(row: Row) -> str:
    return f"{'at least ' if row['gained_is_minimum'] else ''}{_or_unknown(row['gained_s'])}"


def _figure(value: float | None) -> str:
    return text.UNKNOWN if value is None else text.figure(value)


def _names(kinds: str) -> str:
    return ", ".join(map(called, kinds.split(", ")))


def _or_unknown(seconds: float | None) -> str:
    return text.UNKNOWN if seconds is None else f"{seconds:.2f} s"
