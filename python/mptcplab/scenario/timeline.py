"""``[[timeline]]``: what happens to paths meanwhile, and whether it can happen in that order."""

from __future__ import annotations

from typing import Any

from mptcplab.messages import nearest, quoted
from mptcplab.quantity import DURATION
from mptcplab.scenario.fault import Faults
from mptcplab.scenario.path import Link, Path, read_link
from mptcplab.scenario.section import Section, Text, forms, read_form
from mptcplab.scenario.source import Source, tables


class Event(Section):
    """Something that happens to a path."""

    at: int
    path: str
    verb: str
    """What happens."""


class Profile(Event):
    """The path's link is replaced from now on, for all paths that share it."""

    link: Text | None = None
    """Name of a link in this scenario that replaces it."""
    profile: Text | None = None
    """Instead of ``link``: name of a link that ships with mptcplab."""
    uplink: list[Any] | None = None
    """Instead of ``link``: elements of the uplink."""
    downlink: list[Any] | None = None
    """Instead of ``link``: elements of the downlink."""
    middleboxes: list[Any] | None = None
    """Elements at the server's end that packets of both directions pass. They replace those that
    were there."""
    draw: dict[str, Any] | None = None
    """Parameters that vary from run to run, as in a link. Those of ``link`` or ``profile`` are
    drawn again."""
    alternatives: list[Any] | None = None
    """What it may become instead, of which one is drawn, as in a link."""


VERBS = forms("timeline", "verb", Event, {"profile": Profile})


def read_events(value: Any, links: dict[str, Link], source: Source) -> list[Event]:
    """Read the timeline; what a path becomes is written out."""
    events = []
    faults = Faults()
    for number, one in enumerate(tables(value, "timeline", source)):
        key_path = ("timeline", number)
        with faults.collected():
            event = read_form(VERBS, "verb", Event, one, key_path, source)
            if isinstance(event, Profile):
                event = _written_out(event, one, key_path, links, source)
            events.append(event)
    faults.raise_found()
    return events


def _written_out(
    event: Profile,
    one: dict[str, Any],
    key_path: tuple[str | int, ...],
    links: dict[str, Link],
    source: Source,
) -> Event:
    """Write out what a path becomes."""
    if (event.link is None) == (event.profile is None and event.uplink is None):
        what = "needs one of link, profile, or uplink and downlink: what the path becomes"
        raise source.fault(key_path, what)
    if event.link is not None:
        if event.link not in links:
            what = f"there is no link {quoted(event.link)}; {nearest(event.link, links)}"
            raise source.fault((*key_path, "link"), what)
        link = links[event.link]
    else:
        given = ("profile", "uplink", "downlink", "middleboxes", "draw", "alternatives")
        link = read_link({key: one[key] for key in given if key in one}, key_path, source)
    if link.radio is not None:
        what = "that link follows a route, which begins with the run: give the path it"
        raise source.fault(key_path, what)
    return event.model_copy(
        update={
            "link": None,
            "profile": None,
            "uplink": link.uplink,
            "downlink": link.downlink,
            "middleboxes": None,
            "draw": link.draw,
            "alternatives": link.alternatives,
        }
    )


def followed(
    links: dict[str, Link],
    paths: dict[str, Path],
    timeline: list[Event],
    end_ns: int,
    source: Source,
) -> tuple[dict[str, Link], list[Event]]:
    """Give the links as they are at the start, and the timeline with what becomes of them."""
    routed = {name: link.radio for name, link in links.items() if link.radio is not None}
    for number, event in enumerate(timeline):
        path = paths.get(event.path)
        if event.verb == "profile" and path is not None and path.link in routed:
            raise source.fault(
                ("timeline", number), f"{event.path} follows a route: its link cannot be another"
            )
    more = [
        Profile.model_construct(
            at=at, path=path, verb="profile", uplink=then.uplink, downlink=then.downlink
        )
        for name, later in routed.items()
        # An event changes the link for all who share it.
        for path in [path for path, one in paths.items() if one.link == name][:1]
        for at, then in later
        if at < end_ns
    ]
    plain = {name: link.model_copy(update={"radio": None}) for name, link in links.items()}
    return plain, [*timeline, *more]


class _Path:
    """What the events so far have made of a path."""

    def __init__(self, attached: bool) -> None:
        self.attached = attached
        self.stopped = False

    @property
    def carries(self) -> bool:
        """Whether packets pass."""
        return self.attached and not self.stopped

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


def lost_ns(timeline: list[Event], paths: dict[str, Path]) -> int | None:
    """Say when the last of some paths goes for good; None where one is there in the end."""
    states = {name: _Path(path.attached) for name, path in paths.items()}
    gone = dict.fromkeys(paths, 0)
    for event in sorted(timeline, key=lambda event: event.at):
        if (state := states.get(event.path)) is None:
            continue
        carried = state.carries
        state.take(event.verb)
        if carried and not state.carries:
            gone[event.path] = event.at
    if any(state.carries for state in states.values()):
        return None
    return max(gone.values())


def check_timeline(
    timeline: list[Event], paths: dict[str, Path], end_ns: int, source: Source
) -> None:
    """Refuse events of unknown paths, after the end, or of what cannot be at their time."""
    for number, event in enumerate(timeline):
        if event.path not in paths:
            hint = nearest(event.path, paths)
            raise source.fault(
                ("timeline", number, "path"), f"there is no path {quoted(event.path)}; {hint}"
            )
        if event.at >= end_ns:
            raise source.fault(
                ("timeline", number, "at"),
                f"{DURATION.show(event.at)} is not before the end, {DURATION.show(end_ns)}",
            )
    states = {name: _Path(path.attached) for name, path in paths.items()}
    for number, event in sorted(enumerate(timeline), key=lambda numbered: numbered[1].at):
        reason = states[event.path].take(event.verb)
        if reason:
            raise source.fault(
                ("timeline", number),
                f"{event.verb} at {DURATION.show(event.at)}: {event.path} {reason}",
            )
