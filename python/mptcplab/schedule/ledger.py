"""Writing to a ledger: a line is on the disk before what it is about begins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from mptcplab import writing
from mptcplab._core import Error
from mptcplab.results import ledger
from mptcplab.results.ledger import LEDGER, Ledger


class Writer:
    """The ledger of a campaign, which nobody else writes meanwhile."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / LEDGER
        self._handle = os.open(
            self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666
        )
        with open(self._file, "rb") as file:  # noqa: PTH123 - beside the handle that appends
            content = file.read()
        whole = ledger.whole(content)
        if whole != content:
            # The last writer was killed; what the line announced had not begun.
            os.ftruncate(self._handle, len(whole))
        writing.sync(directory)
        #: Its entries.
        self.ledger: Ledger = ledger.parse(whole, self._file)

    def add(self, entry: str, **fields: Any) -> None:
        """Add a line, and sync it to the disk."""
        line = {"entry": entry, **fields}
        content = json.dumps(line).encode() + b"\n"
        try:
            if os.write(self._handle, content) != len(content):
                raise Error(f"cannot write {self._file}: the disk is full")
            os.fsync(self._handle)
        except OSError as error:
            raise Error(f"cannot write {self._file}: {error.strerror}") from error
        self.ledger.take(line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)
