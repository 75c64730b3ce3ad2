"""``[link.NAME]`` and ``[path.NAME]``: how packets travel."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mptcplab import _core, quantity
from mptcplab.messages import nearest, quoted
from mptcplab.scenario import alternatives, draw, element, library
from mptcplab.scenario import radio as air
from mptcplab.scenario.element import Element
from mptcplab.scenario.fault import KeyPath
from mptcplab.scenario.radio import Radio, read_radio
from mptcplab.scenario.section import (
    Duration,
    Rate,
    Ratio,
    Section,
    Text,
    declared,
    read,
)
from mptcplab.scenario.source import Source

NAME = re.compile(r"[a-z][a-z0-9-]{0,14}")
TAKEN = ("all", "default", "lo")
# As Linux has it (dev_valid_name).
INTERFACE = re.compile(r"(?!\.\.?$)[^\s/:]{1,15}")
IPV6_MTU_BYTES = 1280
SIZES = (quantity.BYTES, quantity.PACKETS, quantity.DURATION)
SHORT = ("rate", "uplink_rate", "downlink_rate", "delay", "jitter", "loss", "queue")
MIDDLEBOXES = "middleboxes"
# Of a file with a link.
SUFFIX = ".toml"


ORIGINS = ("calibrated", "transferred", "imported", "assumed")
# What each kind must say.
NEEDED = {
    "calibrated": ("row",),
    "transferred": ("from", "changed", "why"),
    "imported": ("source", "licence", "sha256"),
    "assumed": ("source",),
}
TEXTS = ("kind", "row", "from", "source", "changed", "why", "licence", "sha256")
KEYS = (*TEXTS, "residuals", "families")


class Origin(quantity.Kind):
    """A table with ``kind`` and what that kind needs; text alone is a ``source``."""

    def parse(self, value: Any) -> dict[str, Any]:
        """Give the table."""
        if isinstance(value, str):
            return {"source": value}
        if not isinstance(value, dict):
            raise self.refuse(value)
        for key in value:
            if key not in KEYS:
                raise ValueError(f"has no {key}; {nearest(key, KEYS)}")
            if key in TEXTS and not isinstance(value[key], str):
                raise ValueError(f"{key}: {quoted(value[key])} is not text")
        kind = value.get("kind")
        if kind is not None and kind not in ORIGINS:
            raise ValueError(f"kind: {quoted(kind)} is not known; {nearest(str(kind), ORIGINS)}")
        for key in NEEDED.get(kind or "", ()):
            if not value.get(key):
                raise ValueError(f'kind = "{kind}" needs {key}')
        return value


ORIGIN = Origin("origin", 'text, or a table such as { kind = "assumed", source = "a guess" }')


class Link(Section):
    """The elements that packets pass in each direction, in the order in which they pass them."""

    title: Text | None = None
    """What the link is, in one line."""
    origin: Annotated[dict[str, Any] | None, BeforeValidator(ORIGIN.parse), ORIGIN] = None
    """Where its numbers come from: text, or a table with ``kind``. ``"calibrated"`` names the
    ``row`` of measurements it was fitted to, the ``families`` of links that were tried and ``why``
    it is of the first; ``"transferred"`` says ``from`` which link it was
    derived, what was ``changed`` and ``why``; ``"imported"`` gives ``source``, ``licence`` and
    ``sha256`` of a recording (``mptcplab links import``); ``"assumed"`` gives the ``source`` of the
    assumption."""
    uplink: list[Any] | None = None
    """Elements that packets pass from the client to the server."""
    downlink: list[Any] | None = None
    """Elements that packets pass from the server to the client."""
    middleboxes: list[Any] | None = None
    """Elements at the server's end of the link that packets of both directions pass. Each is one
    instance with one state. The one nearest to the client comes first."""
    draw: dict[str, Any] | None = None
    """Parameters that vary from run to run, under names you choose: ``rate = { of =
    ["downlink.0.rate"], spread = 0.3 }`` multiplies the listed parameters by one factor. The factor
    is drawn once per run from a lognormal distribution with mean 1 and coefficient of variation
    ``spread``."""
    alternatives: list[Any] | None = None
    """What the link may be instead, where it is not known: tables with ``uplink``, ``downlink``, a
    ``draw`` if need be, and ``weight``, the probability with which a run has this one. The rest is
    the probability of the link's own elements. Which one a run has is drawn with its seed."""
    radio: Any | None = None
    """A radio signal, or a route along which the signal changes. It determines the rates. A link
    without elements is made from it. In a link with elements, rates are capped by what the radio
    allows, unless the link is calibrated."""
    profile: Text | None = None
    """A complete link instead of elements: the name of one that ships with mptcplab (``mptcplab
    links`` lists them), or a file of your own (``"my-wifi.toml"``) in the scenario's directory."""

    @property
    def is_calibrated(self) -> bool:
        """Whether its figures were fitted to measured ones."""
        return (self.origin or {}).get("kind") == "calibrated"


