"""The matrix: every run of a campaign, its configuration, and what it is compared with."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from mptcplab import _core
from mptcplab.campaign import definition
from mptcplab.campaign.axis import Axis, Label, Point, holds
from mptcplab.campaign.calendar import HOUR, Visit
from mptcplab.campaign.definition import Definition
from mptcplab.campaign.work import Subject, Task
from mptcplab.messages import nearest
from mptcplab.results.record import build
from mptcplab.scenario import long
from mptcplab.scenario.fault import Faults, ScenarioError
from mptcplab.scenario.plan import plain
from mptcplab.scenario.scenario import Scenario, checked
from mptcplab.scenario.section import DIRECTIONS
from mptcplab.scenario.settings import put

# Digits of a run's key.
DIGITS = 16
MOST_RUNS = 1_000_000
# Beyond the end of its transfer a run of a schedule may take so long, its turn included.
PATIENCE_SECONDS = 600.0


@dataclass(frozen=True)
class Configuration:
    """A scenario of the campaign: one combination of the axes' values."""

    number: int
    labels: dict[str, Label]
    #: In the long form.
    text: str
    mptcp: Subject
    #: Plain TCP over each path.
    baselines: list[Subject]
    #: Another with the same number has the same baselines.
    conditions: int


@dataclass(frozen=True)
class Planned:
    """A run of the campaign."""

    task: Task
    #: Number of the configuration that it is of; none where several are compared with it.
    configuration: int | None
    #: Number of a configuration that has its scenario.
    scenario: int
    #: Values of the axes; none where it is of several.
    labels: dict[str, Label | None]
    repetition: int
    pair: int
    #: Of a calendar, by its number.
    visit: int | None


def need(read: Definition) -> None:
    """Refuse to begin without what the engine needs beside scenarios.

    Raises:
        Error: It is not there.
    """
    for one in _configurations(read):
        read.campaign.engine.need(one.mptcp.scenario)


def greet(read: Definition) -> None:
    """Refuse to begin where the server is another one, or refuses.

    Raises:
        Error: It is so.
    """
    read.campaign.engine.greet([one.mptcp.scenario for one in _configurations(read)])


class Matrix:
    """All that a campaign runs, as often as it is repeated or at the visits of its calendars."""

    def __init__(self, read: Definition, visits: list[Visit] | None = None) -> None:
        if read.calendars and visits is None:
            raise ScenarioError(f"{read.name}: has a [[calendar]]: mptcplab schedule runs it")
        self.definition = read
        self.visits = visits or []
        self.axes = list(read.axes)
        try:
            apart = _distinguished(list(_configurations(read)))
        except ScenarioError as error:
            raise _of_all_values(read, error) from None
        if not apart:
            raise ScenarioError(f"{read.name}: only and exclude leave nothing to run")
        _check_different(read, apart)
        _check_budgets(read, apart)
        if visits is not None:
            hours = sorted({one.hour for one in visits})
            self.axes.append(Axis(HOUR, [Point(hour, []) for hour in hours]))
            apart = _by_hour(apart, hours)
        self.configurations = apart
        groups = _groups(self.configurations).values()
        if visits is None:
            _check_number(read, sum(len(one) + len(one[0].baselines) for one in groups))
        self.runs = [run for one in groups for run in self._runs(one)]

    @property
    def repetitions(self) -> int:
        """How often a configuration is run, at most."""
        if not self.definition.calendars:
            return self.definition.campaign.repetitions
        return max(Counter(one.hour for one in self.visits).values(), default=0)

    @property
    def seeds(self) -> int:
        """How many seeds there are."""
        return len(self.visits) if self.definition.calendars else self.repetitions

    def of_visit(self, number: int) -> list[Task]:
        """Give the runs of a visit in random order, those that are compared back to back."""
        chance = random.Random(f"{self.definition.campaign.seed} {number}")  # noqa: S311 - no secret
        return _mixed([run for run in self.runs if run.visit == number], chance)

    def shuffled(self) -> list[Task]:
        """Give what is to be run, in an order that is by chance but always the same.

        What is compared stays together where the network changes between runs.
        """
        chance = random.Random(self.definition.campaign.seed)  # noqa: S311 - no secret
        return _mixed(self.runs, chance, together=self.definition.campaign.engine.visits)

    def _runs(self, group: list[Configuration]) -> Iterator[Planned]:
        first = group[0]
        common = _common(group)
        alone = first.number if len(group) == 1 else None
        for repetition, number in enumerate(self._numbers(first), 1):
            seed = self.definition.campaign.seed + number
            pair = first.conditions * self.seeds + number
            visit = number + 1 if self.definition.calendars else None
            for one in group:
                task = Task(_key(one.mptcp, seed), seed, one.mptcp)
                labels: dict[str, Label | None] = dict(one.labels)
                yield Planned(task, one.number, one.number, labels, repetition, pair, visit)
            for subject in first.baselines:
                task = Task(_key(subject, seed), seed, subject)
                yield Planned(task, alone, first.number, common, repetition, pair, visit)

    def _numbers(self, one: Configuration) -> Iterable[int]:
        """Number the seeds of a configuration from 0: all, or those of visits at its hour."""
        if not self.definition.calendars:
            return range(self.repetitions)
        return [visit.number - 1 for visit in self.visits if visit.hour == one.labels[HOUR]]


