"""The interfaces of paths: whether the server is reached by them, and what they have carried."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.engine import Carried
from mptcplab.engines.field import control, server_line, uplinks
from mptcplab.engines.field.routes import route
from mptcplab.engines.kernel.agent.sockets import choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.field.server_line import ServerLine
    from mptcplab.scenario.path import Path as ScenarioPath
    from mptcplab.scenario.scenario import Scenario

# Of the network namespace that we are in; /sys may show another's.
DEVICES = Path("/proc/self/net/dev")
RECEIVED, SENT = 0, 8
BOOT = Path("/proc/sys/kernel/random/boot_id")
CONNECT_SECONDS = 10.0


def away(scenario: Scenario) -> dict[str, str]:
    """Greet the server by each path, and say where that cannot be."""
    line, token = _server(scenario)
    names = _congestion_controls([scenario])
    reasons = {name: _unreached(path, line, token, names) for name, path in scenario.paths.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def greet(scenarios: list[Scenario]) -> None:
    """Greet the server of all of them, if it is reached.

    Raises:
        Error: It is another one, refuses, or cannot choose their congestion controls.
    """
    line, token = _server(scenarios[0])
    names = _congestion_controls(scenarios)
    with suppress(control.UnreachedError), control.connected(line, token, names):
        pass


def may_choose(scenario: Scenario) -> None:
    """Choose the congestion controls of a scenario on an unused socket.

    Raises:
        Error: This Linux has none such, or this user may not have it.
    """
    with socket.socket() as sock:
        for name in _congestion_controls([scenario]):
            choose(sock, name)


def _congestion_controls(scenarios: list[Scenario]) -> list[str]:
    kernels = [scenario.kernel for scenario in scenarios]
    both = (
        name for one in kernels for name in (one.congestion_control, one.tcp_congestion_control)
    )
    return list(dict.fromkeys(both))


def _server(scenario: Scenario) -> tuple[ServerLine, str]:
    """Give the server's line and its token."""
    assert scenario.field is not None  # noqa: S101 - it was checked
    assert scenario.field.server is not None  # noqa: S101 - it was checked
    return server_line.read(scenario.field.server), server_line.token(scenario.field.token)


def lacks(scenario: Scenario) -> list[str]:
    """List what is missing for paths and MPTCP, and what Linux does not do by itself.

    Nothing where that cannot be found out.
    """
    if scenario.field is None or scenario.field.server is None:
        return []
    line = server_line.read(scenario.field.server)
    names = [str(path.interface) for path in scenario.paths.values()]
    try:
        found = uplinks.examine(names, line.host, line.port)
    except Error:
        return []
    return [check.line() for check in found.checks if check.verdict != "fine"]


def carried(scenario: Scenario) -> dict[str, Carried]:
    """Give what the interface of each path has carried since it is there."""
    found = {}
    for name, path in scenario.paths.items():
        if path.interface is not None and (one := _carried(path.interface)) is not None:
            found[name] = one
    return found


def _unreached(path: ScenarioPath, line: ServerLine, token: str, names: list[str]) -> str | None:
    """Say why a path does not reach the server, or reaches one that is another or refuses."""
    assert path.interface is not None  # noqa: S101 - it was checked
    try:
        found = route(path.interface, line.host, line.port, path.ip)
    except Error as error:
        return str(error)
    family = socket.AF_INET6 if ":" in found.remote else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(CONNECT_SECONDS)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, path.interface.encode())
            sock.connect((found.remote, line.port))
        except OSError as error:
            reason = error.strerror or str(error)
            return f"no connection to {line.host} port {line.port} by {path.interface}: {reason}"
        try:
            with control.authenticated(sock, line, token, names):
                return None
        except Error as error:
            return str(error)


def _carried(interface: str) -> Carried | None:
    try:
        # An interface that comes again, and a machine that starts anew, count from 0.
        since = f"{BOOT.read_text().strip()} {socket.if_nametoindex(interface)}"
        lines = DEVICES.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, counts = line.partition(":")
        if name.strip() == interface:
            fields = counts.split()
            return Carried(int(fields[RECEIVED]) + int(fields[SENT]), since)
    return None