def _queue(value: Any) -> Any:
    """Read how much a queue holds, or leave a table for later."""
    if isinstance(value, dict):
        return value
    for name, kind in zip(("bytes", "packets", "delay"), SIZES, strict=True):
        try:
            return {"queue": "drop-tail", name: kind.show(kind.parse(value))}
        except ValueError:
            continue
    raise ValueError(
        f'{quoted(value)} is not the size of a queue such as "100 kB", "50 packets" or "200 ms", '
        'nor a table such as { queue = "codel" }'
    )


@declared(_core.settings()["path"], without="name")
class Path(Section):
    """An interface of the client with one uplink and one downlink."""

    link: Text | None = None
    """Name of its link, if the link has a section of its own. Otherwise ``profile``, or the keys
    from ``rate`` to ``queue``, describe the link here."""
    profile: Text | None = None
    """A link for this path alone: the name of one that ships with mptcplab (``mptcplab links``
    lists them), or a file of your own (``"my-wifi.toml"``)."""
    rate: Rate | None = Field(None, gt=0)
    """Capacity of each direction."""
    uplink_rate: Rate | None = Field(None, gt=0)
    """Capacity of the uplink, if it differs."""
    downlink_rate: Rate | None = Field(None, gt=0)
    """Capacity of the downlink, if it differs."""
    delay: Duration | None = None
    """One-way propagation delay in each direction: half the minimum round-trip time."""
    jitter: Duration | None = None
    """Standard deviation of the delay, which varies over time. Packets do not overtake each
    other."""
    loss: Ratio | None = None
    """Share of packets lost at random in each direction."""
    queue: Annotated[dict[str, Any] | None, BeforeValidator(_queue)] = None
    """Limit of the queue in front of each direction (``"100 kB"``, ``"50 packets"``, ``"200 ms"``),
    or a table that describes a queue."""
    middleboxes: list[Any] | None = None
    """Elements that packets of both directions pass, on the server's side of the other elements.
    Goes with ``profile`` or ``rate``."""
    ip: Literal[4, 6, "both", "nat64"] = 4
    """Version of IP: 4, 6 or ``"both"``; or ``"nat64"``: IPv6 alone, over a link with ``nat64`` and
    without ``clat``. The server has IPv4 then, unless another path has IPv6, and the client reaches
    it by the address that DNS64 gives (RFC 6147)."""
    interface: Text | None = None
    """A real network instead of an emulated link, for the field engine: the interface of this
    machine that leads to it (``"wlan0"``). If the path also has a link, the field engine uses the
    interface and the other engines use the link."""
    mtu: int
    backup: bool
    budget: int | None
    cost_per_mb: float | None
    attached: bool


