"""Transfers on the move: what happens to paths and when, and the phases that a paper prints."""

from __future__ import annotations

from mptcplab import measurements
from mptcplab.measurements import Figure
from mptcplab.study import comparing, scenes, scoring
from mptcplab.study.experiment import Comparison

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from mptcplab.measurements import Mobile
    from mptcplab.study.experiment import Extent
    from mptcplab.study.measured import Measured

    Events = list[dict[str, Any]]


#: Least of the uplinks' largest segments, to which On Uplink Measurement (§3.2) sets all.
UPLINK_MSS = {"tcp.mss": "1357 B"}


def campaign(
    paths: dict[str, str],
    direction: str,
    extent: Extent,
    timeline: Events,
    *,
    title: str,
    size: str | None = None,
    duration_s: float | None = None,
    baselines: bool = False,
    axes: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Write a transfer on the move: two server addresses, and what happens on the way."""
    duration = None if duration_s is None else f"{duration_s:g} s"
    return scenes.campaign(
        scenes.scenario(
            paths, direction, size=size, duration=duration, addresses=2, timeline=timeline
        ),
        extent,
        extent.repetitions(30, 5),
        title=title,
        both=scenes.THRESHOLD | (UPLINK_MSS if direction == "upload" else {}),
        baselines=baselines,
        axes=axes,
        tables=["throughput"],
    )


def alone(row: str) -> float:
    """Give the printed throughput of a single path."""
    printed = measurements.load().single_path[row].throughput
    assert printed is not None  # noqa: S101 - the row prints it
    return printed.mean


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


def whole(row: Mobile, measured: Measured, naive: dict[str, float]) -> Comparison:
    """Compare the average over a drive."""
    sample, today = comparing.samples(measured)
    assert row.aggregate is not None  # noqa: S101 - the row prints it
    return comparing.whole(row.id, row.aggregate, sample, today, naive)


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
