"""What an engine is: what it can, what it refuses, and how it fills a run directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.scenario.scenario import Scenario

#: Called with the time in nanoseconds, and the packets or bytes so far.
Progress = Callable[[int, int], None]
#: What captures may hold; each has all that the ones before it have.
CAPTURES = ("none", "headers", "full")
#: The stack of a host that has nothing of ours, among ``stacks`` of ``run.json``.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Trial:
    """A run to make: a scenario, or plain TCP over its path ``baseline``, with a seed."""

    #: All random draws of its links are made.
    scenario: Scenario
    seed: int
    baseline: str | None

    @property
    def mptcp(self) -> bool:
        """Whether MPTCP is used."""
        return self.protocol == "tcp" and self.baseline is None and self.scenario.mptcp.enabled

    @property
    def protocol(self) -> str:
        """What carries the data: ``tcp``, also where that is MPTCP, or ``quic``."""
        return str(self.scenario.transfer.protocol)


@dataclass(frozen=True)
class Programs:
    """Programs that run at both ends in place of the scenario's transfer."""

    #: The command at the client, on our terminal.
    command: list[str]
    #: The command at the server, for a shell.
    serve: str | None = None
    #: Whether sockets of TCP are made of MPTCP.
    mptcpize: bool = False
    #: Whether those are, too, that no library reaches.
    mptcpize_all: bool = False


@dataclass(frozen=True)
class Target:
    """Where a run is written."""

    directory: Path
    #: What :meth:`Engine.session` gave.
    session: Any
    #: What captures hold, of :data:`CAPTURES`; they go to the directory.
    captures: str
    progress: Progress | None = None
    #: The bytes of payload, both ways, after which the transfer is given up; ``None``: never.
    most_bytes: int | None = None


@dataclass(frozen=True)
class Measured:
    """The results of a run."""

    tables: Mapping[str, _core.Table]
    #: ``finished`` and ``reason``; ``cross_traffic`` and what else is known of how it ended.
    outcome: Mapping[str, Any]
    #: Entries of this engine alone, for ``run.json``.
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Carried:
    """The bytes that an interface has carried, both ways, by its own counters."""

    count_bytes: int
    #: Changes when the counters are reset.
    since: str


