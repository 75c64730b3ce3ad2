"""A campaign as it is written: which scenario, what varies, how often."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, ConfigDict, Field

from mptcplab import _core
from mptcplab.campaign.axis import Axis, Choice, Setting, read_axes, read_choices, read_settings
from mptcplab.campaign.budget import BudgetSection, read_budgets
from mptcplab.campaign.calendar import HOUR, Calendar, read_calendars, zone
from mptcplab.engines import DEFAULT, ENGINES
from mptcplab.engines.engine import Engine
from mptcplab.messages import nearest, quoted
from mptcplab.quantity import Kind
from mptcplab.scenario import library, scenario
from mptcplab.scenario.fault import Faults, KeyPath, ScenarioError
from mptcplab.scenario.section import Duration, Flag, Integer, Section, Text, read
from mptcplab.scenario.settings import set_value
from mptcplab.scenario.source import Source

SCHEMA = 1
# Tables of each run that are always kept; what has a row per sample or event is kept if asked for.
TABLES = (
    "connections",
    "transfers",
    "subflows",
    "flows",
    "distributions",
    "diagnostics",
    "findings",
)
FURTHER = ("events", "throughput", "rtt", "radio", "positions", "signals")


class _Named(Kind):
    """An engine, by its name."""

    def __init__(self) -> None:
        super().__init__(", ".join(f"`{quoted(name)}`" for name in ENGINES), "text")

    def parse(self, value: Any) -> Engine:
        """Give the engine."""
        if not isinstance(value, str) or value not in ENGINES:
            raise ValueError(f"{quoted(value)} is not known here; {nearest(str(value), ENGINES)}")
        return ENGINES[value]

    def show(self, value: Any) -> str:
        """Give its name."""
        return str(value.name)


ENGINE = _Named()

Given = str | PathLike[str] | dict[str, Any]


class Campaign(Section):
    """The keys at the top of a campaign."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    title: Text | None = None
    """Title, in one line."""
    scenario: Text | dict[str, Any]
    """The scenario: the path of a file, relative to the campaign, or the name of one that ships; or
    the scenario itself, with sections such as ``[scenario.transfer]`` and
    ``[scenario.path.wifi]``."""
    engine: Annotated[Engine, BeforeValidator(ENGINE.parse), ENGINE] = DEFAULT
    """Engine that runs it."""
    repetitions: Integer = Field(10, ge=1, le=1_000_000)
    """Number of runs of each configuration, each with its own seed."""
    seed: Integer = Field(1, ge=0, lt=2**63)
    """Seed of the first repetition. Each further repetition uses the next number."""
    baselines: Flag | None = None
    """Whether plain TCP over each path is run as well. If left out, as the scenario says."""
    keep: Literal["tables", "runs", "captures"] = "tables"
    """What is kept: ``"tables"``, the tables with a row per run, connection or subflow; ``"runs"``,
    also the run directories with all their tables; ``"captures"``, also their captures."""
    tables: list[Any] = Field(default_factory=list)
    """Further tables of each run to keep: ``"events"``, ``"throughput"``, ``"rtt"``, ``"radio"``,
    ``"positions"``, ``"signals"``."""
    limit: Duration | None = Field(None, gt=0)
    """Time limit of a run, in real time. A run that takes longer counts as failed."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Changes to the scenario for the whole campaign: ``"path.wifi.rate" = "10 Mbit/s"``."""
    axis: dict[str, Any] = Field(default_factory=dict)
    """The axes: what varies."""
    only: list[Any] = Field(default_factory=list)
    """Combinations of axis values that are run. If left out, all."""
    exclude: list[Any] = Field(default_factory=list)
    """Combinations of axis values that are not run."""
    calendar: list[Any] = Field(default_factory=list)
    """When ``mptcplab schedule`` runs the campaign. Replaces ``repetitions``."""
    time_zone: Text | None = None
    """Time zone of calendars and budgets, such as ``"Europe/Berlin"``. If left out, the one of this
    machine."""
    hour_bin: Integer = Field(1, ge=1, le=24)
    """Hours per value of the axis ``hour``, which calendars add."""
    budget: dict[str, Any] = Field(default_factory=dict)
    """Data budgets of the paths."""
    probe_idle: Duration = Field(30 * 10**9, ge=0, le=4000 * 10**9)
    """``mptcplab schedule`` also probes the paths, at the first visit whose budget allows it. This
    is the longest time that a probe keeps a connection idle; 0: paths are not probed."""


@dataclass(frozen=True)
class Definition:
    """A campaign that was read: all but the scenarios is checked."""

    name: str
    campaign: Campaign
    scenario_name: str
    scenario: Source
    settings: list[Setting]
    axes: list[Axis]
    only: list[Choice]
    exclude: list[Choice]
    calendars: list[Calendar]
    #: Of calendars and budgets.
    zone: ZoneInfo
    #: By path.
    budgets: dict[str, BudgetSection]


