"""``[client]``, ``[server]``, ``[mptcp]`` and ``[tcp]``: the hosts.

Defaults come from the endpoint's code.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mptcplab import _core
from mptcplab.scenario import policy
from mptcplab.scenario.fault import nearest
from mptcplab.scenario.quantity import ERA, INTEGER, Kind, OrOff, Table, said
from mptcplab.scenario.section import (
    Bytes,
    BytesOrOff,
    Duration,
    DurationOrOff,
    Era,
    Flag,
    Integer,
    IntegerOrOff,
    Packets,
    PacketsOrOff,
    Section,
    Some,
    Text,
    kinds,
    read,
    show,
)
from mptcplab.scenario.source import Source

# Whose settings hold where a scenario names no era.
DEFAULT_ERA = "current"
# What the keys of the endpoint's settings end with.
SUFFIXES = {"duration": "_ns", "bytes": "_bytes", "packets": "_packets"}

_PARAMETERS = Table("parameters", "a table of its parameters, such as { weight = 0.25 }")
Parameters = Annotated[dict[str, Any], BeforeValidator(_PARAMETERS.parse), _PARAMETERS]


class Client(Section):
    """The client; its interfaces are the paths."""

    stack: Literal["kernel", "mptcplab"] = "kernel"
    """Whose TCP and MPTCP it speaks where the kernel is the engine: Linux's, or those of
    simulations, to which ``[mptcp]`` and ``[tcp]`` apply. Simulations do not look at it."""


class Server(Section):
    """The server."""

    stack: Literal["kernel", "mptcplab"] = "kernel"
    """As the client's. At most one of them is ``"mptcplab"``: both are a simulation."""

    addresses: Integer = Field(1, ge=1, le=8)
    """How many addresses it has, all behind the same links. With 2, ``full-mesh`` opens two
    subflows per path where ``max_subflows`` and ``max_add_addr_accepted`` let it: Linux joins no
    announced address unless told."""
    port: Integer = Field(8080, ge=1, le=65535)
    """Where it listens."""
    announce: Flag = True
    """Whether it announces its further addresses (ADD_ADDR)."""


class Mptcp(Section):
    """MPTCP, at both ends. What is left out is as in today's Linux, with either engine.

    That is CUBIC as Linux has it, Linux's scheduler, Linux's path manager and its limits.
    """

    era: Era = DEFAULT_ERA
    """Whose defaults ``[mptcp]`` and ``[tcp]`` have: ``"current"``, upstream Linux of today, which
    are those below; ``"2012"``, the MPTCP kernel 0.8x on Linux 3.0. What is set beside it holds."""

    enabled: Flag = True
    """Whether MPTCP is used; without it the transfer is plain TCP over the first path."""
    congestion_control: Text = ""
    """How fast each subflow may send."""
    congestion_parameters: Parameters = Field(default_factory=dict)
    """What is set of that congestion control; plain TCP has it as it is without."""
    scheduler: Text = ""
    """Which subflow sends next."""
    scheduler_parameters: Parameters = Field(default_factory=dict)
    """What is set of that scheduler."""
    path_manager: Text = ""
    """Which subflows there are."""
    path_manager_parameters: Parameters = Field(default_factory=dict)
    """What is set of that path manager."""
    max_subflows: Integer = Field(0, ge=0, le=255)
    """Most subflows beside the first: with more than three paths, or two addresses of the server,
    Linux's 2 are too few for all of them."""
    max_add_addr_accepted: Integer = Field(0, ge=0, le=255)
    """Most announced addresses that are joined."""
    join: Literal["specified", "simultaneous"] = "specified"
    """When the client joins further subflows: once the server has shown that it has both keys, as
    RFC 8684 specifies, or ``"simultaneous"``, with the connection's first SYN, as some measurements
    did. That takes a server which can wait for the key; any other resets the SYN, and the path
    manager ``full-mesh`` joins again a second later, as specified, where Linux's does not. Where
    options are stripped half-way, such a connection may fail: it can fall back to TCP no more."""
    version: Integer = Field(1, ge=0, le=1)
    """Version of MPTCP: 1 (RFC 8684), or 0 (RFC 6824) as the out-of-tree kernels of
    multipath-tcp.org speak it: keys in the SYN, SHA-1, addresses announced without HMAC and echo.
    """
    checksum: Flag = False
    """DSS checksums (RFC 8684 §3.3)."""
    opportunistic_retransmission: Flag = False
    """Send again on a free subflow what blocks the connection's window on a slower one. Where
    ``scheduler`` is named, it is on for those whose kernel does so: ``"lowest-rtt"``, ``"blest"``
    and ``"ecf"``."""
    penalisation: Flag = False
    """Halve the window of the subflow that blocked it; on likewise."""
    long_numbers: Flag = False
    """Data sequence numbers and DATA_ACKs of 8 bytes rather than 4 where that is enough."""
    reinjection: Literal["connection-timer", "subflow-timeout"] = "connection-timer"
    """When what a subflow does not deliver is given to others: when the connection's data makes no
    progress for a period of its timer, as in Linux of today, or at each retransmission time-out of
    the subflow, as in the out-of-tree kernels."""
    stale_timeouts: Integer = Field(0, ge=1)
    """Periods of the connection's timer, or time-outs in a row, after which a subflow is used only
    once it answers again."""
    capable_retries: Integer = Field(0, ge=0)
    """SYNs with MP_CAPABLE without an answer before one is sent without it."""
    receive_buffer: Literal["shared", "per-subflow"] = "shared"
    """Whether subflows share one receive buffer (RFC 8684 §3.3.5), or each has one of its own and
    a window of its own bytes; a connection may then stand still when a path fails."""
    close_timeout: Duration = 0
    """How long a connection outlives its last subflow."""


