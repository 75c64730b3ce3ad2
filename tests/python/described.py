"""What pages of runs and campaigns hold, but for their columns."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def described(file: Path) -> dict[str, Any]:
    """What a page holds."""
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', file.read_text())
    assert found
    page: dict[str, Any] = json.loads(found[1])
    return page
