"""``[tcp]``, ``[mptcp]`` and ``[kernel]`` as Linux has them, or refused by name."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from mptcplab.controllers import catalogue
from mptcplab.engines.kernel.features import PATH_MANAGERS, Features
from mptcplab.machine import congestion
from mptcplab.machine.machine import Machine
from mptcplab.messages import quoted
from mptcplab.quantity import DURATION
from mptcplab.scenario import endpoint, policy
from mptcplab.scenario.element import NAT64
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.kernel import SCHEDULER
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.section import Section, kinds, show
from mptcplab.scenario.source import Source

# What the client alone decides: an endpoint of ours may do so before Linux's server.
OF_THE_CLIENT = {("mptcp", "path_manager"), ("mptcp", "join")}


@dataclass
class Refusals:
    """All that is refused of a scenario, so that one line can say what makes it run."""

    scenario: Scenario
    _found: dict[str, None] = field(default_factory=dict)
    _settings: dict[str, None] = field(default_factory=dict)
    _is_the_clients: bool = True

    def __post_init__(self) -> None:
        era = self.scenario.mptcp.era
        self._usual_values, self._era_values = _of_era(endpoint.DEFAULT_ERA), _of_era(era)
        self._is_era = era != endpoint.DEFAULT_ERA
        self.source = f", of era {quoted(era)}" if self._is_era else ""

    def key(self, section: str, key: str, why: str) -> None:
        """Refuse a key of ``[mptcp]`` or ``[tcp]``: Linux has what is there if it is left out."""
        shown = getattr(self.scenario, section)
        message = (
            f"[{section}] {key}{self.source}: Linux cannot have {quoted(show(shown)[key])}: {why}"
        )
        is_the_clients = self._is_the_clients and (section, key) in OF_THE_CLIENT
        if self._is_of_era(section, key):
            self.add(message, f"mptcp.era={endpoint.DEFAULT_ERA}")
        else:
            value = self._usual_values[section][key]
            written = str(value).lower() if isinstance(value, bool) else str(value).replace(" ", "")
            self.add(message, f"{section}.{key}={written}")
        self._is_the_clients = is_the_clients

    def policy(self, key: str, message: str, linux: str) -> None:
        """Refuse what ``[kernel]`` names, or what follows from ``[mptcp]`` if it names nothing."""
        name = getattr(self.scenario.kernel, key)
        if self._is_of_era("mptcp", key) and self._era_values["mptcp"][key] == name:
            self.add(message, f"mptcp.era={endpoint.DEFAULT_ERA}")
        else:
            self.add(message, f"kernel.{key}={linux}")

    def add(self, message: str, *settings: str) -> None:
        """Refuse something, and say what to set instead."""
        self._found[message] = None
        self._settings |= dict.fromkeys(settings)
        self._is_the_clients = False

    def check(self) -> None:
        """Refuse the scenario if anything is refused."""
        if not self._found:
            return
        message, *others = self._found
        more = f" (and {len(others)} more)" if others else ""
        settings = " ".join(f"--set {shlex.quote(one)}" for one in self._settings)
        ours = ", or --set client.stack=mptcplab" if self._is_the_clients else ""
        raise ScenarioError(f"{message}{more}; to run it: {settings}{ours}")

    def _is_of_era(self, section: str, key: str) -> bool:
        """Whether the era has it so, and today's Linux otherwise."""
        if not self._is_era or key not in self._era_values[section]:
            return False
        value = show(getattr(self.scenario, section))[key]
        return bool(value == self._era_values[section][key] != self._usual_values[section][key])


def _of_era(era: str) -> dict[str, dict[str, Any]]:
    nothing = Source("scenario", {})
    mptcp = endpoint.read_mptcp({"era": era}, nothing)
    return {"mptcp": show(mptcp), "tcp": show(endpoint.read_tcp({}, nothing, mptcp))}


US, MS, S = 10**3, 10**6, 10**9
# Most of each that `ip mptcp limits` takes (MPTCP_PM_ADDR_MAX).
MOST = 8
# Where the sysctl may not name a congestion control: it is what nothing else overrides.
FALLBACK = "reno"
CONGESTION_CONTROL = "net.ipv4.tcp_congestion_control"
# What must not depend on what this machine does otherwise, nor on earlier connections.
ALWAYS: dict[str, int | str] = {
    "net.ipv4.conf.all.rp_filter": 0,
    "net.ipv4.conf.default.rp_filter": 0,
    "net.ipv4.tcp_no_metrics_save": 1,
}
# Addresses are used at once, and the kernel itself sends nothing.
QUIET_IPV6: dict[str, int | str] = {
    "net.ipv6.conf.default.accept_dad": 0,
    "net.ipv6.conf.default.accept_ra": 0,
    "net.ipv6.conf.default.autoconf": 0,
    "net.ipv6.conf.default.addr_gen_mode": 1,
}


