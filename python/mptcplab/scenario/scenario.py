"""A scenario: read, checked, and written out in full."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path as File
from typing import Any

from mptcplab import _core
from mptcplab.messages import nearest, quoted
from mptcplab.scenario import endpoint, library, translation
from mptcplab.scenario.converter import check_proxies, read_converter
from mptcplab.scenario.endpoint import Client, Server
from mptcplab.scenario.fault import Faults, KeyPath, ScenarioError
from mptcplab.scenario.field import Field
from mptcplab.scenario.kernel import read_kernel
from mptcplab.scenario.path import Link, Path, check_name, read_link, read_path
from mptcplab.scenario.plan import plan
from mptcplab.scenario.resolved import SCHEMA, Run, Scenario
from mptcplab.scenario.section import Section, read
from mptcplab.scenario.settings import Settings, set_values
from mptcplab.scenario.source import Source
from mptcplab.scenario.timeline import check_timeline, followed, read_events
from mptcplab.scenario.traffic import read_traffic
from mptcplab.scenario.transfer import read_transfer

SECTIONS = (
    "schema",
    "title",
    "transfer",
    "link",
    "path",
    "client",
    "server",
    "mptcp",
    "tcp",
    "kernel",
    "field",
    "converter",
    "cross_traffic",
    "timeline",
    "run",
)
# What sections are called where no spelling tells which is meant.
MEANT = {"event": "timeline", "events": "timeline"}
MIDDLEBOX = re.compile(r"middlebox-(\d+)")
HOUR_NS = 3600 * 10**9
MINUTE_NS = 60 * 10**9
MOST_PATHS = 8
# A path manager, and the key of a path that it goes by.
BUDGET = "budget"
COST = "cost_per_mb"
COST_BUDGET = "cost_budget"

__all__ = ["Scenario", "checked", "find", "load", "read_scenario"]

Given = str | PathLike[str] | dict[str, Any]


def load(given: Given, settings: Settings = (), word: str = "--set") -> tuple[str, Scenario]:
    """Read a scenario: a file, the name of a shipped one, or a table. Gives its name with it.

    What is set on top of it was written after ``word``.
    """
    name, source = find(given)
    set_values(source, settings, word)
    return name, checked(source)


def checked(source: Source) -> Scenario:
    """Read a scenario and have the code of the links look at it."""
    scenario = read_scenario(source)
    check_links(scenario, source)
    return scenario


def find(scenario: Given) -> tuple[str, Source]:
    """Find a scenario and its name."""
    if isinstance(scenario, dict):
        return "scenario", Source("scenario", copy.deepcopy(scenario))
    name = fspath(scenario)
    if isinstance(scenario, str) and name in library.names("scenarios"):
        return name, Source.of_library("scenarios", name)
    file = File(name)
    # Without the right to look there, reading the file says so.
    with suppress(OSError):
        if (file / "mptcp" / "scenario.toml").is_file():
            file /= "mptcp"
        if (file / "scenario.toml").is_file():
            raise ScenarioError(f"{name}: holds a run; its scenario is {file / 'scenario.toml'}")
        if isinstance(scenario, str) and not file.exists() and not file.suffix and "/" not in name:
            if name in library.names("campaigns"):
                raise ScenarioError(f"{name} is a campaign: mptcplab sweep runs it")
            hint = nearest(name, library.names("scenarios"))
            raise ScenarioError(f"{name} is neither a file nor a scenario that ships; {hint}")
    return file.stem, Source.of_file(file)


def read_scenario(source: Source) -> Scenario:
    """Check what is written, and write it out."""
    data = source.data
    # What refers to other tables is read when these are right.
    faults = Faults()
    _check_top(data, source, faults)
    with faults.collected():
        transfer = read_transfer(data["transfer"], source)
    links = {}
    with faults.collected():
        for name, value in _named(data.get("link", {}), "link", source, faults):
            with faults.collected():
                links[name] = read_link(value, ("link", name), source)
    with faults.collected():
        written = _paths(data["path"], source)
    with faults.collected():
        mptcp = endpoint.read_mptcp(data.get("mptcp", {}), source)
        tcp = endpoint.read_tcp(data.get("tcp", {}), source, mptcp)
    with faults.collected():
        client = read(Client, data.get("client", {}), ("client",), source)
    with faults.collected():
        server = read(Server, data.get("server", {}), ("server",), source)
    with faults.collected():
        run = read(Run, data.get("run", {}), ("run",), source)
    with faults.collected():
        field = read(Field, data["field"], ("field",), source) if "field" in data else None
    with faults.collected():
        converter = read_converter(data["converter"], source) if "converter" in data else None
    faults.raise_found()
    with faults.collected():
        paths = _linked(written, links, source)
        _check_budgets(paths, mptcp, source)
    with faults.collected():
        kernel = read_kernel(data, mptcp, source)
    faults.raise_found()
    with faults.collected():
        timeline = read_events(data.get("timeline", []), links, source)
    with faults.collected():
        traffic = read_traffic(data.get("cross_traffic", []), links, source)
    faults.raise_found()
    if run.stop is None:
        lasts = transfer.lasts_ns
        run = run.model_copy(update={"stop": HOUR_NS if lasts is None else lasts + MINUTE_NS})
    lasts, stop = transfer.lasts_ns, run.stop or HOUR_NS
    end = stop if lasts is None else min(lasts, stop)
    links, timeline = followed(links, paths, timeline, end, source)
    scenario = Scenario(
        title=data.get("title"),
        transfer=transfer,
        links=links,
        paths=paths,
        client=client,
        server=server,
        mptcp=mptcp,
        tcp=tcp,
        kernel=kernel,
        cross_traffic=traffic,
        timeline=timeline,
        run=run,
        field=field,
        converter=converter,
    )
    scenario = replace(scenario, remarks=tuple(_unused(scenario, source)))
    check_timeline(timeline, paths, end, source)
    translation.check_paths(scenario, source)
    if converter is not None:
        check_proxies(converter, scenario.links, source)
    return scenario


def _unused(scenario: Scenario, source: Source) -> Iterator[str]:
    """Say of which links the radio is not used, and what else has no effect."""
    for name, written in source.data.get("link", {}).items():
        elements = written.keys() & {"profile", "uplink", "downlink"}
        if "radio" in written and elements and scenario.links[name].is_calibrated:
            key_path = source.where(("link", name, "radio"))
            yield (
                f"{key_path}: link.{name}.radio is not used: the link is calibrated, and what was "
                "measured says more than a signal"
            )
    if scenario.run.earlier_transfers and not scenario.tcp.ssthresh_cache:
        key_path = source.where(("run", "earlier_transfers"))
        yield (
            f"{key_path}: run.earlier_transfers changes nothing: they leave slow-start thresholds "
            "in a cache, and there is none: tcp.ssthresh_cache is false"
        )


def check_links(scenario: Scenario, source: Source) -> None:
    """Refuse what the code of the links refuses, with its key path."""
    if scenario.unlinked:
        # Nothing but an interface: there is no link to look at.
        return
    try:
        plan(scenario, seed=0).check()
    except _core.PlanError as error:
        # In one line, even where it quotes several.
        what = " ".join(error.message.split())
        raise source.fault(_written_at(scenario, error.key, source), what) from None


def _written_at(scenario: Scenario, key: KeyPath, source: Source) -> KeyPath:
    """Give the key path at which what the plan has there is written."""
    if key[:1] != ("link",):
        return key
    _, name, direction, number, *rest = key
    key_path: KeyPath = ("path", name)
    given = source.data.get("link", {}).get(name)
    if given is not None:
        key_path = ("link", name)
        if int(number) < len(given.get(direction, ())):
            return (*key_path, direction, number, *rest)
    element = getattr(scenario.links[str(name)], str(direction))[int(number)]
    if box := MIDDLEBOX.fullmatch(str(element.get("shared"))):
        key_path = (*key_path, "middleboxes", int(box[1]) - 1)
    return (*key_path, *rest)


def _check_top(data: dict[str, Any], source: Source, faults: Faults) -> None:
    if "scenario" in data and not data.keys() & {"transfer", "path"}:
        raise ScenarioError(f"{source.name}: is a campaign: mptcplab sweep runs it")
    for key in (key for key in data if key not in SECTIONS):
        what = "section" if isinstance(data[key], dict | list) else "key"
        meant = MEANT.get(key, key)
        with faults.collected():
            raise source.unknown((key,), f"there is no such {what}; {nearest(meant, SECTIONS)}")
    with faults.collected():
        source.check_schema(SCHEMA)
    with faults.collected():
        if not isinstance(data.get("title", ""), str):
            raise source.fault(("title",), f"{quoted(data['title'])} is not text")
    for key, what in (("transfer", "[transfer]"), ("path", "at least one [path.NAME]")):
        if not data.get(key):
            # Its name may be what is misspelt.
            faults.raise_found()
            raise source.fault((), f"needs {what}")


def _named(value: Any, what: str, source: Source, faults: Faults) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise source.fault((what,), f"is a table of tables: write [{what}.NAME]")
    for name in value:
        with faults.collected():
            check_name(name, what, (what, name), source)
    return list(value.items())


def _paths(value: Any, source: Source) -> dict[str, tuple[Path, Link | None]]:
    """Read the paths, each with its link if that is written out in it."""
    faults = Faults()
    paths = {}
    for name, one in _named(value, "path", source, faults):
        with faults.collected():
            paths[name] = read_path(one, ("path", name), source)
    faults.raise_found()
    return paths


def _linked(
    written: dict[str, tuple[Path, Link | None]], links: dict[str, Link], source: Source
) -> dict[str, Path]:
    """Check the paths as a whole; links that are written out in them go to ``links``."""
    for name, (_, own) in written.items():
        if own is not None and name in links:
            raise source.fault(
                ("path", name),
                f"there is a link {quoted(name)} too: say link, or describe it here",
            )
    links |= {name: own for name, (_, own) in written.items() if own is not None}
    paths = {name: path for name, (path, _) in written.items()}
    for name, path in paths.items():
        if path.link is None:
            continue
        if path.link not in links:
            hint = nearest(str(path.link), links)
            raise source.fault(
                ("path", name, "link"), f"there is no link {quoted(path.link)}; {hint}"
            )
    if len(paths) > MOST_PATHS:
        raise source.fault(("path",), f"{len(paths)} are too many: at most {MOST_PATHS}")
    if not any(path.attached for path in paths.values()):
        raise source.fault(("path",), "none is attached from the start")
    return paths


def _check_budgets(paths: dict[str, Path], mptcp: Section, source: Source) -> None:
    """Refuse a budget that no path manager keeps, and a path manager that has none to keep."""
    keeps = mptcp.path_manager == BUDGET
    budgets = [
        (name, key)
        for name, path in paths.items()
        for key in (BUDGET, COST)
        if getattr(path, key) is not None
    ]
    if budgets and not keeps:
        raise source.fault(
            ("path", *budgets[0]),
            f'path_manager = "{mptcp.path_manager}" in [mptcp] keeps none: leave it out, or have '
            f'path_manager = "{BUDGET}"',
        )
    if keeps and not budgets:
        raise source.fault(
            ("mptcp", "path_manager"),
            f'"{BUDGET}" needs a path with a {BUDGET}, such as {BUDGET} = "5 MB" in [path.NAME], '
            f"or with {COST}, and {COST_BUDGET}",
        )
    pays = mptcp.path_manager_parameters.get(COST_BUDGET) is not None
    costly = [name for name, key in budgets if key == COST]
    if costly and not pays:
        raise source.fault(
            ("path", costly[0], COST),
            "nobody pays it: say what all may cost, such as path_manager_parameters = "
            f"{{ {COST_BUDGET} = 2.5 }} in [mptcp]",
        )
    if pays and not costly:
        raise source.fault(
            ("mptcp", "path_manager_parameters", COST_BUDGET),
            f"no path costs anything: say {COST} in a [path.NAME]",
        )
