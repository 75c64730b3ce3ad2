"""Whether runs over real networks can begin: this host's uplinks, and what the server answers."""

from __future__ import annotations

from collections.abc import Sequence

from mptcplab._core import Error
from mptcplab.engines.field import clock, control, server_line, uplinks
from mptcplab.engines.field.routes import route
from mptcplab.engines.field.server_line import ServerLine
from mptcplab.engines.field.uplinks import Examined
from mptcplab.machine.check import limited
from mptcplab.probing.client import ProbedPath
from mptcplab.probing.probe import LOCAL
from mptcplab.probing.session import Session, opened

# How long the server is asked to answer, at most.
SECONDS = 300
ECHOES = 5


def examine(
    server: str, names: Sequence[str], token: str | None = None, port: int = server_line.PORT
) -> Examined:
    """Look at interfaces, those that are up for none, and at the server; changes nothing.

    Args:
        server: Its name or address, with :PORT, or its line; with that its fingerprint, the token
            and its ports are looked at, too.
        names: Interfaces of the paths, the first path's first.
        token: The file with its token.
        port: Of a server without one.

    Raises:
        Error: There is no such host, or the kernel cannot be asked.
    """
    line = server_line.read(server) if "#" in server else None
    host, port = (line.host, line.port) if line else _host_and_port(server, port)
    server_line.check_host(host)
    names = list(names) or uplinks.interfaces()
    if not names:
        raise Error("no interface is up and has an address: name them (--interface)")
    found = uplinks.examine(names, host, port)
    if line is not None:
        _server(found, line, token, names)
    return found


def _host_and_port(given: str, port: int) -> tuple[str, int]:
    host, _, its = given.rpartition(":") if given.count(":") == 1 else (given, "", "")
    if its and not (its.isascii() and its.isdigit() and 0 < int(its) < 1 << 16):
        raise Error(f"{given}: is not HOST or HOST:PORT")
    return host.strip("[]"), int(its or port)


def _server(examined: Examined, line: ServerLine, token: str | None, names: Sequence[str]) -> None:
    """Show the server our token, and ask it for answers over each path."""
    try:
        secret = server_line.token(token)
        with opened(line, secret, SECONDS) as session:
            examined.fine("server", "its fingerprint and our token are right")
            for number, name in enumerate(names):
                _echo(examined, line, session, name, number)
                _probe_port(examined, session, name)
    except control.UnreachedError as error:
        examined.missing("server", str(error), "have mptcplab serve run, and open its port")
    except Error as error:
        examined.missing("server", str(error), "take line and token from the server that runs now")


def _echo(examined: Examined, line: ServerLine, session: Session, name: str, number: int) -> None:
    """Ask for UDP echoes over a path."""
    what = f"{name} UDP"
    try:
        path = route(name, line.host, line.port)
        found = clock.offset(path, line.port, session.run, session.key, ECHOES, number * ECHOES)
    except Error as error:
        examined.missing(what, str(error), "mend the route")
        return
    if found is not None:
        examined.fine(what, f"port {line.port} echoes")
        return
    meaning = "runs do not know how far the two clocks are apart"
    mend = f"open port {line.port} of the server for UDP"
    examined.checks.append(limited(what, f"port {line.port} echoes nothing", meaning, mend))


def _probe_port(examined: Examined, session: Session, name: str) -> None:
    """Ask for an answer at the port of probes over a path."""
    path = ProbedPath(name, session)
    what = f"{name} probes"
    try:
        with path.connect() as connection:
            connection.ask("echo")
    except OSError as error:
        reason = error.strerror or str(error)
        local = error.errno in LOCAL
        mend = "mend the route" if local else f"open port {path.port} of the server for TCP"
        found = f"port {path.port} is not reached: {reason}"
        examined.checks.append(limited(what, found, "the path cannot be probed", mend))
    else:
        examined.fine(what, f"port {path.port} answers")