@dataclass
class Settings:
    """What is set at each host."""

    sysctls: dict[str, int | str] = field(default_factory=dict)
    #: Attributes of every route.
    route: list[str] = field(default_factory=list)
    #: `ip mptcp limits`: subflows beside the first, and announced addresses that are joined.
    limits: tuple[int, int] = (0, 0)
    #: What sockets set, where the sysctl may not name it.
    congestion_control: str | None = None
    #: Whether they ask for keep-alives.
    keep_alive: bool = False


class CannotError(Exception):
    """Linux cannot; says what it does."""


@dataclass
class _At:
    """Where a value goes."""

    machine: Features
    settings: Settings
    #: Whether another end has what Linux has not.
    shared: bool
    refusals: Refusals


def of(
    scenario: Scenario, machine: Features, refusals: Refusals, *, mptcp: bool, shared: bool = False
) -> Settings:
    """Translate a scenario's settings; what this kernel cannot do goes to the refusals.

    Where an end is not Linux's (``shared``), that one alone has what Linux has not.
    """
    if mptcp and not machine.has_mptcp:
        raise ScenarioError("this kernel has no MPTCP: mptcplab doctor says what would mend it")
    if not machine.has_ipv6 and any(path.ip != 4 for path in scenario.paths.values()):
        name, path = next(one for one in scenario.paths.items() if one[1].ip != 4)
        remedy = "--engine simulation" if path.ip == NAT64 else f"--set path.{name}.ip=4"
        raise ScenarioError(f"[path] ip: this kernel has no IPv6: {remedy}")
    settings = Settings(dict(ALWAYS))
    if machine.has_ipv6:
        unwanted = all(path.ip == 4 for path in scenario.paths.values())
        settings.sysctls |= QUIET_IPV6 | {"net.ipv6.conf.default.disable_ipv6": int(unwanted)}
    at = _At(machine, settings, shared, refusals)
    _apply("tcp", scenario.tcp, TCP, at)
    settings.sysctls["net.ipv4.tcp_rmem"] = (
        f"4096 {scenario.tcp.receive_buffer} {scenario.tcp.max_receive_buffer}"
    )
    if mptcp:
        settings.sysctls["net.mptcp.enabled"] = 1
        # What belongs to a scheduler goes with it where Linux's takes its place.
        replaced = scenario.mptcp.scheduler != "linux"
        rules = {key: rule for key, rule in MPTCP.items() if not (replaced and key in SCHEDULERS)}
        _apply("mptcp", scenario.mptcp, rules, at)
        _check_path_manager(scenario, refusals)
        settings.limits = _limits(scenario.mptcp, at)
        _set_scheduler(scenario.kernel.scheduler, at)
    for name, value in scenario.kernel.sysctl.items():
        if not machine.has(name) and ".conf." not in name:
            raise ScenarioError(f"[kernel] sysctl: this kernel has no {name}: leave it out")
        settings.sysctls[name] = value
    return settings


def with_congestion_control(settings: Settings, name: str, machine: Features) -> Settings:
    """Give the settings of a host whose sockets have this congestion control.

    A controller of ours has another name in the kernel. Linux lets the sysctl of a namespace name
    unrestricted ones alone, its routes any. Subflows that join take their connection's, which is
    the sysctl's unless the socket has one set.
    """
    name = catalogue.linux(name)
    free = name in machine.unrestricted
    sysctls = {CONGESTION_CONTROL: name if free else FALLBACK, **settings.sysctls}
    if free:
        return replace(settings, sysctls=sysctls)
    route = [*settings.route, "congctl", name]
    return replace(settings, sysctls=sysctls, route=route, congestion_control=name)


def lacking(name: str, machine: Features) -> str | None:
    """Say that this kernel has not that congestion control, if so, and what would load it."""
    known = machine.congestion_controls
    if catalogue.linux(name) in known:
        return None
    loads = congestion.load(Machine(), name)
    hint = f": {loads} loads it" if loads else ""
    return f"this kernel has no {name} (it has {', '.join(known)}){hint}"


def check_parameters(name: str, mptcp: Section, refusals: Refusals) -> None:
    """Refuse what is set of a controller of ours: its program has the defaults."""
    usual = policy.read("congestion_control", name, {}, (), Source("scenario", {}))
    if mptcp.congestion_control == name and mptcp.congestion_parameters != usual:
        message = "[mptcp] congestion_parameters: the program in the kernel has the defaults"
        refusals.add(message, "mptcp.congestion_parameters={}")


