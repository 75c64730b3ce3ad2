"""``[[timeline]]`` and ``[[cross_traffic]]``: what happens meanwhile."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import Field

from mptcplab.scenario import endpoint
from mptcplab.scenario.fault import nearest
from mptcplab.scenario.path import Link
from mptcplab.scenario.quantity import said
from mptcplab.scenario.section import (
    Bytes,
    Duration,
    Flag,
    Integer,
    Rate,
    Section,
    Some,
    Text,
    about,
    read,
)
from mptcplab.scenario.source import Source


class Event(Section):
    """Something that happens to a path."""

    at: Duration
    """When, from the start of the run."""
    path: Text
    """To which path."""
    verb: str
    """What happens."""


class Blackout(Event):
    """From now on packets vanish and nobody is told: the radio is gone."""

    verb: Literal["blackout"]


class Hold(Event):
    """From now on packets wait until ``restore``: a change of the radio network."""

    verb: Literal["hold"]


class Restore(Event):
    """The blackout or hold is over; what waited goes on."""

    verb: Literal["restore"]


class Detach(Event):
    """The interface and its routes go, and the host is told."""

    verb: Literal["detach"]


class Attach(Event):
    """The interface comes, after the time that this takes."""

    verb: Literal["attach"]
    takes: Duration = 0
    """How long attaching takes."""


class Rebind(Event):
    """The public address changes, the private one stays: a NAT forgot, or another took over."""

    verb: Literal["rebind"]


class Profile(Event):
    """From now on the path's link is another, for all who share it."""

    verb: Literal["profile"]
    link: Text | None = None
    """Name of the link in this scenario that it is from now on."""
    profile: Text | None = None
    """Name of a link that ships with mptcplab, instead."""
    uplink: list[Any] | None = None
    """Elements of the uplink, instead."""
    downlink: list[Any] | None = None
    """Elements of the downlink, instead."""
    middleboxes: list[Any] | None = None
    """Elements that both directions pass, behind the rest; those that were there are gone."""
    draw: dict[str, Any] | None = None
    """What differs from run to run, as in a link; that of ``link`` or ``profile`` is drawn anew."""


class Traffic(Section):
    """Flows between hosts of their own over one of the links."""

    kind: str
    """``"tcp"``: bulk transfers; ``"udp"``: packets at a constant rate."""
    name: Text | None = None
    """What it is called in results; if left out ``cross-1``, ``cross-2``, ..."""
    link: Text
    """Over which link: the name of a link, or of a path that describes its own."""
    direction: Literal["download", "upload"] = "download"
    """``"download"`` (towards the client's side) or ``"upload"``."""
    start: Duration = 0
    """When it starts."""
    stop: Duration | None = None
    """When it stops; if left out it goes on."""


class TcpTraffic(Traffic):
    """Plain TCP flows that send as much as they can."""

    kind: Literal["tcp"] = "tcp"
    flows: Integer = Field(1, ge=1, le=1000)
    """How many."""
    congestion_control: Text = Field(
        default_factory=lambda: str(endpoint.defaults()["congestion_control"])
    )
    """How fast each may send; if left out as today's Linux has it, a coupled one is ``reno``."""


class UdpTraffic(Traffic):
    """Packets of one size at equal distances."""

    kind: Literal["udp"]
    rate: Rate = Field(gt=0)
    """Bits per second, headers included."""
    packet: Bytes = Field(1000, ge=64, le=9000)
    """Bytes of each packet, headers included."""


class Run(Section):
    """How it is run."""

    stop: Duration | None = Field(None, gt=0)
    """When to give up: after 1 h if left out, or a minute after a transfer with a duration."""
    sample: Duration = 100_000_000
    """Period of the samples of ``state`` and ``queues``; 0: none."""
    baselines: Flag = True
    """Whether plain TCP over each path is run too."""
    processing: Duration = Field(100_000, le=1_000_000_000)
    """Longest that a simulated host takes to look at what came: each time is drawn, as network
    cards hold interrupts back. Without it (0) flows of cross traffic also start on the dot, not
    up to 1 ms late, and flows that share a full queue may stay in step for ever."""


VERBS: dict[str, type[Event]] = {
    "blackout": Blackout,
    "hold": Hold,
    "restore": Restore,
    "detach": Detach,
    "attach": Attach,
    "rebind": Rebind,
    "profile": Profile,
}
KINDS: dict[str, type[Traffic]] = {"tcp": TcpTraffic, "udp": UdpTraffic}


def read_events(value: Any, links: dict[str, Link], source: Source) -> list[Event]:
    """Read the timeline; what a path becomes is written out."""
    from mptcplab.scenario.path import read_link

    events = []
    for number, one in enumerate(_tables(value, "timeline", source)):
        place = ("timeline", number)
        event = _one(VERBS, "verb", Event, one, place, source)
        if isinstance(event, Profile):
            if (event.link is None) == (event.profile is None and event.uplink is None):
                raise source.fault(
                    place,
                    "needs one of link, profile, or uplink and downlink: what the path becomes",
                )
            if event.link is not None:
                if event.link not in links:
                    hint = nearest(event.link, links)
                    raise source.fault(
                        (*place, "link"), f"there is no link {said(event.link)}; {hint}"
                    )
                link = links[event.link]
            else:
                given = ("profile", "uplink", "downlink", "middleboxes", "draw")
                table = {key: one[key] for key in given if key in one}
                link = read_link(table, place, source)
            if link.radio is not None:
                raise source.fault(
                    place, "that link follows a route, which begins with the run: give the path it"
                )
            event = event.model_copy(
                update={
                    "link": None,
                    "profile": None,
                    "uplink": link.uplink,
                    "downlink": link.downlink,
                    "middleboxes": None,
                    "draw": link.draw,
                }
            )
        events.append(event)
    return events


def read_traffic(value: Any, source: Source) -> list[Traffic]:
    """Read the cross traffic."""
    all_of_it: list[Traffic] = []
    for number, one in enumerate(_tables(value, "cross_traffic", source)):
        place = ("cross_traffic", number)
        traffic = _one(KINDS, "kind", Traffic, {"kind": "tcp", **one}, place, source)
        if traffic.name is None:
            traffic = traffic.model_copy(update={"name": f"cross-{number + 1}"})
        if traffic.name in [other.name for other in all_of_it]:
            raise source.fault(
                (*place, "name"), f"there is another cross traffic {said(traffic.name)}"
            )
        if traffic.stop is not None and traffic.stop <= traffic.start:
            raise source.fault((*place, "stop"), "it stops before it starts")
        all_of_it.append(traffic)
    return all_of_it


Base = TypeVar("Base", bound=Section)


def _one(
    models: dict[str, type[Some]],
    key: str,
    base: type[Base],
    value: dict[str, Any],
    place: tuple[str | int, ...],
    source: Source,
) -> Some:
    if key not in value:
        raise source.fault(place, f"needs {key}: {about(base, key)}; known: {', '.join(models)}")
    name = value[key]
    if not isinstance(name, str) or name not in models:
        raise source.fault(
            (*place, key), f"{said(name)} is not known here; {nearest(str(name), models)}"
        )
    return read(models[name], value, place, source)


def _tables(value: Any, name: str, source: Source) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise source.fault((name,), f"is a list of tables: write [[{name}]]")
    return value