def check_name(name: object, what: str, key_path: KeyPath, source: Source) -> None:
    """Refuse a name that an interface cannot have."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise source.fault(
            key_path,
            f"{quoted(name)} cannot name a {what}: a name is a lower-case letter, then at most 14 "
            'lower-case letters, digits and "-"',
        )
    if name in TAKEN:
        raise source.fault(
            key_path, f"{quoted(name)} cannot name a {what}: Linux uses that word itself"
        )


def read_link(value: Any, key_path: KeyPath, source: Source) -> Link:
    """Read a link, its profile resolved."""
    link = read(Link, value, key_path, source)
    radio = None if link.radio is None else read_radio(link.radio, (*key_path, "radio"), source)
    bare = link.uplink is None and link.downlink is None
    if link.profile is not None:
        if not bare:
            raise source.fault(
                key_path, "profile and elements (uplink, downlink) exclude each other"
            )
        content = shipped(link.profile, (*key_path, "profile"), source)
        content = _covered(content, radio, key_path, source)
        return _boxed(content, link.middleboxes, key_path, source)
    if radio is not None and bare:
        link = link.model_copy(update=air.written(radio, next(air.steps(radio))[1]))
    directions = {
        name: _elements(getattr(link, name), (*key_path, name), source)
        for name in ("uplink", "downlink")
    }
    element.check_shared(directions, key_path, source)
    if link.draw is not None:
        draw.check(link.draw, directions, (*key_path, "draw"), source)
    others = alternatives.read(
        link.alternatives or [], _elements, (*key_path, alternatives.NAME), source
    )
    whole = link.model_copy(update={**directions, alternatives.NAME: others or None})
    link = _covered(whole, radio, key_path, source, bare=bare)
    return _boxed(link, link.middleboxes, key_path, source)


def _covered(
    link: Link, radio: Radio | None, key_path: KeyPath, source: Source, *, bare: bool = False
) -> Link:
    """Give a link no rate above its radio's; what it becomes along a route is in its ``radio``."""
    if radio is None:
        return link
    if link.is_calibrated and not bare:
        return link.model_copy(update={"radio": None})
    if radio.route is not None and link.draw is not None:
        raise source.fault(key_path, "draw and a route exclude each other")
    if link.alternatives is not None:
        raise source.fault(key_path, "alternatives and radio exclude each other")
    directions = {"uplink": link.uplink or [], "downlink": link.downlink or []}
    for direction, elements in directions.items():
        for number, one in enumerate(elements):
            if one.get("element") in element.RECORDED:
                raise source.fault(
                    (*key_path, direction, number),
                    "a trace has no rate that radio could limit: leave one",
                )
    if bare:
        alike = [(at, air.written(radio, here)) for at, here in air.steps(radio)]
        steps = [
            (
                at,
                {
                    direction: _elements(ones, (*key_path, direction), source)
                    for direction, ones in both.items()
                },
            )
            for at, both in alike
        ]
    else:
        steps = [(at, air.limited(radio, here, directions)) for at, here in air.steps(radio)]
    first, *later = [(at, link.model_copy(update={**both, "radio": None})) for at, both in steps]
    return first[1].model_copy(update={"radio": later or None})


def _boxed(link: Link, boxes: list[Any] | None, key_path: KeyPath, source: Source) -> Link:
    """Write out what both directions pass: shared by them, the last of the way up first down."""
    read = _elements(boxes or [], (*key_path, MIDDLEBOXES), source)
    others = [one | _passing(one, read) for one in link.alternatives or ()]
    later = [(at, _boxed(then, boxes, key_path, source)) for at, then in link.radio or ()]
    update = {MIDDLEBOXES: None, alternatives.NAME: others or None, "radio": later or None}
    own = {"uplink": link.uplink, "downlink": link.downlink, "draw": link.draw}
    passing = _passing(own, read)
    for one in (passing, *others):
        element.check_translators(one["uplink"], one["downlink"], key_path, source)
    return link.model_copy(update=update | passing)


def _passing(link: dict[str, Any], boxes: list[Element]) -> dict[str, Any]:
    """Give elements, and what is drawn of them, with boxes."""
    up, down = list(link["uplink"] or ()), list(link["downlink"] or ())
    for number, box in enumerate(boxes, 1):
        name = f"middlebox-{number}"
        up.append(box | {element.SHARED: name})
        down.insert(0, {element.SHARED: name})
    draws = draw.behind(link.get("draw"), len(boxes))
    return {"uplink": up, "downlink": down} | ({"draw": draws} if draws else {})


def shipped(name: str, key_path: KeyPath, source: Source) -> Link:
    """Give a link that ships, or one in a file."""
    if name.endswith(SUFFIX):
        own = _file(name, key_path, source)
        return read_link(own.data, (), own)
    if name not in library.names("links"):
        hint = nearest(name, library.names("links"))
        raise source.fault(key_path, f"no link {quoted(name)} ships with mptcplab; {hint}")
    own = Source.of_library("links", name)
    return read_link(own.data, (), own)