def _apply(section: str, values: Section, rules: dict[str, Any], at: _At) -> None:
    for key in kinds(type(values)):
        if key in rules:
            try:
                rules[key](getattr(values, key), at)
            except CannotError as error:
                if not at.shared:
                    at.refusals.key(section, key, str(error))


def _limits(mptcp: Section, at: _At) -> tuple[int, int]:
    for key in ("max_subflows", "max_add_addr_accepted"):
        if getattr(mptcp, key) > MOST and not at.shared:
            at.refusals.key("mptcp", key, f"at most {MOST} (MPTCP_PM_ADDR_MAX)")
    return min(mptcp.max_subflows, MOST), min(mptcp.max_add_addr_accepted, MOST)


def _check_path_manager(scenario: Scenario, refusals: Refusals) -> None:
    """Refuse what Linux's path manager cannot do: it is the client's that opens subflows."""
    if scenario.client.stack == "kernel" and scenario.mptcp.path_manager not in PATH_MANAGERS:
        known = ", ".join(map(quoted, PATH_MANAGERS))
        refusals.key("mptcp", "path_manager", f"it has {known}")


def _set_scheduler(name: str, at: _At) -> None:
    known = at.machine.schedulers
    if name not in known:
        message = f"[kernel] scheduler: this kernel has no {name} (it has {', '.join(known)})"
        at.refusals.policy("scheduler", message, SCHEDULER)
    if at.machine.has("net.mptcp.scheduler"):
        at.settings.sysctls["net.mptcp.scheduler"] = name


def _unused(value: Any, at: _At) -> None:
    """Nothing hangs on it where Linux's RACK is."""
    del value, at


def _fixed(does: Any) -> Callable[[Any, _At], None]:
    """Linux does this and nothing else."""

    def rule(value: Any, at: _At) -> None:
        del at
        if value != does:
            raise CannotError(f"it has {quoted('off' if does is None else does)}, whatever is set")

    return rule


def _fixed_time(does_ns: int) -> Callable[[Any, _At], None]:
    def rule(value: int | None, at: _At) -> None:
        del at
        if value != does_ns:
            raise CannotError(f"it has {DURATION.show(does_ns)}, whatever is set")

    return rule


def _sysctl(name: str, does: Any = None, least: int = 0, most: int = 2**31 - 1) -> Any:
    """A whole number or switch that is a sysctl; ``does`` is what kernels without it do."""

    def rule(value: Any, at: _At) -> None:
        _set(name, int(value), int(value), does, at, (least, most))

    return rule


