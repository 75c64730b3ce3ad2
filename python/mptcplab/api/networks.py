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
    """Look at what runs over real networks to a server need of this host; changes nothing.

    Args:
        host: The server, by name or address, or the line that ``mptcplab serve`` prints: then its
            fingerprint, the token and its ports are looked at, too.
        interfaces: Those of the paths, the first path's first; if left out all that are up and
            have an address.
        port: The server's.
        token: The file with the server's token; if left out ``~/.config/mptcplab/token``.

    Raises:
        Error: There is no such host, or the kernel cannot be asked.
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
    """Find out what stands between this host and a server.

    Args:
        line: The line that ``mptcplab serve`` prints.
        paths: Interfaces or addresses of this host; if left out, the routes choose.
        token: The file with the server's token; if left out ``~/.config/mptcplab/token``.
        idle_seconds: How long connections are silent at most, up to an hour; 0 leaves that out.
        begin: Called before each path with its name and about how many seconds it will take.

    Raises:
        Error: The server is not there, is another one, or refuses.
    """
    from mptcplab.probing.probes import probe_paths

    return probe_paths(line, paths, token, idle_seconds, begin)
