"""Routes of links, written out as events of the timeline."""

from __future__ import annotations

from mptcplab.scenario.events import Event, Profile
from mptcplab.scenario.path import Link, Path
from mptcplab.scenario.source import Source


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