def _file(name: str, key_path: KeyPath, source: Source) -> Source:
    file = source.directory / name
    if not file.is_file():
        raise source.fault(key_path, f"there is no file {file}")
    return Source.of_file(file)


def _elements(value: list[Any] | None, key_path: KeyPath, source: Source) -> list[Element]:
    if value is None:
        raise source.fault(
            key_path[:-1],
            f"needs {key_path[-1]}, a list of elements, or a profile: see mptcplab links",
        )
    return [element.read(one, (*key_path, number), source) for number, one in enumerate(value)]


def read_path(value: Any, key_path: KeyPath, source: Source) -> tuple[Path, Link | None]:
    """Read a path; with its link if it is written out here."""
    path = read(Path, value, key_path, source)
    if path.interface is not None and not INTERFACE.fullmatch(path.interface):
        raise source.fault(
            (*key_path, "interface"),
            f'{quoted(path.interface)} is not a name of an interface, such as "wlan0"',
        )
    if path.ip != 4 and path.mtu < IPV6_MTU_BYTES:
        raise source.fault(
            (*key_path, "mtu"), f"IPv6 needs {IPV6_MTU_BYTES} bytes or more (RFC 8200 section 5)"
        )
    short = [name for name in SHORT if getattr(path, name) is not None]
    if path.interface is not None and not any((path.link, path.profile, path.middleboxes, *short)):
        return path, None
    if path.link is not None and path.profile is not None:
        raise source.fault((*key_path, "profile"), "link and profile exclude each other")
    for whole in ("link", "profile"):
        if short and getattr(path, whole) is not None:
            raise source.fault(
                (*key_path, short[0]),
                f"{whole} and {short[0]} exclude each other: set it in the elements of the link",
            )
    if path.link is not None:
        if path.middleboxes is not None:
            raise source.fault(
                (*key_path, MIDDLEBOXES),
                "link and middleboxes exclude each other: set them in the link",
            )
        return path, None
    if path.profile is not None:
        link = shipped(path.profile, (*key_path, "profile"), source)
        link = _boxed(link, path.middleboxes, key_path, source)
        plain = {"profile": None, MIDDLEBOXES: None, "link": key_path[-1]}
        return path.model_copy(update=plain), link
    return _long(path, key_path, source)


def _long(path: Path, key_path: KeyPath, source: Source) -> tuple[Path, Link]:
    """Write the short form out."""
    rates = {"uplink": path.uplink_rate or path.rate, "downlink": path.downlink_rate or path.rate}
    for direction, rate in rates.items():
        if rate is None:
            raise source.fault(
                key_path,
                f"needs link, profile, or rate (or {direction}_rate) and delay written out; or the "
                "interface of a real network",
            )
    if path.delay is None:
        raise source.fault(key_path, "needs delay: the one-way delay of each direction")
    if path.rate and path.uplink_rate and path.downlink_rate:
        raise source.fault(
            (*key_path, "rate"), "uplink_rate and downlink_rate leave nothing for rate to say"
        )
    if path.queue is not None:
        # Read here, so that a fault in it is reported at its location.
        element.read(path.queue, (*key_path, "queue"), source, element.QUEUE)
    up, down = (_elements(_short(path, rate), key_path, source) for rate in rates.values())
    link = _boxed(Link(uplink=up, downlink=down), path.middleboxes, key_path, source)
    plain: dict[str, Any] = dict.fromkeys((*SHORT, MIDDLEBOXES))
    return path.model_copy(update=plain | {"link": key_path[-1]}), link


def _short(path: Path, rate: int | None) -> list[Element]:
    limited: Element = {"element": "rate", "rate": quantity.RATE.show(rate)}
    if path.queue is not None:
        limited["queue"] = path.queue
    delay: Element = {"element": "delay", "delay": quantity.DURATION.show(path.delay)}
    if path.jitter:
        delay["jitter"] = quantity.DURATION.show(path.jitter)
    elements = [limited, delay]
    if path.loss:
        elements.append({"element": "loss", "ratio": quantity.RATIO.show(path.loss)})
    return elements