def load(given: Given, settings: Sequence[str] = ()) -> Definition:
    """Read a campaign: a file, the name of one that ships, or a table.

    ``settings`` change its scenario, as after ``--set`` of ``mptcplab run``.
    """
    name, source = _find(given)
    data = dict(source.data)
    if "scenario" not in data and data.keys() & {"transfer", "path"}:
        raise ScenarioError(f"{source.name}: is a scenario: mptcplab run runs it")
    faults = Faults()
    with faults.collected():
        source.check_schema(SCHEMA)
    data.pop("schema", None)
    with faults.collected():
        campaign = read(Campaign, data, (), source)
    with faults.collected():
        axes = read_axes(_of(dict, "axis", data), source)
    with faults.collected():
        set_for_all = read_settings(_of(dict, "set", data), ("set",), source)
    with faults.collected():
        calendars = read_calendars(_of(list, "calendar", data), source)
    with faults.collected():
        budgets = read_budgets(_of(dict, "budget", data), source)
    faults.raise_found()
    for number, table in enumerate(campaign.tables):
        if table not in FURTHER:
            hint = nearest(str(table), FURTHER)
            with faults.collected():
                raise source.fault(("tables", number), f"{quoted(table)} cannot be kept; {hint}")
    with faults.collected():
        only = read_choices(campaign.only, "only", axes, source)
    with faults.collected():
        exclude = read_choices(campaign.exclude, "exclude", axes, source)
    _check_calendars(campaign, data, source, faults)
    with faults.collected():
        time_zone = _zone(campaign, source)
    with faults.collected():
        scenario_name, base = _scenario(campaign.scenario, source)
    faults.raise_found()
    for setting in settings:
        set_value(base, setting)
    return Definition(
        name=name,
        campaign=campaign,
        scenario_name=scenario_name,
        scenario=base,
        settings=set_for_all,
        axes=axes,
        only=only,
        exclude=exclude,
        calendars=calendars,
        zone=time_zone,
        budgets=budgets,
    )


def _of(kind: type[Any], key: str, data: dict[str, Any]) -> Any:
    """Give what is written there; where it is of another kind, the keys at the top say so."""
    given = data.get(key)
    return given if isinstance(given, kind) else kind()


def _check_calendars(
    campaign: Campaign, data: dict[str, Any], source: Source, faults: Faults
) -> None:
    """Refuse what does not go with calendars, or without them."""
    refused: list[tuple[KeyPath, str]] = []
    if not campaign.calendar:
        refused += [
            ((key,), "goes with a [[calendar]], and there is none")
            for key in ("time_zone", "hour_bin", "budget")
            if key in data
        ]
    elif "repetitions" in data:
        refused.append((("repetitions",), "a campaign with a [[calendar]] has its visits instead"))
    if campaign.calendar and HOUR in campaign.axis:
        refused.append((("axis", HOUR), "the calendar adds an axis of this name"))
    if campaign.calendar and 24 % campaign.hour_bin:
        refused.append((("hour_bin",), "the hours of a day are no multiple of it"))
    for key_path, what in refused:
        with faults.collected():
            raise source.fault(key_path, what)


def _zone(campaign: Campaign, source: Source) -> ZoneInfo:
    if not campaign.calendar:
        return ZoneInfo("UTC")
    try:
        return zone(campaign.time_zone)
    except ValueError as error:
        raise source.fault(("time_zone",), str(error)) from None


def stored_tables(campaign: Campaign) -> list[str]:
    """Name the tables that are stored of each run."""
    names = _core.Tables.NAMES
    return [name for name in names if name in TABLES or name in campaign.tables]


def _find(given: Given) -> tuple[str, Source]:
    if isinstance(given, dict):
        return "campaign", Source("campaign", given)
    name = fspath(given)
    if isinstance(given, str) and name in library.names("campaigns"):
        return name, Source.of_library("campaigns", name)
    file = Path(name)
    # Without the right to look there, reading the file says so.
    with suppress(OSError):
        if isinstance(given, str) and not file.exists() and not file.suffix and "/" not in name:
            if name in library.names("scenarios"):
                raise ScenarioError(f"{name} is a scenario: mptcplab run runs it")
            hint = nearest(name, library.names("campaigns"))
            raise ScenarioError(f"{name} is neither a file nor a campaign that ships; {hint}")
    return file.stem, Source.of_file(file)


def _scenario(given: str | dict[str, Any], source: Source) -> tuple[str, Source]:
    if isinstance(given, dict) or given in library.names("scenarios"):
        return scenario.find(given)
    if not given.endswith(".toml"):
        hint = nearest(given, library.names("scenarios"))
        raise source.fault(
            ("scenario",),
            f"{quoted(given)} is neither a file (.toml) nor ships with mptcplab; {hint}",
        )
    file = source.directory / given
    if not file.is_file():
        raise source.fault(("scenario",), f"there is no file {file}")
    return file.stem, Source.of_file(file)
