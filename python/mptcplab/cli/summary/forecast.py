"""What a schedule will take, before it is run."""

from __future__ import annotations

from mptcplab.cli.summary.page import Page
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.schedule.forecast import Forecast, PathForecast


def print_forecast(found: Forecast) -> None:
    """Print it."""
    page = Page()
    definition, visits = found.matrix.definition, found.matrix.visits
    page.head(definition.name, definition.campaign.title)
    first, last = (
        one.due.astimezone(definition.zone).strftime("%a %Y-%m-%d %H:%M")
        for one in (visits[0], visits[-1])
    )
    page.paragraph(
        f"{text.plural(len(visits), 'visit')} from {first} to {last} ({definition.zone.key}), at "
        f"most {found.most_in_a_day} a day: {text.plural(found.runs_of_visit, 'run')} each, "
        f"{text.count(len(found.matrix.runs))} in all"
    )
    if found.past:
        past = ", ".join(f"{count} {name}" for name, count in found.past.items())
        page.paragraph(f"{text.count(len(found.to_come))} are to come; over are {past}")
    page.paragraph(_time(found))
    page.line()
    for one in found.paths:
        page.paragraph(_data(one, found), first=f"{text.clean(one.path)}  ")
        for period, room in one.room.items():
            if period == "day" and room < found.most_in_a_day:
                page.paragraph(
                    f"its budget has room for {text.plural(room, 'visit')} a day if each takes "
                    "that much: others are missed",
                    first="! ",
                    style="warning",
                )
    page.paragraph("nothing was sent", style="faint")


def _time(found: Forecast) -> str:
    most = f"a visit takes at most {text.seconds(found.most_visit_s)}"
    if found.mean_visit_s is None:
        return most
    return f"{most}; those that are done took {text.seconds(found.mean_visit_s)} on average"


def _data(one: PathForecast, found: Forecast) -> str:
    if one.visit_bytes is None or one.left_bytes is None:
        return "as much as it carries while its runs last: per_visit in its budget limits it"
    sentence = f"at most {text.size(one.visit_bytes)} in a visit"
    sentence += f", {text.size(one.visit_bytes * found.most_in_a_day)} in a day"
    sentence += f", {text.size(one.left_bytes)} in all that is to come"
    budgets = [_budget(one, name) for name in one.budgets]
    return f"{sentence}; allowed are {', '.join(budgets)}" if budgets else sentence


def _budget(one: PathForecast, period: str) -> str:
    allowed, left = one.budgets[period], one.budgets_left[period]
    whole = f"{text.size(allowed)} in a {period}"
    return whole if left == allowed else f"{whole}, of which {text.size(left)} are left"
