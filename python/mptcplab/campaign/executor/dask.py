"""Workers of a Dask cluster: they may be on any machines that have the same mptcplab."""

from __future__ import annotations

import time

from mptcplab._core import Error
from mptcplab.campaign.executor import Lost
from mptcplab.campaign.task import Batch, Shard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from distributed import Future

# How long a scheduler may take to answer.
PATIENCE_SECONDS = 10


class Dask:
    """A Dask scheduler's workers, as many as it has at the time."""

    near = False

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise Error("--dask needs Dask: pip install 'mptcplab[dask]'") from None
        try:
            self._client = Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise Error(f"no Dask scheduler answers at {address}: {_line(error)}") from error
        self._running: dict[Future, Batch] = {}

    def free(self) -> int:
        """Say how many threads of workers have nothing to do."""
        return max(0, sum(self._client.nthreads().values()) - len(self._running))

    def submit(self, batch: Batch) -> None:
        """Have a batch done by any worker."""
        from mptcplab.campaign.work import perform

        self._running[self._client.submit(perform, batch, pure=False)] = batch

    def wait(self, seconds: float) -> list[tuple[Batch, Shard | Lost]]:
        """Give what is done by then; at once when something is."""
        from distributed import wait

        if not self._running:
            # No worker has come yet.
            time.sleep(seconds)
            return []
        try:
            ended = wait(list(self._running), timeout=seconds, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return []
        return [(self._running.pop(future), self._ended(future)) for future in ended]

    def close(self) -> None:
        """Leave the workers to others."""
        self._client.cancel(list(self._running))
        self._client.close()

    def _ended(self, future: Future) -> Shard | Lost:
        from distributed import KilledWorker

        try:
            shard = future.result()
        except KilledWorker:
            return Lost("the workers that ran it died")
        except (OSError, TimeoutError) as error:
            raise Error(f"the Dask scheduler is gone: {_line(error)}") from error
        assert isinstance(shard, Shard)  # noqa: S101 - perform() gives nothing else
        return shard


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