def _time(name: str, unit: int, does_ns: int, least: int = 0, most: int = 2**31 - 1) -> Any:
    """A length of time that is a sysctl in a unit."""

    def rule(value: int, at: _At) -> None:
        if value % unit:
            raise CannotError(
                f"it counts whole {'s' if unit == S else 'ms' if unit == MS else 'us'}"
            )
        _set(name, value // unit, value, does_ns, at, (least, most))

    return rule


def _set(name: str, written: int, value: Any, does: Any, at: _At, bounds: tuple[int, int]) -> None:
    if not bounds[0] <= written <= bounds[1]:
        raise CannotError(f"{name} is from {bounds[0]} to {bounds[1]}")
    if at.machine.has(name):
        at.settings.sysctls[name] = written
    elif value != does:
        raise CannotError(f"this kernel has no {name}")


def _ecn(value: str, at: _At) -> None:
    at.settings.sysctls["net.ipv4.tcp_ecn"] = {"off": 0, "request": 1, "accept": 2}[value]


def _delayed_ack(value: int | None, at: _At) -> None:
    if value is None:
        at.settings.route += ["quickack", "1"]
    elif value != 40 * MS:
        raise CannotError('it has 40 ms, or "off"')


def _ack_compression(value: bool, at: _At) -> None:
    if not value:
        _sysctl("net.ipv4.tcp_comp_sack_nr", does=0)(0, at)


def _mss(value: int | None, at: _At) -> None:
    if value is not None:
        at.settings.route += ["advmss", str(value)]


def _ssthresh_cache(value: bool, at: _At) -> None:
    name = "net.ipv4.tcp_no_ssthresh_metrics_save"
    if value and at.machine.has(name):
        at.settings.sysctls[name] = 0
    if value:
        at.settings.sysctls["net.ipv4.tcp_no_metrics_save"] = 0


def _slow_start(value: str, at: _At) -> None:
    del at
    if value != "own":
        raise CannotError("it ends as its congestion control has it: cubic's with HyStart")


def _initial_window(value: int, at: _At) -> None:
    if value != 10:
        at.settings.route += ["initcwnd", str(value)]


def _min_timeout(value: int, at: _At) -> None:
    if at.machine.has("net.ipv4.tcp_rto_min_us"):
        _time("net.ipv4.tcp_rto_min_us", US, 200 * MS, 1)(value, at)
    elif value != 200 * MS:
        at.settings.route += ["rto_min", f"{value / MS:g}ms"]


def _rack(value: bool, at: _At) -> None:
    if not value and at.machine.is_since(6, 17):
        raise CannotError("it has nothing else since 6.17")
    at.settings.sysctls["net.ipv4.tcp_recovery"] = int(value)


def _keep_alive_idle(value: int | None, at: _At) -> None:
    at.settings.keep_alive = value is not None
    if value is not None:
        _time("net.ipv4.tcp_keepalive_time", S, 7200 * S, 1, 32_767)(value, at)


def _tail_loss_probe(value: bool, at: _At) -> None:
    at.settings.sysctls["net.ipv4.tcp_early_retrans"] = 3 if value else 0


def _f_rto(value: bool, at: _At) -> None:
    at.settings.sysctls["net.ipv4.tcp_frto"] = 2 if value else 0


def _send_buffer(value: int, at: _At) -> None:
    at.settings.sysctls["net.ipv4.tcp_wmem"] = f"4096 {min(16384, value)} {value}"


def _syn_retries(value: int, at: _At) -> None:
    _sysctl("net.ipv4.tcp_syn_retries", least=1, most=127)(value, at)
    # Linux sends a SYN/ACK one time less.
    at.settings.sysctls["net.ipv4.tcp_synack_retries"] = 5 if value == 6 else value


def _capable_retries(value: int, at: _At) -> None:
    # It counts those that are sent again.
    _sysctl("net.mptcp.syn_retrans_before_tcp_fallback", does=2, most=127)(value - 1, at)


TCP: dict[str, Any] = {
    "window_scaling": _sysctl("net.ipv4.tcp_window_scaling"),
    "timestamps": _sysctl("net.ipv4.tcp_timestamps"),
    "mss": _mss,
    "sack": _sysctl("net.ipv4.tcp_sack"),
    "ecn": _ecn,
    "delayed_ack": _delayed_ack,
    "quick_acks": _fixed(16),
    "ack_compression": _ack_compression,
    "appropriate_byte_counting": _fixed(True),
    "proportional_rate_reduction": _fixed(True),
    "rack": _rack,
    "rescue_retransmission": _unused,
    "tail_loss_probe": _tail_loss_probe,
    "undo": _fixed(True),
    "f_rto": _f_rto,
    "initial_window": _initial_window,
    "slow_start": _slow_start,
    "initial_ssthresh": _fixed(None),
    "ssthresh_cache": _ssthresh_cache,
    "min_timeout": _min_timeout,
    "max_timeout": _time("net.ipv4.tcp_rto_max_ms", MS, 120 * S, 1000, 120_000),
    "max_backoff": _fixed(None),
    "initial_timeout": _fixed_time(S),
    "linux_timeout": _fixed(True),
    "timer_wheel": _fixed(True),
    "syn_retries": _syn_retries,
    "retries": _sysctl("net.ipv4.tcp_retries2", most=255),
    "slow_start_after_idle": _sysctl("net.ipv4.tcp_slow_start_after_idle"),
    "gso_push": _fixed(True),
    "pacing": _fixed(False),
    "keep_alive_idle": _keep_alive_idle,
    "keep_alive_interval": _time("net.ipv4.tcp_keepalive_intvl", S, 75 * S, 1, 32_767),
    "keep_alive_probes": _sysctl("net.ipv4.tcp_keepalive_probes", least=1, most=127),
    "receive_buffer_tuning": _sysctl("net.ipv4.tcp_moderate_rcvbuf"),
    "adv_win_scale": _fixed(None),
    "send_buffer": _send_buffer,
    "send_buffer_tuning": _fixed(True),
    "send_buffer_grows_early": _fixed(True),
    "time_wait": _fixed_time(60 * S),
    "fin_timeout": _time("net.ipv4.tcp_fin_timeout", S, 60 * S, 1, 120),
}
SCHEDULERS = ("opportunistic_retransmission", "penalisation")
MPTCP: dict[str, Any] = {
    "version": _fixed(1),
    "join": _fixed("specified"),
    "checksum": _sysctl("net.mptcp.checksum_enabled", does=0),
    "opportunistic_retransmission": _fixed(False),
    "penalisation": _fixed(False),
    "long_numbers": _fixed(True),
    "reinjection": _fixed("connection-timer"),
    "stale_timeouts": _sysctl("net.mptcp.stale_loss_cnt", does=4),
    "capable_retries": _capable_retries,
    "receive_buffer": _fixed("shared"),
    "close_timeout": _time("net.mptcp.close_timeout", S, 60 * S),
}
