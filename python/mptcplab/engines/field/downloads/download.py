"""What is known of a download when it is over."""

from __future__ import annotations

from dataclasses import dataclass, field

from mptcplab.engines.field.downloads.page import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from mptcplab.engines.field.downloads.transfer import Sent

CAPTURE = "server.pcapng"
SAMPLES = "server.samples"


@dataclass(frozen=True)
class Download:
    """A download; ``directory`` has the capture, if there is one, and the samples."""

    directory: Path
    client: tuple[str, int]
    size_bytes: int
    started_ns: int
    ended_ns: int
    sent: Sent
    finished: bool
    #: What its socket was, and what TCP counted on each subflow.
    socket: dict[str, Any]
    counted: list[dict[str, Any]]
    #: The name of each address that the client's packets came from.
    paths: dict[str, str]
    #: What captured, or why nothing did, and what is missing; known last.
    captured: dict[str, Any] = field(default_factory=dict)

    @property
    def mptcp(self) -> bool:
        """Whether it spoke MPTCP to the end."""
        return self.socket["mptcp"] and not self.socket["fallback"]

    @property
    def result(self) -> Result:
        """Give what its client is shown."""
        return Result(
            self.sent.written,
            (self.ended_ns - self.started_ns) / 1e9,
            self.finished,
            bool(self.socket["mptcp"]),
            bool(self.socket["fallback"]),
            len(self.counted),
        )