class Tcp(Section):
    """TCP, at both ends: subflows and baselines. What is left out is as in today's Linux.

    ``era`` in ``[mptcp]`` is of these keys, too.
    """

    congestion_control: Text = ""
    """Of the plain-TCP baselines; as MPTCP's if left out, ``reno`` where that is a coupled one,
    which needs several paths."""
    window_scaling: Flag = False
    """Window scaling (RFC 7323 §2)."""
    timestamps: Flag = False
    """Timestamps (RFC 7323 §3)."""
    mss: BytesOrOff = Field(None, ge=88, le=65495)
    """Most bytes of a segment, options of TCP included; ``"off"``: as the paths' ``mtu`` has it."""
    sack: Flag = False
    """Selective acknowledgements (RFC 2018); without them NewReno (RFC 6582)."""
    ecn: Literal["off", "accept", "request"] = "accept"
    """Explicit congestion notification (RFC 3168), as Linux's ``tcp_ecn``: ``"request"`` (1), which
    asks for it; ``"accept"`` (2), which answers who asks; ``"off"`` (0). Queues with ``ecn`` mark
    packets of such subflows rather than drop them."""
    delayed_ack: DurationOrOff = None
    """Longest that an ACK may wait."""
    quick_acks: Integer = Field(0, ge=0)
    """ACKs that do not wait all the same at the start, after a pause and after a duplicate, for the
    peer's slow start. As in Linux none waits while the receive window grows."""
    ack_compression: Flag = False
    """Whether ACKs for what comes out of order wait for each other once there were three: a
    twentieth of the round-trip time and 1 ms at most, as Linux's do since 4.18."""
    appropriate_byte_counting: Flag = False
    """Whether the window grows by what ACKs acknowledge (RFC 3465) rather than by a segment an ACK,
    as in Linux before 3.13: half as fast where ACKs are delayed. CUBIC makes up for it after slow
    start."""
    proportional_rate_reduction: Flag = False
    """Proportional rate reduction (RFC 6937) in recovery."""
    rack: Flag = False
    """Loss detection by time (RFC 8985), which waits 2 ms longer, as Linux does; without it by
    duplicate or selective ACKs."""
    rescue_retransmission: Flag = False
    """Without ``rack``: once a recovery, with nothing else to send, the last segment is sent again
    (RFC 6675 §4, NextSeg rule 4). Linux never did."""
    tail_loss_probe: Flag = False
    """Tail loss probes (RFC 8985 §7)."""
    undo: Flag = False
    """Take back what a loss did to the window when timestamps (RFC 3522) or duplicates that the
    peer reports (RFC 2883) show that there was none."""
    f_rto: Flag = False
    """F-RTO (RFC 5682): after a time-out see whether originals arrive before more is sent again."""
    initial_window: Packets = Field(0, ge=1)
    """First window (RFC 6928)."""
    slow_start: Literal["own", "standard", "hystart", "hystart++"] = "own"
    """Where slow start ends before a loss: with ``"standard"`` nowhere, with ``"hystart"`` where
    ACKs show a queue, as in Linux, with ``"hystart++"`` as RFC 9406 has it, with ``"own"`` as the
    congestion control does."""
    initial_ssthresh: PacketsOrOff = None
    """Where slow start ends; ``"off"``: at the first loss."""
    ssthresh_cache: Flag = False
    """Whether where slow start ended is kept for each destination when a subflow to it closes, and
    is where that of the next one ends, as Linux did before 5.6 and does with
    ``tcp_no_ssthresh_metrics_save = 0``. ``initial_ssthresh`` begins with one."""
    min_timeout: Duration = 0
    """Least retransmission time-out; with ``linux_timeout`` the least of its variance term."""
    max_timeout: Duration = Field(0, gt=0)
    """Most it backs off to."""
    max_backoff: IntegerOrOff = Field(None, ge=0)
    """How often in a row the time-out doubles at most, 0: never; ``"off"``: until it is
    ``max_timeout``."""
    initial_timeout: Duration = Field(0, gt=0)
    """Time-out before a round-trip time is known."""
    linux_timeout: Flag = False
    """Time-out as in Linux rather than as in RFC 6298."""
    timer_wheel: Flag = False
    """Whether a subflow's timers for what is lost end as late as Linux's do since 4.8: its wheel
    has ticks of 4 ms and counts long times coarsely."""
    syn_retries: Integer = Field(0, ge=0)
    """How often a SYN is sent again; with ``max_backoff``, for as long as that takes without."""
    retries: Integer = Field(0, ge=0)
    """How often time-outs send data again before a subflow is given up; with ``max_backoff``, it is
    after as long as that would take without."""
    slow_start_after_idle: Flag = False
    """Whether a subflow that sent nothing for longer than its time-out begins with a smaller
    window, halved for each time-out that went by, down to the first one (RFC 5681 §4.1), as in
    Linux. BBR does not."""
    pacing: Flag = False
    """Spread segments over the round trip."""
    keep_alive_idle: DurationOrOff = Field(None, gt=0)
    """Idle time before the first keep-alive."""
    keep_alive_interval: Duration = Field(0, gt=0)
    """Between keep-alives without an answer."""
    keep_alive_probes: Integer = Field(0, ge=0)
    """Keep-alives without an answer before a subflow is given up."""
    receive_buffer: Bytes = Field(0, gt=0)
    """The receive buffer at first, and always without ``receive_buffer_tuning``. It is memory, as
    Linux's ``tcp_rmem``: packets occupy more of it than their data, so the window is about 61 % of
    it, and half before the first segment came."""
    max_receive_buffer: Bytes = Field(0, gt=0)
    """Most that tuning makes of it."""
    receive_buffer_tuning: Flag = False
    """Whether the receive buffer grows with the rate at which the application reads."""
    adv_win_scale: IntegerOrOff = Field(None, ge=1, le=31)
    """What of the receive buffer is never window: half of it for 1, a quarter for 2, nothing for 31
    (``tcp_adv_win_scale`` of Linux before 6.6); ``"off"``: what packets occupy besides their data,
    as in Linux since."""
    send_buffer: Bytes = Field(0, gt=0)
    """Most memory of a subflow's send buffer (Linux's ``tcp_wmem``), which bounds what an
    application may write ahead of what is acknowledged."""
    send_buffer_tuning: Flag = False
    """Whether the send buffer grows with the congestion window, to two of it, rather than being the
    most from the beginning."""
    time_wait: Duration = 0
    """How long a closed subflow waits for stray segments (RFC 9293 §3.6)."""
    fin_timeout: Duration = 0
    """How long a subflow that nobody reads any more waits for the peer's FIN."""


