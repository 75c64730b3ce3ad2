"""Whether ports are treated alike."""

from __future__ import annotations

from mptcplab.probe import syn
from mptcplab.probe.client import Way
from mptcplab.probe.row import ALTERED, BLOCKED, CLEAR, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def alike(way: Way, ports: Sequence[int]) -> Iterator[Row]:
    """Compare the SYNs that arrive at each port with that at the first."""
    first = _options(way, way.port)
    for port in ports:
        probe = f"port {port}"
        try:
            came = _options(way, port)
        except OSError as error:
            yield Row(
                way.name, probe, BLOCKED, "", "", f"port {way.port} answers, this does not: {error}"
            )
            continue
        same = came == first
        verdict = CLEAR if same else ALTERED
        told = ", ".join(map(str, came)) or "none"
        sent = ", ".join(map(str, first)) or "none"
        yield Row(
            way.name,
            probe,
            verdict,
            sent,
            told,
            f"kinds of options in SYNs, beside those at port {way.port}",
        )


def _options(way: Way, port: int) -> list[int]:
    with way.connect(port=port) as connection:
        return sorted(syn.parse(bytes.fromhex(connection.ask("look")["syn"])).options)
