"""``[transfer]``: what is transferred, and how."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from mptcplab.scenario.fault import nearest
from mptcplab.scenario.quantity import said
from mptcplab.scenario.section import Bytes, Duration, Integer, Rate, Section, read
from mptcplab.scenario.source import Source


class Transfer(Section):
    """One way of an application's data."""

    application: str
    direction: Literal["download", "upload"]
    """``"download"`` (server to client) or ``"upload"``."""

    @property
    def lasts_ns(self) -> int | None:
        """How long it goes on, where that is given."""
        return None


class Bulk(Transfer):
    """As much as the network takes."""

    application: Literal["bulk"] = "bulk"
    size: Bytes | None = Field(None, gt=0)
    """How much is transferred; either this or ``duration``."""
    duration: Duration | None = Field(None, gt=0)
    """How long data is written, what ``send_buffer`` takes at once; either this or ``size``."""

    @model_validator(mode="after")
    def _one(self) -> Bulk:
        if self.size is not None and self.duration is not None:
            raise ValueError("size and duration exclude each other")
        if self.size is None and self.duration is None:
            raise ValueError('needs either size (such as "20 MB") or duration (such as "30 s")')
        return self

    @property
    def lasts_ns(self) -> int | None:
        """How long it goes on, where that is given."""
        return self.duration


class RequestResponse(Transfer):
    """The client asks, the server answers, the client thinks."""

    application: Literal["request-response"]
    request: Bytes = Field(gt=0)
    """Bytes of each request."""
    response: Bytes = Field(gt=0)
    """Bytes of each response."""
    requests: Integer = Field(ge=1)
    """How many requests, one after the other."""
    think: Duration = 0
    """From the end of a response to the next request."""


class ConstantBitRate(Transfer):
    """Messages of one size at equal distances."""

    application: Literal["constant-bit-rate"]
    rate: Rate = Field(gt=0)
    """Bits of messages per second."""
    message: Bytes = Field(1000, gt=0)
    """Bytes of each message."""
    duration: Duration = Field(gt=0)
    """How long messages are sent."""

    @property
    def lasts_ns(self) -> int | None:
        """How long it goes on."""
        return self.duration


APPLICATIONS: dict[str, type[Transfer]] = {
    "bulk": Bulk,
    "request-response": RequestResponse,
    "constant-bit-rate": ConstantBitRate,
}


def read_transfer(value: Any, source: Source) -> Transfer:
    """Read the section."""
    place = ("transfer",)
    name = value.get("application", "bulk") if isinstance(value, dict) else "bulk"
    if not isinstance(name, str) or name not in APPLICATIONS:
        hint = nearest(str(name), APPLICATIONS)
        raise source.fault((*place, "application"), f"{said(name)} is not known here; {hint}")
    return read(APPLICATIONS[name], value, place, source)
