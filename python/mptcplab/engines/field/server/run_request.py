"""What a client may ask for: a known application, within limits. All else is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.engines.field.server.limits import Limits

MOST = 10**15
# Keys of each application that are whole numbers, with the least that each may be. One that may
# be left out is in OPTIONAL.
APPLICATIONS = {
    "bulk": {"size_bytes": 1, "duration_ns": 1},
    "request-response": {"request_bytes": 1, "response_bytes": 1, "requests": 1, "think_ns": 0},
    "constant-bit-rate": {"rate_bits_per_second": 1, "message_bytes": 1, "duration_ns": 1},
    "video": {
        "duration_ns": 1,
        "segment_ns": 1,
        "lowest_bitrate_bits_per_second": 1,
        "bitrates": 1,
        "buffer_ns": 1,
        "startup_ns": 1,
        "request_bytes": 1,
    },
    "idle": {"duration_ns": 1, "message_bytes": 1},
}
OPTIONAL = {"bulk": {"size_bytes", "duration_ns"}}
MOST_BITRATES = 10
DIRECTIONS = ("up", "down")
CAPTURES = ("none", "headers", "full")
NAME = re.compile(r"[A-Za-z0-9_-]{1,15}")
SAMPLE_NS = (10_000_000, 60 * 10**9)


@dataclass(frozen=True)
class RunRequest:
    """A run as a client asks for it."""

    transfer: dict[str, Any]
    congestion_control: str | None
    sample_ns: int
    stop_ns: int
    captures: str


def read(fields: Any, limits: Limits) -> RunRequest:
    """Read it, strictly.

    Raises:
        Error: What is wrong with it, or which limit it is above.
    """
    known = {"transfer", "congestion_control", "sample_ns", "stop_ns", "captures"}
    if not isinstance(fields, dict) or fields.keys() != known:
        raise Error("a run is asked for with " + ", ".join(sorted(known)))
    name = fields["congestion_control"]
    if name is not None and not is_name(name):
        raise Error("congestion_control is not a name")
    if fields["captures"] not in CAPTURES:
        raise Error(f"captures is none of {', '.join(CAPTURES)}")
    sample_ns = _number(fields, "sample_ns", 0)
    if sample_ns and not SAMPLE_NS[0] <= sample_ns <= SAMPLE_NS[1]:
        raise Error("samples are 10 ms to 60 s apart")
    stop_ns = _number(fields, "stop_ns", 1)
    transfer = _transfer(fields["transfer"])
    _check_size(transfer, limits)
    return RunRequest(transfer, name, sample_ns, min(stop_ns, limits.run_ns), fields["captures"])


def is_name(given: Any) -> bool:
    """Whether a congestion control may be called so."""
    return isinstance(given, str) and NAME.fullmatch(given) is not None


def _transfer(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Error("the transfer is no table")
    application, direction = given.get("application"), given.get("direction")
    if not isinstance(application, str) or application not in APPLICATIONS:
        raise Error(f"the application is none of {', '.join(APPLICATIONS)}")
    if direction not in DIRECTIONS:
        raise Error("the direction is neither up nor down")
    numbers = APPLICATIONS[application]
    if unknown := given.keys() - numbers.keys() - {"application", "direction"}:
        raise Error(f"{application} has no {min(map(str, unknown))[:40]}")
    values = {
        key: _number(given, key, least)
        for key, least in numbers.items()
        if key not in OPTIONAL.get(application, ()) or given.get(key) is not None
    }
    if application == "bulk" and len(values) != 1:
        raise Error("bulk has either size_bytes or duration_ns")
    if application == "video" and values["bitrates"] > MOST_BITRATES:
        raise Error(f"a video has at most {MOST_BITRATES} bitrates")
    if (
        application == "video"
        and values["lowest_bitrate_bits_per_second"] * values["segment_ns"] < 8 * 10**9
    ):
        raise Error("segments of a video have at least one byte")
    return {"application": application, "direction": direction, **values}


def _number(fields: dict[str, Any], key: str, least: int) -> int:
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise Error(f"{key} is not a whole number from {least} to {MOST}")
    return value


def _check_size(transfer: dict[str, Any], limits: Limits) -> None:
    """Refuse a size above the limit; where it is not known, the run ends at the limit."""
    size = transfer.get("size_bytes", 0)
    if "requests" in transfer:
        size = transfer["requests"] * (transfer["request_bytes"] + transfer["response_bytes"])
    if transfer["application"] == "idle":
        size = transfer["message_bytes"]
    if "rate_bits_per_second" in transfer:
        size = transfer["rate_bits_per_second"] * transfer["duration_ns"] // (8 * 10**9)
    if "lowest_bitrate_bits_per_second" in transfer:
        highest = transfer["lowest_bitrate_bits_per_second"] << (transfer["bitrates"] - 1)
        size = highest * transfer["duration_ns"] // (8 * 10**9)
    if size > limits.run_bytes:
        raise Error(
            f"the transfer is {size / 1e6:g} MB, and this server allows a run "
            f"{limits.run_bytes / 1e6:g} MB"
        )
    if transfer.get("duration_ns", 0) > limits.run_ns:
        raise Error(f"this server allows a run {limits.run_ns / 1e9:g} s")
