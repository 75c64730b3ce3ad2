"""Real networks: what a host needs for them, and what stands in between."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mptcplab.machine.check import Check
    from mptcplab.probing.probes import Probes


def doctor_field(
    host: str,
    interfaces: Sequence[str] = (),
    *,
    port: int = 7443,
    token: str | None = None,
) -> list[Check]:
    """Check what this host needs for runs over real networks to a server; changes nothing.

    Args:
        host: The server, by name or address, or the line that ``mptcplab serve`` prints. With the
            line, its fingerprint, the token and its ports are checked, too.
        interfaces: Interfaces of the paths, in their order. If left out, all that are up and have
            an address.
        port: Port of the server.
        token: The file with the server's token; if left out ``~/.config/mptcplab/token``.

    Raises:
        Error: There is no such host, or the kernel does not answer.
    """
    from mptcplab.probing.doctor import examine

    return examine(host, interfaces, token, port).checks


def probe(
    line: str,
    *,
    paths: Sequence[str] = (),
    token: str | None = None,
    idle_seconds: float = 30.0,
    begin: Callable[[str, float], None] | None = None,
) -> Probes:
    """Find the middleboxes between this host and a server.

    Args:
        line: The line that ``mptcplab serve`` prints.
        paths: Interfaces or addresses of this host. If left out, the routes decide.
        token: The file with the server's token; if left out ``~/.config/mptcplab/token``.
        idle_seconds: Longest time that connections are kept idle, up to an hour; 0: this is not
            tested.
        begin: Called before each path with its name and about how many seconds it will take.

    Raises:
        Error: The server cannot be reached, is a different one, or refuses.
    """
    from mptcplab.probing.probes import probe_paths

    return probe_paths(line, paths, token, idle_seconds, begin)
