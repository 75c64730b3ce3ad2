"""Workers of a Dask cluster: they may be on any machines that have the same mptcplab."""

from __future__ import annotations

import logging
from concurrent.futures import CancelledError
from queue import Empty, SimpleQueue

from mptcplab._core import Error
from mptcplab.campaign.executor import Lost
from mptcplab.campaign.work import Batch, Shard

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
        # One line replaces the many that it would log.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        try:
            self._client = Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise Error(f"no Dask scheduler answers at {address}: {_line(error)}") from error
        self._running: dict[Future[Shard], Batch] = {}
        self._ended: SimpleQueue[Future[Shard]] = SimpleQueue()

    def free(self) -> int:
        """Say how many threads of workers have nothing to do."""
        threads: dict[str, int] = self._client.nthreads()
        return max(0, sum(threads.values()) - len(self._running))

    def submit(self, batch: Batch) -> None:
        """Have a batch done by any worker."""
        from mptcplab.campaign.work import perform

        future = self._client.submit(perform, batch, pure=False)
        self._running[future] = batch
        future.add_done_callback(self._ended.put)

    def wait(self, seconds: float) -> list[tuple[Batch, Shard | Lost]]:
        """Give what is done by then; at once when something is."""
        try:
            future = self._ended.get(timeout=seconds)
        except Empty:
            return []
        return [(self._running.pop(future), _result(future))]

    def close(self) -> None:
        """Leave the workers to others."""
        self._client.cancel(list(self._running))
        self._client.close()


def _result(future: Future[Shard]) -> Shard | Lost:
    from distributed import KilledWorker

    try:
        shard = future.result()
    except KilledWorker:
        return Lost("the workers that ran it died")
    except (OSError, TimeoutError, CancelledError) as error:
        raise Error(f"the Dask scheduler is gone: {_line(error)}") from error
    assert isinstance(shard, Shard)  # noqa: S101 - perform() gives nothing else
    return shard


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
