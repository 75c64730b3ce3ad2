"""``[client]``, ``[server]``, ``[mptcp]`` and ``[tcp]``: the hosts.

Defaults come from the endpoint's code.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any, Literal

from pydantic import Field

from mptcplab import _core
from mptcplab.messages import nearest, quoted
from mptcplab.quantity import BYTES, ERA
from mptcplab.scenario import policy
from mptcplab.scenario.fault import Faults
from mptcplab.scenario.section import Era, Integer, Section, Some, Text, declared, read, show
from mptcplab.scenario.source import Source

# Whose settings hold where a scenario names no era.
DEFAULT_ERA = "current"


class Client(Section):
    """The client. Its interfaces are the paths."""

    stack: Literal["kernel", "mptcplab"] = "kernel"
    """Which TCP and MPTCP implementation the client uses in runs with the kernel engine: Linux's
    (``"kernel"``), or the one of simulations (``"mptcplab"``), which ``[mptcp]`` and ``[tcp]``
    configure. Simulations ignore this key."""


@declared(_core.settings()["server"])
class Server(Section):
    """The server."""

    stack: Literal["kernel", "mptcplab"] = "kernel"
    """The same for the server. At most one of the two ends can be ``"mptcplab"``; if both were, it
    would be a simulation."""

    addresses: Integer = Field(1, ge=1, le=8)
    """Number of its addresses, all behind the same links. With 2, ``full-mesh`` opens two subflows
    per path if ``max_subflows`` and ``max_add_addr_accepted`` allow it. By default Linux joins no
    announced address."""
    version: Integer | None = Field(None, ge=0, le=1)
    """Version of MPTCP that the server speaks, where it is not that of ``[mptcp]``. Between two
    versions connections fall back to TCP: the server answers without MP_CAPABLE."""

    port: int
    announce: bool


@declared(_core.settings()["mptcp"])
class Mptcp(Section):
    """MPTCP settings of both ends. Defaults are those of today's Linux, with every engine.

    That means Linux's CUBIC, its scheduler, its path manager and its limits.
    """

    era: Era = DEFAULT_ERA
    """Which defaults ``[mptcp]`` and ``[tcp]`` have: ``"current"`` is today's upstream Linux, as
    listed below; ``"2012"`` is the MPTCP kernel 0.8x on Linux 3.0. Keys that are set override the
    era."""


@declared(_core.settings()["tcp"])
class Tcp(Section):
    """TCP settings of both ends, for subflows and baselines. Defaults are those of today's Linux.

    ``era`` in ``[mptcp]`` changes the defaults of these keys, too.
    """

    congestion_control: Text = ""
    """Congestion control of the plain-TCP baselines. If left out, the one of ``[mptcp]``, or
    ``reno`` if that one is coupled, since coupling needs several paths."""


@cache
def defaults(era: str = DEFAULT_ERA, scheduler: str | None = None) -> dict[str, Any]:
    """Give the endpoint's settings in an era as its code has them, with another scheduler if so."""
    return _core.transport_defaults(era, scheduler)


def era(value: Any, source: Source) -> str:
    """Give the era that ``[mptcp]`` names, or the one that holds if it names none."""
    key_path = ("mptcp", "era")
    given = value.get("era") if isinstance(value, dict) else None
    if given is None:
        return DEFAULT_ERA
    try:
        name: str = ERA.parse(given)
    except ValueError as error:
        raise source.fault(key_path, str(error)) from None
    known = [name for name, _ in _core.eras()]
    if name not in known:
        raise source.fault(key_path, f"there is no era {quoted(name)}; {nearest(name, known)}")
    return name


def read_mptcp(value: Any, source: Source) -> Section:
    """Read ``[mptcp]``, with everything that is left out."""
    name = era(value, source)
    if isinstance(value, dict) and _is_size(value.get("receive_buffer")):
        raise source.fault(
            ("mptcp", "receive_buffer"),
            f"{quoted(value['receive_buffer'])} is a size, which [tcp] receive_buffer sets; here "
            "is said whose buffer it is: shared, or per-subflow",
        )
    scheduler = value.get("scheduler") if isinstance(value, dict) else None
    named = scheduler if isinstance(scheduler, str) else None
    return _filled(Mptcp, value, _usual(Mptcp, defaults(name, named)), source)


def _is_size(value: Any) -> bool:
    try:
        BYTES.parse(value)
    except ValueError:
        return False
    return True


def read_tcp(value: Any, source: Source, mptcp: Section) -> Section:
    """Read ``[tcp]``, with everything that is left out."""
    era_values = _usual(Tcp, defaults(mptcp.era))
    tcp = _filled(Tcp, value, era_values | {"congestion_control": mptcp.congestion_control}, source)
    pairs = [("min_timeout", "max_timeout")]
    if tcp.receive_buffer_tuning:
        pairs.append(("receive_buffer", "max_receive_buffer"))
    for least, most in pairs:
        if getattr(tcp, least) > getattr(tcp, most):
            shown = show(tcp)
            raise source.fault(
                ("tcp", least if least in value else most),
                f"{least} is {shown[least]}, and {most} is {shown[most]}",
            )
    return tcp


def config(mptcp: Section, tcp: Section) -> dict[str, Any]:
    """Give the endpoint's settings in its own words, without local addresses."""
    every = deepcopy(defaults())
    for section in (mptcp, tcp):
        for setting in section.SETTINGS:
            table, field = _table_of(every, setting["at"])
            table[field] = getattr(section, setting["name"])
    if not mptcp.enabled:
        every["congestion_control"] = policy.over_one_path(tcp.congestion_control)
        every["congestion_parameters"] = {}
    return every


def show_mptcp(mptcp: Section) -> dict[str, Any]:
    """Write ``[mptcp]`` as :func:`read_mptcp` reads it, all that it holds."""
    parameters = {
        key: policy.show(what, getattr(mptcp, what), getattr(mptcp, key))
        for what, key in policy.PARAMETERS.items()
    }
    return show(mptcp) | parameters


def _filled(model: type[Some], value: Any, era_values: dict[str, Any], source: Source) -> Some:
    key_path = model.__name__.lower()
    given = read(model, value, (key_path,), source)
    rest = {
        name: era_values[name]
        for name in model.model_fields
        if name not in given.model_fields_set and name in era_values
    }
    filled = given.model_copy(update=rest)
    parameters = {}
    faults = Faults()
    for what, key in policy.PARAMETERS.items():
        if hasattr(filled, what):
            with faults.collected():
                name = getattr(filled, what)
                policy.check(what, name, (key_path, what), source)
                if hasattr(filled, key):
                    parameters[key] = policy.read(
                        what, name, getattr(given, key) or {}, (key_path, key), source
                    )
    faults.raise_found()
    return filled.model_copy(update=parameters)


def _usual(section: type[Section], every: dict[str, Any]) -> dict[str, Any]:
    """Give the values of a section's keys, of all settings."""
    found = {one["name"]: _table_of(every, one["at"]) for one in section.SETTINGS}
    return {key: table[field] for key, (table, field) in found.items()}


def _table_of(every: dict[str, Any], pointer: str) -> tuple[dict[str, Any], str]:
    """Give the table in which a setting stands, and its key there."""
    *tables, field = pointer.split("/")[1:]
    for name in tables:
        every = every[name]
    return every, field
