"""Whether what the timeline says can happen in that order."""

from __future__ import annotations

from mptcplab.scenario.fault import nearest
from mptcplab.scenario.quantity import DURATION, said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.scenario.events import Event
    from mptcplab.scenario.scenario import Scenario
    from mptcplab.scenario.source import Source


class _Path:
    """What the events so far have made of a path."""

    def __init__(self, attached: bool) -> None:
        self.attached = attached
        self.stopped = False

    def take(self, verb: str) -> str | None:
        """Take an event; says why it cannot be."""
        match verb:
            case "restore" if not self.stopped:
                return "is neither blacked out nor held then: there is nothing to restore"
            case "attach" if self.attached:
                return "is attached then already"
            case "detach" | "hold" | "rebind" if not self.attached:
                return "is not attached then"
            case "blackout" | "hold" | "restore":
                self.stopped = verb != "restore"
            case "attach" | "detach":
                self.attached = verb == "attach"
        return None


def check_timeline(scenario: Scenario, source: Source) -> None:
    """Refuse events of unknown paths, after the end, or of what cannot be at their time."""
    lasts = scenario.transfer.lasts_ns
    end = scenario.stop_ns if lasts is None else min(lasts, scenario.stop_ns)
    for number, event in enumerate(scenario.timeline):
        if event.path not in scenario.paths:
            hint = nearest(event.path, scenario.paths)
            raise source.fault(
                ("timeline", number, "path"), f"there is no path {said(event.path)}; {hint}"
            )
        if event.at >= end:
            raise source.fault(
                ("timeline", number, "at"),
                f"{DURATION.show(event.at)} is not before the end, {DURATION.show(end)}",
            )
    paths = {name: _Path(path.attached) for name, path in scenario.paths.items()}

    def at(numbered: tuple[int, Event]) -> int:
        return numbered[1].at

    for number, event in sorted(enumerate(scenario.timeline), key=at):
        why = paths[event.path].take(event.verb)
        if why:
            raise source.fault(
                ("timeline", number),
                f"{event.verb} at {DURATION.show(event.at)}: {event.path} {why}",
            )
