"""What is said of a run with the kernel from what it counted."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab.engines.kernel.measured import BEYOND_WINDOW, beyond_window


def _counters(directory: Path, host: str, before: int, after: int) -> Path:
    file = directory / f"{host}.counters"
    rows = [
        {"host": host, "counter": BEYOND_WINDOW, "before": before, "after": after},
        {"host": host, "counter": "MPTcpExtDuplicateData", "before": 0, "after": 7},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_data_beyond_the_window_is_told(tmp_path: Path) -> None:
    files = [_counters(tmp_path, "client", 2, 29), _counters(tmp_path, "server", 3, 3)]
    (row,) = beyond_window(files)
    assert (row["diagnostic"], row["count"]) == ("beyond_window", 27)
    assert "Linux at the client discarded 27 segments" in row["message"]
