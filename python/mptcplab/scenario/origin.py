"""``origin`` of a link: where its figures come from."""

from __future__ import annotations

from typing import Any

from mptcplab.scenario.fault import nearest
from mptcplab.scenario.quantity import Kind, said

KINDS = ("calibrated", "transferred", "assumed")
# What each kind must say.
NEEDED = {"calibrated": ("row",), "transferred": ("from", "changed", "why"), "assumed": ("source",)}
KEYS = ("kind", "row", "from", "source", "changed", "why", "residuals")


class Origin(Kind):
    """A table with ``kind`` and what that kind needs; text alone is a ``source``."""

    def parse(self, value: Any) -> dict[str, Any]:
        """Give the table."""
        if isinstance(value, str):
            return {"source": value}
        if not isinstance(value, dict):
            raise self.refuse(value)
        for key in value:
            if key not in KEYS:
                raise ValueError(f"has no {key}; {nearest(key, KEYS)}")
            if key != "residuals" and not isinstance(value[key], str):
                raise ValueError(f"{key}: {said(value[key])} is not text")
        kind = value.get("kind")
        if kind is not None and kind not in KINDS:
            raise ValueError(f"kind: {said(kind)} is not known; {nearest(str(kind), KINDS)}")
        for key in NEEDED.get(kind or "", ()):
            if not value.get(key):
                raise ValueError(f'kind = "{kind}" needs {key}')
        return value


ORIGIN = Origin("origin", 'text, or a table such as { kind = "assumed", source = "a guess" }')
