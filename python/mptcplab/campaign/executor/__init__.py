"""Executors: who does the work of a campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.campaign.work import Batch, Shard


class Executor(Protocol):
    """Workers, each of which does a batch at a time."""

    #: Whether workers see the directory of the campaign.
    near: bool

    def free(self) -> int:
        """Say how many batches would be begun at once."""

    def submit(self, batch: Batch) -> None:
        """Have a batch done."""

    def wait(self, seconds: float) -> list[tuple[Batch, Shard | Lost]]:
        """Give what is done by then; at once when something is."""

    def close(self) -> None:
        """Let go of the workers, whatever they do."""


@dataclass(frozen=True)
class Lost:
    """A worker died over a batch."""

    reason: str
