"""``[transfer]``: what is transferred, and how."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from mptcplab.scenario.section import Section, forms, read_form
from mptcplab.scenario.source import Source


class Transfer(Section):
    """One direction of an application's data."""

    application: str
    direction: str
    protocol: Literal["tcp", "quic"] = "tcp"
    """What carries the data: `tcp`, which is MPTCP or, as ``[mptcp]`` and baselines have it, plain
    TCP; or `quic`, which is multipath QUIC or QUIC over one path (kernel engine only)."""

    @property
    def lasts_ns(self) -> int | None:
        """How long it goes on, where that is given."""
        return getattr(self, "duration", None)

    @model_validator(mode="after")
    def _check(self) -> Transfer:
        if self.application == "bulk":
            if self.size is not None and self.duration is not None:
                raise ValueError("size and duration exclude each other")
            if self.size is None and self.duration is None:
                raise ValueError('needs either size (such as "20 MB") or duration (such as "30 s")')
        return self


APPLICATIONS = forms("transfer", "application", Transfer)


def read_transfer(value: Any, source: Source) -> Transfer:
    """Read the section."""
    if isinstance(value, dict):
        value = {"application": "bulk", **value}
    return read_form(APPLICATIONS, "application", Transfer, value, ("transfer",), source)
