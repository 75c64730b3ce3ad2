"""Transfers on the move: what happens to paths and when, and the phases that a paper prints."""

from __future__ import annotations

from mptcplab.study import comparing, scoring
from mptcplab.study.experiment import Comparison
from mptcplab.study.measurements import Figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from mptcplab.study.measured import Measured
    from mptcplab.study.measurements import Mobile

    Events = list[dict[str, Any]]


def becomes(at_s: float, path: str, profile: str) -> Events:
    """Change a path's link."""
    return [{"at": f"{at_s:g} s", "path": path, "verb": "profile", "profile": profile}]


def held(at_s: float, path: str, silent_s: float, profile: str) -> Events:
    """Switch to another network behind the same addresses: silence, then another link."""
    end = at_s + silent_s
    return [_event(at_s, path, "hold"), *becomes(end, path, profile), _event(end, path, "restore")]


def gone(at_s: float, path: str, until_s: float | None = None) -> Events:
    """Lose the radio, and have it again: nobody is told."""
    back = [] if until_s is None else [_event(until_s, path, "restore")]
    return [_event(at_s, path, "blackout"), *back]


def rebound(at_s: float, path: str, boots_s: float, profile: str) -> Events:
    """Lose the radio, and come back on another network under a new public address."""
    end = at_s + boots_s
    return [
        _event(at_s, path, "blackout"),
        *becomes(end, path, profile),
        _event(end, path, "rebind"),
        _event(end, path, "restore"),
    ]


def in_order(*events: Events) -> Events:
    """Put what happens to several paths into one timeline."""
    every = [event for one in events for event in one]
    return sorted(every, key=lambda event: float(event["at"].removesuffix(" s")))


def phases(
    row: Mobile,
    measured: Measured,
    alone: Sequence[Mapping[str, float]],
    end_s: float,
    links: Sequence[tuple[str, ...]],
) -> Iterator[Comparison]:
    """Compare each phase; ``alone`` and ``links`` have what its paths carry alone, and their links.

    There must be one of each for every phase of the row; the last may end with the run.
    """
    sample, today = comparing.samples(measured)
    for phase, single, profiles in zip(row.phases, alone, links, strict=True):
        end = min(phase.end_s, end_s)
        naive = scoring.aggregate(list(single.values())) if single else {}
        if phase.best_single_path is not None and naive:
            naive |= dict.fromkeys((scoring.BEST, scoring.EQUAL), phase.best_single_path)
        yield Comparison(
            row.id,
            f"throughput in {phase.start_s:g} to {end:g} s: {phase.what}",
            "Mbit/s",
            Figure(phase.throughput),
            sample.between(phase.start_s, end),
            today.between(phase.start_s, end) if today else (),
            naive,
            profiles,
        )


def _event(at_s: float, path: str, verb: str) -> dict[str, Any]:
    return {"at": f"{at_s:g} s", "path": path, "verb": verb}
