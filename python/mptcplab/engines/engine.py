"""What an engine is: what it can, what it refuses, and how it fills a run directory."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from mptcplab import _core
    from mptcplab.scenario.scenario import Scenario

    #: Is told the time in nanoseconds, and the packets or bytes so far.
    Progress = Callable[[int, int], None]

#: What captures may hold; each has all that the ones before it have.
CAPTURES = ("none", "headers", "full")
#: The stack of a host that has nothing of ours, among ``stacks`` of ``run.json``.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Trial:
    """What is run: a scenario, or plain TCP over its path ``baseline``, with a seed."""

    #: What its links draw is drawn.
    scenario: Scenario
    seed: int
    baseline: str | None

    @property
    def mptcp(self) -> bool:
        """Whether MPTCP is used."""
        return self.baseline is None and self.scenario.mptcp.enabled


@dataclass(frozen=True)
class Programs:
    """Programs that run at both ends in place of the scenario's transfer."""

    #: The client's, on our terminal.
    command: list[str]
    #: The server's, for a shell.
    serve: str | None = None
    #: Whether sockets of TCP are made of MPTCP.
    mptcpize: bool = False


@dataclass(frozen=True)
class Target:
    """Where a run goes."""

    directory: Path
    #: What :meth:`Engine.session` gave.
    session: Any
    #: What captures hold, of :data:`CAPTURES`; they go to the directory.
    captures: str
    progress: Progress | None = None
    #: After so many bytes of payload, both ways, the transfer is given up; ``None``: never.
    most_bytes: int | None = None


@dataclass(frozen=True)
class Measured:
    """What a run gave."""

    tables: Mapping[str, _core.Table]
    #: ``finished`` and ``reason``; ``cross_traffic`` and what else is known of how it ended.
    outcome: Mapping[str, Any]
    #: What only this engine tells, for ``run.json``.
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Carried:
    """What an interface has carried, both ways, as it counts it."""

    count_bytes: int
    #: What changes when the count begins anew.
    since: str


class Engine:
    """Runs scenarios. Whatever else differs between engines is asked of them here."""

    #: As in ``--engine``, and in what is stored of runs.
    name: str
    #: What a run is: ``simulated``.
    made: str
    #: Whose endpoints, over which links, in which time.
    means: str
    #: Whether runs take the time that they show: beside each other they disturb each other, and
    #: none can be had again.
    real_time: bool = False
    #: Whether MPTCP and plain TCP over each path are run back to back, in an order by chance: the
    #: network changes meanwhile.
    visits: bool = False
    #: Whether it makes the links of a scenario; else its paths need interfaces.
    emulates: bool = True
    #: Whether Linux is at the ends, which goes by ``[kernel]``.
    linux: bool = False
    #: Whether :meth:`run_programs` runs programs that know nothing of it.
    programs: bool = False
    #: Whether :meth:`tables` measures without a run directory.
    in_memory: bool = False
    #: What progress counts: ``packets`` or ``bytes``.
    counts: str = "bytes"
    #: What captures may hold.
    captures: tuple[str, ...] = CAPTURES
    #: Tables of what no capture shows.
    samples: tuple[str, ...] = ()
    #: Verbs of the timeline that it has; ``None``: all.
    verbs: tuple[str, ...] | None = None
    #: Names that it has for a key of ``[mptcp]``; for one that is not here, all.
    policies: Mapping[str, tuple[str, ...]] = {}

    def conditions(self) -> dict[str, Any]:
        """Give what of this machine must be the same for a run to be the same."""
        return {}

    def ran(self, about: Mapping[str, Any]) -> str:
        """Say what ran it, by what is stored of a run or a campaign."""
        del about
        return self.made

    def check(self, scenario: Scenario, baseline: str | None = None) -> None:
        """Refuse a scenario, or plain TCP over its path ``baseline``, if it cannot be run.

        Raises:
            ScenarioError: It cannot; says what, and what would.
        """
        from mptcplab.messages import quoted
        from mptcplab.scenario.fault import ScenarioError

        if self.emulates and scenario.unlinked:
            others = [one.name for one in Engine.__subclasses__() if not one.emulates]
            raise ScenarioError(
                f"path {scenario.unlinked[0]}: it has an interface and no link, and the "
                f"{self.name} engine emulates links: run it with --engine {' or '.join(others)}"
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
        """Refuse to begin without what a run needs beside what the scenario describes.

        Raises:
            Error: It is not there; says where it is to come from.
        """
        del scenario

    def greet(self, scenarios: list[Scenario]) -> None:
        """Refuse to begin with another host than is meant, or one that will not run all of them.

        Raises:
            Error: It is so; of a host that is not there nothing is known.
        """
        del scenarios

    def away(self, scenario: Scenario) -> dict[str, str]:
        """Say of paths that cannot be used now why; next to nothing is sent."""
        del scenario
        return {}

    def lacks(self, scenario: Scenario) -> list[str]:
        """Say what this host lacks for all paths to be used, and the command that mends it."""
        del scenario
        return []

    def carried(self, scenario: Scenario) -> dict[str, Carried]:
        """Count what real interfaces have carried, by path; one that is not there has no count."""
        del scenario
        return {}

    def session(self, directory: Path, *, programs: bool = False) -> AbstractContextManager[Any]:
        """Open what a run needs, before it is begun in ``directory`` until it is complete.

        What outlives us clears away there, should we be killed. ``programs``: for
        :meth:`run_programs`.
        """
        del directory, programs
        return nullcontext()

    def run(self, trial: Trial, target: Target) -> Measured:
        """Run what was checked."""
        raise NotImplementedError

    def tables(self, trial: Trial, *, samples: bool, progress: Progress | None) -> _core.Tables:
        """Run it, and give its tables alone; those of samples too, if asked for."""
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
        """Run programs in the scenario ``name``; gives the exit status of the client's, too.

        ``begin`` is called when all is there, before the client's program is started, with what
        whoever starts it should know.
        """
        del trial, target, programs, name, begin
        raise Error(f"the {self.name} engine runs no programs")
