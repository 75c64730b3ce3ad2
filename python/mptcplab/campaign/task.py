"""What is handed to a worker, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.engine import Engine
    from mptcplab.scenario.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Subject:
    """A scenario with MPTCP, or with plain TCP over one path: what is run with several seeds."""

    #: Digest of all that makes its runs what they are, but for the seed.
    identity: str
    name: str
    engine: Engine
    #: Whether nothing but tables is kept, and the engine needs no directory for them.
    in_memory: bool
    path: str | None
    direction: str
    scenario: Scenario
    captures: str
    tables: tuple[str, ...]
    limit_s: float | None


@dataclass(frozen=True, eq=False)
class Task:
    """A run: its key, its seed, and of what."""

    run: str
    seed: int
    subject: Subject


@dataclass(frozen=True, eq=False)
class Batch:
    """Runs for one worker, which hands back what it has done after so many seconds."""

    tasks: tuple[Task, ...]
    seconds: float
    #: The build of mptcplab that the keys are of.
    build: str
    #: Where run directories are made; ``None``: wherever the worker likes.
    directory: str | None
    #: Whether they stay.
    keep: bool


@dataclass
class Shard:
    """What became of the first runs of a batch."""

    #: The seconds that each took.
    done: dict[str, float] = field(default_factory=dict)
    #: Why each failed.
    failed: dict[str, str] = field(default_factory=dict)
    #: Parquet, by the table's name; ``runs`` is one of them.
    tables: dict[str, bytes] = field(default_factory=dict)
