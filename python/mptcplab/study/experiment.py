"""What an experiment of the study is: its campaigns, its comparisons and its findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from mptcplab.engines import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from mptcplab.engines.engine import Engine
    from mptcplab.measurements import Figure
    from mptcplab.study.judging import Ratio, Verdict
    from mptcplab.study.measured import Measured

#: The stack of the papers, which is compared with them; today's beside it; and Linux itself.
PAPERS, TODAY, LINUX = "2012", "current", "linux"


@dataclass(frozen=True)
class Extent:
    """How much is run."""

    quick: bool = False
    engine: Engine = DEFAULT
    stacks: tuple[str, ...] = (PAPERS,)

    def repetitions(self, complete: int, quick: int) -> int:
        """Say how often each configuration is run; fewer times where that takes real time."""
        if self.engine.real_time:
            return 1 if self.quick else 3
        return quick if self.quick else complete

    def size(self, printed: str) -> str:
        """Say how much is transferred: as printed, but where that takes minutes of real time."""
        return "10 MB" if self.engine.real_time else printed


@dataclass(frozen=True)
class Comparison:
    """A printed number beside ours."""

    #: Id of the row of measurements.
    row: str
    #: What it is, as ``throughput`` or ``throughput of att-1``.
    what: str
    unit: str
    theirs: Figure
    #: One per run, none where it is unknown; or a ratio of means.
    ours: Sequence[float | None] | Ratio
    #: The same with today's stack, if that was run.
    today: Sequence[float | None] | Ratio = ()
    #: What naive predictors say, by their name.
    naive: dict[str, float] = field(default_factory=dict)
    #: Links that it hangs on.
    links: tuple[str, ...] = ()
    #: Whether it is a prediction of ours; if not it is shown and in no score.
    scored: bool = True
    #: Whether the links were calibrated on this very number: an agreement then predicts nothing.
    fitted: bool = False
    #: What the paper's single paths carry together, where the printed number is more.
    beyond: float | None = None
    remark: str | None = None


@dataclass(frozen=True)
class Finding:
    """What a paper found, in a sentence, and how it is judged."""

    paper: str
    #: Where in the paper.
    where: str
    says: str
    #: What is asked of our runs, in words.
    asked: str
    judge: Callable[[Measured], Verdict]
    #: Links that it hangs on; if left out all of the experiment's.
    links: tuple[str, ...] | None = None
    #: Whether the links were calibrated on these very figures: that it holds then predicts nothing.
    fitted: bool = False
    #: Why nothing was printed that it could be judged by, where that is so.
    unprinted: str | None = None
    #: What in the paper's own rows of single paths contradicts it, where something does.
    against: str | None = None


@dataclass(frozen=True)
class Drawing:
    """A figure of the papers, drawn of a campaign as ``mptcplab figure`` draws it.

    One ``of_run`` is of the first run that ``where`` chooses.
    """

    name: str
    kind: str
    campaign: str = "main"
    by: tuple[str, ...] = ()
    where: Mapping[str, object] = field(default_factory=dict)
    value: str | None = None
    paths: tuple[str, ...] = ()
    of_run: bool = False


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper."""

    name: str
    #: A line.
    title: str
    #: Tables and figures of which papers.
    reproduces: str
    #: Campaigns by their names.
    campaigns: Callable[[Extent], dict[str, dict[str, Any]]]
    compare: Callable[[Measured], Iterable[Comparison]]
    findings: tuple[Finding, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    #: Whether Linux can run it, in as much real time as anybody has.
    on_linux: bool = False
    #: Congestion controls that Linux needs for it, which root has to load.
    controllers: tuple[str, ...] = ()
    #: What is known not to be as in the paper.
    remarks: tuple[str, ...] = ()

    def lacking(self, engine: Engine) -> list[str]:
        """Name the congestion controls that would first have to be loaded."""
        return [name for name in self.controllers if name in engine.unloaded()]