#: Schedulers of the out-of-tree kernel that mend what fills the receive buffer, all of them
#: (``mptcp_rcv_buf_optimization`` in ``mptcp_sched.c``, ``mptcp_blest.c`` and ``mptcp_ecf.c``).
BUFFER_OPTIMISERS = ("lowest-rtt", "blest", "ecf")


@cache
def defaults(era: str = DEFAULT_ERA) -> dict[str, Any]:
    """Give the endpoint's settings in an era as its code has them."""
    settings: dict[str, Any] = json.loads(_core.transport_defaults(era))
    return settings


def era(value: Any, source: Source) -> str:
    """Give the era that ``[mptcp]`` names, or the one that holds if it names none."""
    place = ("mptcp", "era")
    given = value.get("era") if isinstance(value, dict) else None
    if given is None:
        return DEFAULT_ERA
    try:
        name: str = ERA.parse(given)
    except ValueError as error:
        raise source.fault(place, str(error)) from None
    known = [name for name, _ in _core.eras()]
    if name not in known:
        raise source.fault(place, f"there is no era {said(name)}; {nearest(name, known)}")
    return name


def read_mptcp(value: Any, source: Source) -> Mptcp:
    """Read ``[mptcp]``, with everything that is left out."""
    name = era(value, source)
    all_of_it = defaults(name)
    theirs, manager = all_of_it["mptcp"], all_of_it["mptcp"]["path_manager"]
    theirs = {**theirs, **manager, "path_manager": manager["name"]}
    theirs["congestion_control"] = all_of_it["congestion_control"]
    if isinstance(value, dict) and "scheduler" in value:
        belongs = value["scheduler"] in BUFFER_OPTIMISERS
        theirs |= dict.fromkeys(("opportunistic_retransmission", "penalisation"), belongs)
    return _filled(Mptcp, value, theirs, source)