def _mixed(runs: list[Planned], chance: random.Random, *, together: bool = True) -> list[Task]:
    """Give runs in an order by chance; what is compared stays ``together``."""
    groups: dict[int, list[Task]] = {}
    for number, run in enumerate(runs):
        groups.setdefault(run.pair if together else number, []).append(run.task)
    order = list(groups.values())
    chance.shuffle(order)
    for group in order:
        chance.shuffle(group)
    return [task for group in order for task in group]


def _by_hour(configurations: list[Configuration], hours: list[str]) -> list[Configuration]:
    """Give each configuration at each hour of the day."""
    return [
        replace(
            one,
            number=one.number * len(hours) + index,
            labels=one.labels | {HOUR: hour},
            conditions=one.conditions * len(hours) + index,
        )
        for one in configurations
        for index, hour in enumerate(hours)
    ]


def _check_budgets(read: Definition, configurations: list[Configuration]) -> None:
    """Refuse a budget for what is no path."""
    known = {path for one in configurations for path in one.mptcp.scenario.paths}
    for name in read.budgets:
        if name not in known:
            raise ScenarioError(
                f"{read.name}: [budget.{name}]: there is no such path; {nearest(name, known)}"
            )


def _check_number(read: Definition, seeded: int) -> None:
    """Refuse what no list of runs can hold, before there is one."""
    repetitions = read.campaign.repetitions
    if seeded * repetitions > MOST_RUNS:
        raise ScenarioError(
            f"{read.name}: {seeded} runs for each seed × {repetitions} repetitions are "
            f"{seeded * repetitions} runs, more than {MOST_RUNS}: take fewer repetitions or values"
        )


def _check_different(read: Definition, configurations: list[Configuration]) -> None:
    known: dict[str, Configuration] = {}
    for one in configurations:
        other = known.setdefault(one.text, one)
        if other is not one:
            names = " and ".join(" ".join(map(str, each.labels.values())) for each in (other, one))
            raise ScenarioError(f"{read.name}: {names} are the same scenario")


def _configurations(read: Definition) -> Iterator[Configuration]:
    conditions: dict[str, int] = {}
    baselines: dict[str, list[Subject]] = {}
    number = 0
    for points in itertools.product(*(axis.points for axis in read.axes)):
        labels = {axis.name: point.label for axis, point in zip(read.axes, points, strict=True)}
        if read.only and not any(holds(one, labels) for one in read.only):
            continue
        if any(holds(one, labels) for one in read.exclude):
            continue
        scenario = _scenario(read, points)
        _check(read, scenario, labels)
        apart = long.write(plain(scenario, linux=read.campaign.engine.linux))
        if apart not in baselines:
            conditions[apart] = len(conditions)
            wanted = read.campaign.baselines
            wanted = scenario.run.baselines if wanted is None else wanted
            paths = scenario.paths if wanted else ()
            baselines[apart] = [_subject(read, scenario, path, apart) for path in paths]
        text = long.write(scenario)
        mptcp = _subject(read, scenario, None, text)
        yield Configuration(number, labels, text, mptcp, baselines[apart], conditions[apart])
        number += 1


