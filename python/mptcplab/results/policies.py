"""The policies of a run, from whatever setting: described, and by their names."""

from __future__ import annotations

from functools import cache

from mptcplab import _core, engines
from mptcplab.controllers import catalogue
from mptcplab.engines.engine import UNKNOWN
from mptcplab.engines.kernel.features import BY_PROGRAM
from mptcplab.labels import policies as labels
from mptcplab.labels.connections import SENDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from mptcplab.results.comparison import Comparison
    from mptcplab.results.run import Run

    Policies = dict[str, str | None]
    #: By the end: its policies, ``stack``, and ``replaced``.
    Described = dict[str, Any]

ENDS = ("client", "server")
# The stack of both ends of QUIC.
NOQ = "noq"
NAMED = ("congestion_control", "scheduler", "path_manager", "era")
CLIENT_ONLY = "path_manager"
# What Linux calls what [mptcp] and [tcp] name, and what it has of its own.
LINUX = {
    "congestion_control": {"cubic-linux": "cubic", "reno-linux": "reno", **catalogue.NAMES},
    "scheduler": {"linux": "default"},
    "path_manager": {name: name for name in ("linux", "single", *BY_PROGRAM)},
}


def policies(about: Mapping[str, Any], scenario: Mapping[str, Any]) -> Policies:
    """Give them by what ``run.json`` and the scenario in its long form say.

    Plain TCP has no scheduler. Where the ends differ, each is named. What a kernel had is called
    as simulations call the same, so that both may be compared.
    """
    ends = {end: _of_end(end, about, scenario) for end in ENDS}
    return {
        what: _of_ends({end: _as_ours(what, one) for end, one in ends.items()})
        for what in ("congestion_control", "scheduler")
    }


def described(about: Mapping[str, Any], scenario: Mapping[str, Any]) -> Described:
    """Describe both ends as ``run.json`` has it, ``in_words`` too."""
    found = _summarised({end: _of_end(end, about, scenario) for end in ENDS})
    return with_converters(found, scenario.get("converter") if about.get("path") is None else None)


def with_converters(found: Described, section: Mapping[str, str] | None) -> Described:
    """Name the converters of a scenario, too, if it has some."""
    if section is None:
        return found
    parts = [found["in_words"], labels.converters(section)]
    return found | {"in_words": ", ".join(filter(None, parts))}


def shared(several: Iterable[Described]) -> Described:
    """Describe what several have in common; what differs is left out."""
    first, *others = several
    ends = {
        end: {
            key: value if all(one[end][key] == value for one in others) else None
            for key, value in first[end].items()
        }
        for end in ENDS
    }
    for end in ENDS:
        ends[end]["replaced"] = ends[end]["replaced"] or {}
        if ends[end]["stack"] is None:  # CUBIC of one is not CUBIC of the other.
            ends[end]["congestion_control"] = None
    return _summarised(ends)


def of_run(run: Run) -> str:
    """Say what a run went by."""
    known = run.about.get("policies") or described(run.about, run.scenario)
    return str(known["in_words"])


def of_sender(run: Run, direction: str) -> Policies:
    """Give the congestion control and era of the end that sends data ``up`` or ``down``.

    They are called as simulations call them.
    """
    end = (run.about.get("policies") or described(run.about, run.scenario))[SENDERS[direction]]
    return {"congestion_control": _as_ours("congestion_control", end), "era": end["era"]}


def of_comparison(comparison: Comparison) -> str:
    """Say what the run with MPTCP went by, and plain TCP where that had something else."""
    own, *alone = (_control(run) for run in comparison.runs)
    others = "; ".join(dict.fromkeys(one for one in alone if one != own))
    own_policies = of_run(comparison.mptcp)
    return f"{own_policies}; plain TCP: {others}" if others else own_policies


def _control(run: Run) -> str:
    """Say what congestion control a run had."""
    known = run.about.get("policies") or described(run.about, run.scenario)
    alone = {end: {**known[end], **dict.fromkeys(NAMED[1:]), "replaced": {}} for end in ENDS}
    return str(_summarised(alone)["in_words"])


