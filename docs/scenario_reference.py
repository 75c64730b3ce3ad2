"""The reference page of scenarios, from the models and from the descriptions in the code of links and endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic_core import PydanticUndefined

from mptcplab import _core, quantity
from mptcplab.campaign.axis import AxisSection
from mptcplab.campaign.budget import BudgetSection
from mptcplab.campaign.calendar import CalendarSection
from mptcplab.campaign.definition import Campaign
from mptcplab.scenario import (
    converter,
    described,
    element,
    endpoint,
    kernel,
    path,
    radio,
    resolved,
    section,
    timeline,
    traffic,
    transfer,
)
from mptcplab.scenario.policy import PARAMETERS
from mptcplab.scenario.section import Section, description_of

HEAD = """\
# Scenario reference

A scenario is a [TOML](https://toml.io) file with `schema = 1`; [scenarios](../scenarios.md) introduces it. Keys that are not listed
here are refused. Quantities are text with a unit:

| kind | is |
|---|---|
"""
AFTER_PATH = """\
The name of a path must be possible for a Linux interface: a lower-case letter, then at most 14 lower-case letters, digits and `-`, but not
`lo`, `all` or `default`. The first attached path opens the connection. `rate`, `delay`, `jitter`, `loss` and `queue` are a short form. They
describe a link with the name of the path, whose directions have a `rate` with its queue, then a `delay`, then a `loss`.
"""
CAMPAIGN = """\
# Campaign reference

A campaign is a [TOML](https://toml.io) file with `schema = 1`; [campaigns](../campaigns.md) introduces it. Keys that are not listed
here are refused. Quantities are those of [scenarios](scenario.md).
"""
AFTER_AXIS = """\
Values are text, numbers, `true` or `false`. Use points for other values, or to set several keys together; in results, the value is the name
of the point. Axes vary independently, and two axes cannot set the same key. `[set]` is applied to the scenario first, then the axes in their
order. As with `--set`, a key that is set replaces keys that exclude it.

`[[only]]` and `[[exclude]]` give values by axis (`place = "street"`, `size = ["64 kB", "1 MB"]`). A table matches if all axes that it names
have one of these values. A combination is run if it matches one of `[[only]]`, or if there is none, and if it matches none of `[[exclude]]`.
"""
AFTER_BUDGET = """\
Budgets count the bytes of the path's interface, in both directions, during visits. See [the field](../field.md#budgets).
"""
KINDS = (
    quantity.RATE,
    quantity.DURATION,
    quantity.BYTES,
    quantity.PACKETS,
    quantity.RATIO,
    quantity.SIGNAL,
    quantity.POWER,
    quantity.DECIBEL,
    quantity.DISTANCE,
    quantity.SPEED,
    quantity.FREQUENCY,
)
# Of values that have a kind or are something else.
MIXED = {"scenario": "text or a table"}
# Of values that have no kind.
SHAPES = {
    "queue": "text or a queue",
    "axis": "tables",
    "set": "table",
    "points": "tables",
    "only": "list of tables",
    "exclude": "list of tables",
    "tables": "list of names",
    "values": "list",
    "radio": "table",
    "route": "list of points",
    "calendar": "list of tables",
    "budget": "tables",
    "days": "list of days",
}
TRACE = "a trace in Mahimahi's format: the name of a file in the scenario's directory, or a list of milliseconds"


def page() -> str:
    """Write the page."""
    return "\n".join([HEAD + "\n".join(_kinds()), "", *_sections(), *_elements(), *_policies()])


def _kinds() -> Iterator[str]:
    for kind in KINDS:
        yield f"| {kind.name} | {kind.accepted} |"
    yield f"| trace | {TRACE} |"
    for trace, columns in element.ROWS.items():
        yield (
            f"| {trace} | the name of a file in the scenario's directory with the header `{','.join(columns)}` and one row of "
            f"numbers per line, or a list of such rows: `[[0, 12.5], …]`. The first row is at 0 ms |"
            if trace == element.RATE_TRACE
            else f"| {trace} | the same with the columns `{','.join(columns)}` |"
        )


def _sections() -> Iterator[str]:
    yield from (
        "## The top",
        "",
        *_table(
            [
                ("`schema`", "1", "needed", "version of the schema"),
                ("`title`", "text", "", "title, in one line"),
            ]
        ),
        "",
    )
    for application, model in transfer.APPLICATIONS.items():
        yield from _section("[transfer]", model, f'application = "{application}"')
    yield from _section("[path.NAME]", path.Path)
    yield from (AFTER_PATH,)
    yield from _section("[link.NAME]", path.Link)
    yield from _section("[link.NAME.radio]", radio.Radio)
    yield from _section("[[link.NAME.radio.route]]", radio.Point)
    yield from _section("[client]", endpoint.Client)
    yield from _section("[server]", endpoint.Server)
    yield from _section("[mptcp]", endpoint.Mptcp)
    yield from _section("[tcp]", endpoint.Tcp)
    yield from _section("[kernel]", kernel.Kernel)
    yield from _section("[converter]", converter.Converter)
    for verb, event in timeline.VERBS.items():
        yield from _section("[[timeline]]", event, f'verb = "{verb}"')
    for kind, flows in traffic.KINDS.items():
        yield from _section("[[cross_traffic]]", flows, f'kind = "{kind}"')
    yield from _section("[run]", resolved.Run)


def campaign() -> str:
    """Write the page of campaigns."""
    lines = [CAMPAIGN, *_table(_rows(Campaign)), ""]
    lines += [*_section("[axis.NAME]", AxisSection), AFTER_AXIS]
    lines += _section("[[calendar]]", CalendarSection)
    lines += [*_section("[budget.PATH]", BudgetSection), AFTER_BUDGET]
    return "\n".join(lines)


def _section(head: str, model: type[Section], which: str = "") -> Iterator[str]:
    title = f"`{head}`" + (f" with `{which}`" if which else "")
    yield from (f"## {title}", "", _text(model.__doc__), "")
    yield from (*_table(_rows(model)), "")


def _rows(model: type[Section]) -> Iterator[tuple[str, str, str, str]]:
    hints = get_type_hints(model, include_extras=True)
    for name, kind in section.kinds(model).items():
        field = model.model_fields[name]
        if get_origin(hints[name]) is Literal and len(get_args(hints[name])) == 1:
            continue
        if kind is None:
            value = (
                ", ".join(_code(one) for one in get_args(hints[name]))
                if get_origin(hints[name]) is Literal
                else SHAPES.get(name, "list of elements")
            )
        else:
            value = MIXED.get(name) or _kind(kind)
        yield (
            f"`{name}`",
            value,
            _default(model, name, kind, "" if field.default_factory else field.default),
            _text(description_of(model, name)),
        )


def _kind(kind: quantity.Kind) -> str:
    return f'{kind.name} or `"off"`' if isinstance(kind, quantity.OrOff) else kind.name


def _default(model: type[Section], name: str, kind: quantity.Kind | None, default: Any) -> str:
    """Say what a key is when it is left out, as a scenario has it."""
    if model is endpoint.Mptcp:
        default = getattr(_filled()[0], name)
    elif model is endpoint.Tcp:
        default = "" if name == "congestion_control" else getattr(_filled()[1], name)
    if default is PydanticUndefined:
        return "needed"
    if default == "" or (default is None and not isinstance(kind, quantity.OrOff)):
        return ""
    return _code(kind.show(default) if kind else default)


def _filled() -> tuple[section.Section, section.Section]:
    from mptcplab.scenario.source import Source

    nothing = Source("nothing", {})
    mptcp = endpoint.read_mptcp({}, nothing)
    return mptcp, endpoint.read_tcp({}, nothing, mptcp)


def _elements() -> Iterator[str]:
    yield from (
        "## Elements",
        "",
        '`uplink`, `downlink` and `middleboxes` are lists of elements, such as `{ element = "delay", delay = "10 ms" }`. Both directions can share '
        'an element: give it a name in one direction, `{ element = "rate", rate = "20 Mbit/s", shared = "air" }`, and write '
        '`{ shared = "air" }` in the other.',
        "",
    )
    yield from _described("element", _core.elements())
    yield from (
        "## Queues",
        "",
        'Elements with a rate have a queue in front of them: `queue = { queue = "drop-tail", bytes = "100 kB" }`.',
        "",
    )
    yield from _described("queue", _core.queues())


def _described(what: str, descriptions: list[dict[str, Any]]) -> Iterator[str]:
    for description in descriptions:
        yield from (f"### {what} `{description['name']}`", "", _text(description["summary"]), "")
        rows = [_parameter(parameter) for parameter in description["parameters"]]
        yield from (*_table(rows), "") if rows else ()


def _parameter(parameter: dict[str, Any]) -> tuple[str, str, str, str]:
    default = parameter["default"]
    if parameter["required"]:
        shown = "needed"
    elif default is None:
        shown = ""
    elif parameter["kind"] == element.QUEUE:
        given = {key: value for key, value in default.items() if value is not None}
        shown = ", ".join(
            f"{key} {value}" if key != "queue" else str(value)
            for key, value in element.show(given, element.QUEUE).items()
        )
    else:
        shown = _code(described.KINDS[parameter["kind"]].show(default))
    return f"`{parameter['name']}`", parameter["kind"], shown, _text(parameter["doc"])


def _policies() -> Iterator[str]:
    yield from ("## Policies", "")
    for what, policies in _core.policies().items():
        yield from (f"### {what}", "", "| name | is |", "|---|---|")
        for policy in policies:
            yield f"| `{policy['name']}` | {_text(policy['summary'])} |"
        yield ""
        for policy in filter(lambda policy: policy["parameters"], policies):
            yield from (f"`{PARAMETERS[what]}` of `{policy['name']}`:", "")
            yield from (*_table(map(_parameter, policy["parameters"])), "")


def _table(rows: Any) -> Iterator[str]:
    yield "| key | value | if left out | meaning |"
    yield "|---|---|---|---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _code(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _text(text: str | None) -> str:
    return " ".join((text or "").split()).replace("``", "`").replace("|", "\\|")