def read_tcp(value: Any, source: Source, mptcp: Mptcp) -> Tcp:
    """Read ``[tcp]``, with everything that is left out."""
    theirs = {**defaults(mptcp.era)["tcp"], "congestion_control": mptcp.congestion_control}
    tcp = _filled(Tcp, value, theirs, source)
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


def config(mptcp: Mptcp, tcp: Tcp) -> dict[str, Any]:
    """Give the endpoint's settings in its own words, without local addresses."""
    ours, theirs = _unfilled(mptcp), defaults()["mptcp"]
    limits = ("max_subflows", "max_add_addr_accepted")
    manager = {
        "name": mptcp.path_manager,
        "parameters": ours.pop("path_manager_parameters"),
        **{limit: ours.pop(limit) for limit in limits},
    }
    congestion_control = ours.pop("congestion_control")
    congestion_parameters = ours.pop("congestion_parameters")
    del ours["era"]
    ours["path_manager"] = theirs["path_manager"] | manager
    base = _unfilled(tcp)
    if not mptcp.enabled:
        congestion_control = policy.over_one_path(base["congestion_control"])
        congestion_parameters = {}
    del base["congestion_control"]
    return {
        "tcp": defaults()["tcp"] | base,
        "mptcp": theirs | ours,
        "congestion_control": congestion_control,
        "congestion_parameters": congestion_parameters,
    }


def show_mptcp(mptcp: Mptcp) -> dict[str, Any]:
    """Write ``[mptcp]`` as :func:`read_mptcp` reads it, all that it holds."""
    parameters = {
        key: policy.show(what, getattr(mptcp, what), getattr(mptcp, key))
        for what, key in policy.PARAMETERS.items()
    }
    return show(mptcp) | parameters


def _filled(model: type[Some], value: Any, theirs: dict[str, Any], source: Source) -> Some:
    (place,) = (model.__name__.lower(),)
    given = read(model, value, (place,), source)
    rest = {
        name: theirs[name + _suffix(kind)]
        for name, kind in kinds(model).items()
        if name not in given.model_fields_set and name + _suffix(kind) in theirs
    }
    filled = given.model_copy(update=rest)
    parameters = {}
    for what, key in policy.PARAMETERS.items():
        if hasattr(filled, what):
            name = getattr(filled, what)
            policy.check(what, name, (place, what), source)
            if hasattr(filled, key):
                parameters[key] = policy.read(what, name, getattr(given, key), (place, key), source)
    return filled.model_copy(update=parameters)


def _unfilled(section: Section) -> dict[str, Any]:
    return {
        name + _suffix(kind): getattr(section, name) for name, kind in kinds(type(section)).items()
    }


def _suffix(kind: Kind | None) -> str:
    inner = kind.kind if isinstance(kind, OrOff) else kind
    return SUFFIXES.get((inner or INTEGER).name, "")