def _distinguished(configurations: list[Configuration]) -> list[Configuration]:
    """Have plain TCP shared only where the axes' values say which configurations share it."""
    groups = _groups(configurations)
    known: dict[tuple[str, ...], dict[tuple[Label, ...], set[int]]] = {}
    for number, group in groups.items():
        labels = {axis: label for axis, label in _common(group).items() if label is not None}
        known.setdefault(tuple(labels), {}).setdefault(tuple(labels.values()), set()).add(number)
    by_most = sorted(known, key=len, reverse=True)

    def meant(one: Configuration) -> set[int]:
        """Give the groups that have its values, with most of them."""
        found: set[int] = set()
        most = 0
        for axes in by_most:
            if found and len(axes) < most:
                break
            most = len(axes)
            found |= known[axes].get(tuple(one.labels[axis] for axis in axes), set())
        return found

    mixed = {one.conditions for one in configurations if meant(one) != {one.conditions}}
    fresh = itertools.count(len(groups))
    return [
        _alone(one, next(fresh))
        if one.conditions in mixed and one is not groups[one.conditions][0]
        else one
        for one in configurations
    ]


def _alone(one: Configuration, conditions: int) -> Configuration:
    """Give a configuration baselines of its own."""
    baselines = [
        replace(subject, identity=_digest([subject.identity, one.text]))
        for subject in one.baselines
    ]
    return replace(one, baselines=baselines, conditions=conditions)


def _groups(configurations: list[Configuration]) -> dict[int, list[Configuration]]:
    """Give the configurations by what they are compared with."""
    groups: dict[int, list[Configuration]] = {}
    for one in configurations:
        groups.setdefault(one.conditions, []).append(one)
    return groups


def _common(group: list[Configuration]) -> dict[str, Label | None]:
    """Give the values of axes that all of them have."""
    return {
        axis: label if all(one.labels[axis] == label for one in group) else None
        for axis, label in group[0].labels.items()
    }


def _scenario(read: Definition, points: tuple[Point, ...]) -> Scenario:
    source = read.scenario.copy()
    faults = Faults()
    for setting in itertools.chain(read.settings, *(point.settings for point in points)):
        with faults.collected():
            put(source, setting.key, setting.value, setting.where, setting.key_where)
    with faults.collected():
        scenario = checked(source)
    faults.raise_found()
    return scenario


def _of_all_values(read: Definition, first: ScenarioError) -> ScenarioError:
    """Add to what is wrong with one configuration what is wrong with the other values of axes.

    Each is tried beside the first values of the other axes.
    """
    usual = [axis.points[0] for axis in read.axes]
    # Without what it was set with, which differs from value to value.
    lines = {line.partition(" (with ")[0]: line for line in first.args}
    for index, axis in enumerate(read.axes):
        for point in axis.points:
            try:
                _scenario(read, (*usual[:index], point, *usual[index + 1 :]))
            except ScenarioError as error:
                for line in error.args:
                    lines.setdefault(line.partition(" (with ")[0], line)
    return ScenarioError(*lines.values())


def _check(read: Definition, scenario: Scenario, labels: dict[str, Label]) -> None:
    """Refuse what the engine cannot before anything runs."""
    for path in (None, *scenario.paths):
        try:
            read.campaign.engine.check(scenario, path)
        except ScenarioError as error:
            which = "".join(f"{axis} {label}, " for axis, label in labels.items())
            raise ScenarioError(f"{read.name}: {which}{error}") from None


def _subject(read: Definition, scenario: Scenario, path: str | None, text: str) -> Subject:
    campaign = read.campaign
    tables = definition.stored_tables(campaign)
    return Subject(
        identity=_digest(_identity(campaign, path, text, tables)),
        name=read.scenario_name,
        engine=campaign.engine,
        in_memory=campaign.engine.in_memory and campaign.keep == "tables",
        path=path,
        direction=DIRECTIONS[scenario.transfer.direction],
        scenario=scenario,
        captures="headers" if campaign.keep == "captures" else "none",
        tables=tuple(tables),
        limit_s=_limit_s(read, scenario),
    )


def _limit_s(read: Definition, scenario: Scenario) -> float | None:
    """Give how long a run may take; nobody watches, and ends, those of a schedule."""
    if read.campaign.limit is not None:
        return read.campaign.limit / 1e9
    return scenario.stop_ns / 1e9 + PATIENCE_SECONDS if read.calendars else None


def _identity(
    campaign: definition.Campaign, path: str | None, text: str, tables: list[str]
) -> dict[str, Any]:
    """Give what must be the same for runs to be the same, but for the seed."""
    return {
        "scenario": text,
        "path": path,
        "engine": campaign.engine.name,
        # What was measured on a day cannot be had again with another build.
        **({} if campaign.calendar else {"version": _core.VERSION, "build": build()}),
        "keep": campaign.keep,
        "tables": tables,
        **campaign.engine.conditions(),
    }


def _key(subject: Subject, seed: int) -> str:
    return _digest([subject.identity, seed])[:DIGITS]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