class Engine:
    """Runs scenarios. All that differs between engines is asked of them here."""

    #: As in ``--engine``, and in what is stored of runs.
    name: str
    #: What a run is: ``simulated``.
    made: str
    #: Its endpoints, links and time, in a sentence.
    means: str
    #: Whether runs take real time: those at the same time disturb each other, and none can be
    #: repeated exactly.
    real_time: bool = False
    #: Whether MPTCP and plain TCP over each path are run back to back, in random order: the network
    #: changes meanwhile.
    visits: bool = False
    #: Whether it emulates the links of a scenario; else its paths need interfaces.
    emulates: bool = True
    #: Whether Linux is at the ends, which follows ``[kernel]``.
    linux: bool = False
    #: Whether ``[converter]`` has hosts.
    converters: bool = False
    #: Whether :meth:`run_programs` runs ordinary programs.
    programs: bool = False
    #: Whether :meth:`tables` measures without a run directory.
    in_memory: bool = False
    #: What progress counts: ``packets`` or ``bytes``.
    counts: str = "bytes"
    #: What captures may hold.
    captures: tuple[str, ...] = CAPTURES
    #: Tables of what no capture shows.
    samples: tuple[str, ...] = ()
    #: What carries data, as in ``[transfer]``.
    protocols: tuple[str, ...] = ("tcp",)
    #: Verbs of the timeline that it supports; ``None``: all.
    verbs: tuple[str, ...] | None = None
    #: Names that it supports for a key of ``[mptcp]``; for other keys, all.
    policies: Mapping[str, tuple[str, ...]] = {}

    def conditions(self) -> dict[str, Any]:
        """Give what must be equal on this machine for a run to be the same."""
        return {}

    def unloaded(self) -> list[str]:
        """Name the congestion controls that would first have to be loaded."""
        return []

    def ran(self, about: Mapping[str, Any]) -> str:
        """Say what ran it, by the stored description of a run or a campaign."""
        del about
        return self.made

    def check(self, scenario: Scenario, baseline: str | None = None) -> None:
        """Refuse a scenario, or plain TCP over its path ``baseline``, if it cannot be run.

        Raises:
            ScenarioError: It cannot; says why, and what can run it.
        """
        from mptcplab.messages import quoted
        from mptcplab.scenario.fault import ScenarioError

        if self.emulates and scenario.unlinked:
            others = [one.name for one in Engine.__subclasses__() if not one.emulates]
            raise ScenarioError(
                f"path {scenario.unlinked[0]}: it has an interface and no link, and the "
                f"{self.name} engine emulates links: run it with --engine {' or '.join(others)}"
            )
        if scenario.converter is not None and not self.converters:
            others = [one.name for one in Engine.__subclasses__() if one.converters]
            raise ScenarioError(
                f"[converter]: the {self.name} engine has no converters: run it with --engine "
                f"{' or '.join(others)}, or leave the section out"
            )
        if (protocol := scenario.transfer.protocol) not in self.protocols:
            others = [one.name for one in Engine.__subclasses__() if protocol in one.protocols]
            raise ScenarioError(
                f"[transfer] protocol: the {self.name} engine has no {quoted(protocol)}: run it "
                f"with --engine {' or '.join(others)}, or with --set transfer.protocol=tcp"
            )
        if scenario.run.earlier_transfers and self.real_time:
            raise ScenarioError(
                f"[run] earlier_transfers: the {self.name} engine has none: run it with --engine "
                "simulation, or with --set run.earlier_transfers=0"
            )
        asked = [
            (f"[[timeline]] {event.path}: verb", event.verb, self.verbs)
            for event in scenario.timeline
        ]
        if baseline is None and scenario.mptcp.enabled:
            asked += [
                (f"[mptcp] {key}", getattr(scenario.mptcp, key), known)
                for key, known in self.policies.items()
            ]
        for where, name, known in asked:
            if known is not None and name not in known:
                has = ", ".join(map(quoted, known)) or "none"
                raise ScenarioError(
                    f"{where}: the {self.name} engine cannot have {quoted(name)}: it has {has}"
                )

    def need(self, scenario: Scenario) -> None:
        """Refuse to begin without something that a run needs and the scenario does not describe.

        Raises:
            Error: It is missing; says where to get it.
        """
        del scenario

    def greet(self, scenarios: list[Scenario]) -> None:
        """Refuse to begin with another server than is meant, or one that refuses some of them.

        Raises:
            Error: It is another one, or refuses; an absent one is no error.
        """
        del scenarios

    def away(self, scenario: Scenario) -> dict[str, str]:
        """Give the paths that cannot be used now, and why; hardly anything is sent."""
        del scenario
        return {}

    def lacks(self, scenario: Scenario) -> list[str]:
        """Say what this host lacks for all paths to be used, and the command that mends it."""
        del scenario
        return []

    def carried(self, scenario: Scenario) -> dict[str, Carried]:
        """Count what real interfaces have carried, by path; absent ones have no count."""
        del scenario
        return {}

    def session(self, directory: Path, *, programs: bool = False) -> AbstractContextManager[Any]:
        """Open what a run needs, from before it begins in ``directory`` until it is complete.

        A process that outlives us cleans up there if we are killed. ``programs``: for
        :meth:`run_programs`.
        """
        del directory, programs
        return nullcontext()

    def run(self, trial: Trial, target: Target) -> Measured:
        """Run a trial that was checked."""
        raise NotImplementedError

    def tables(self, trial: Trial, *, samples: bool, progress: Progress | None) -> _core.Tables:
        """Run it, and give only its tables; those of samples too, if asked for."""
        raise NotImplementedError

    def run_programs(
        self,
        trial: Trial,
        target: Target,
        programs: Programs,
        *,
        name: str,
        begin: Callable[[list[str]], None],
    ) -> tuple[Measured, int]:
        """Run programs in the scenario ``name``; returns the exit status of the client's, too.

        ``begin`` is called with notes for the user once all is ready, before the client's program
        is started.
        """
        del trial, target, programs, name, begin
        raise Error(f"the {self.name} engine runs no programs")