def _of_end(end: str, about: Mapping[str, Any], scenario: Mapping[str, Any]) -> Described:
    mptcp = about.get("path") is None and about.get("mptcp", True)
    section = scenario.get("mptcp" if mptcp else "tcp", {})
    named: Policies = {
        "congestion_control": _on(section.get("congestion_control"), mptcp=mptcp),
        "scheduler": section.get("scheduler") if mptcp else None,
        "path_manager": section.get("path_manager") if mptcp else None,
        "era": scenario.get("mptcp", {}).get("era"),
    }
    if about.get("stacks", {}).get(end) == UNKNOWN:
        return {"stack": UNKNOWN, **dict.fromkeys(NAMED), "replaced": {}}
    if scenario.get("transfer", {}).get("protocol") == "quic":
        used = dict.fromkeys(NAMED) | {"congestion_control": _asked(scenario, mptcp=mptcp)}
        return {"stack": NOQ, **used, "replaced": {}}
    ours = scenario.get(end, {}).get("stack") == "mptcplab"
    if ours or not engines.named(about["engine"]).linux:
        return {"stack": "mptcplab", **named, "replaced": {}}
    return {"stack": "kernel", **_of_the_kernel(end, named, about, scenario, mptcp=mptcp)}


def _as_ours(what: str, end: Described) -> str | None:
    """Give the name that simulations have for what an end had."""
    name: str | None = end[what]
    if end["stack"] != "kernel" or name is None:
        return name
    ours = {linux: ours for ours, linux in LINUX[what].items()}
    return ", ".join(ours.get(one, one) for one in name.split(", "))


def _on(congestion_control: str | None, *, mptcp: bool) -> str | None:
    """Name what a congestion control is there: over one path coupled ones are Reno."""
    if mptcp or congestion_control not in _reno_alone():
        return congestion_control
    return "reno"


@cache
def _reno_alone() -> set[str]:
    known = _core.policies()["congestion_control"]
    return {one["name"] for one in known if one["is_reno_alone"]}


def _of_the_kernel(
    end: str,
    named: Policies,
    about: Mapping[str, Any],
    scenario: Mapping[str, Any],
    *,
    mptcp: bool,
) -> Described:
    kernel = scenario.get("kernel", {})
    asked_control = _asked(scenario, mptcp=mptcp)
    used: Policies = {
        "congestion_control": _of_sockets(about.get("kernel", {}).get("sockets", {}).get(end, ()))
        or asked_control,
        "scheduler": kernel.get("scheduler") if mptcp else None,
        "path_manager": LINUX["path_manager"].get(named["path_manager"] or "", "linux")
        if mptcp
        else None,
        "era": None,
    }
    asked = {"congestion_control": asked_control, "scheduler": kernel.get("scheduler")}
    replaced = {
        what: name
        for what, names in LINUX.items()
        if (name := named[what]) is not None
        and used[what] != names.get(name, name)
        # Of two that Linux itself has [kernel] chose one.
        and not (name in names and name not in catalogue.NAMES and used[what] == asked.get(what))
    }
    return {**used, "replaced": replaced}


def _asked(scenario: Mapping[str, Any], *, mptcp: bool) -> str | None:
    """Give the congestion control that ``[kernel]`` asks for."""
    key = "congestion_control" if mptcp else "tcp_congestion_control"
    name: str | None = scenario.get("kernel", {}).get(key)
    return name


def _summarised(ends: dict[str, Described]) -> Described:
    client, server = (_named(ends[end]) for end in ENDS)
    if client == server:
        return {"in_words": client, **ends}
    # Only the client has a path manager.
    replaced = {
        what: name for what, name in ends["server"]["replaced"].items() if what != CLIENT_ONLY
    }
    server = _named({**ends["server"], CLIENT_ONLY: None, "replaced": replaced})
    return {"in_words": f"client: {client}; server: {server}", **ends}


def _named(end: Described) -> str:
    if end["stack"] == UNKNOWN:
        return UNKNOWN
    return labels.one_end(end, end["replaced"], stack=end["stack"])


def _of_sockets(sockets: Iterable[Mapping[str, Any]]) -> str:
    """Name what the kernel said that an end's subflows had: programs choose for themselves."""
    used = {
        subflow["congestion_control"]
        for socket in sockets
        for subflow in socket.get("subflows", ())
        if subflow["congestion_control"]
    }
    return ", ".join(sorted(used))


def _of_ends(values: Policies) -> str | None:
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{value} at the {end}" for end, value in values.items() if value is not None)
