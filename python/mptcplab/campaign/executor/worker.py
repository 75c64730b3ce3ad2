"""A worker process: it reads batches from a socket and writes shards, until its parent is gone."""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from mptcplab._core import Error
from mptcplab.campaign.work import Batch, perform


def main() -> None:
    """Do batch after batch."""
    line = Connection(int(sys.argv[1]))
    batches: SimpleQueue[Batch] = SimpleQueue()
    Thread(target=_receive, args=(line, batches), daemon=True).start()
    while True:
        try:
            shard = perform(batches.get())
        except Error as error:
            line.send(error)
        else:
            line.send(shard)


def _receive(line: Connection, batches: SimpleQueue[Batch]) -> None:
    """Serve batches; a worker whose socket is closed ends at once."""
    while True:
        try:
            batches.put(line.recv())
        except (EOFError, OSError):
            os._exit(1)


if __name__ == "__main__":
    main()
