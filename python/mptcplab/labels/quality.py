"""How an application was served that has to be in time, in words."""

from __future__ import annotations

import math
from typing import Any

from mptcplab.labels import text

Row = dict[str, Any]

# "It is possible to get packet losses below 0.5% when using Skype": a paper, of calls over MPTCP.
SKYPE_LATE_SHARE = 0.005
# Opinions, shares of what is late, and seconds that differ less are alike, and bitrates of a tenth.
ALIKE = (0.1, 0.002, 0.1)
ALIKE_RATES = 1.1
# So unlikely is it that as many more of one are late by chance, where both are as often late.
CHANCE = 0.01


def worth(transfer: Row) -> tuple[float, ...] | None:
    """Give how well it was served, more for better; ``None`` where that does not count."""
    if transfer.get("late_share") is not None:
        return (transfer.get("mos") or 0.0, -transfer["late_share"])
    if transfer.get("video_segments"):
        return (-transfer["stall_s"], transfer["video_mbps_mean"])
    return None


def is_better(one: Row, other: Row) -> bool:
    """Whether one transfer of an application was served clearly better than another."""
    return seems_better(one, other) and not may_be_chance(one, other)


def may_be_chance(one: Row, other: Row) -> bool:
    """Whether as many more of the other's may be late by chance; nothing else is judged so."""
    known = one.get("late_share") is not None and other.get("late_share") is not None
    return known and chance(one, other) >= CHANCE


def seems_better(one: Row, other: Row) -> bool:
    """Whether one transfer of an application was served better than another, be it by chance."""
    mos, late, stall_s = ALIKE
    if one.get("late_share") is not None and other.get("late_share") is not None:
        if one.get("mos") is not None and other.get("mos") is not None:
            return bool(one["mos"] - other["mos"] >= mos)
        return bool(other["late_share"] - one["late_share"] >= late)
    stood_s = [row.get("stall_s") or 0.0 for row in (one, other)]
    if abs(stood_s[0] - stood_s[1]) >= stall_s:
        return stood_s[0] < stood_s[1]
    rates = [row.get("video_mbps_mean") or 0.0 for row in (one, other)]
    return bool(rates[0] >= ALIKE_RATES * rates[1])


def judged(transfer: Row) -> int:
    """Give how many messages or responses a late share is of."""
    return int(transfer.get("messages") or transfer.get("responses") or 0)


def chance(one: Row, other: Row) -> float:
    """Give how likely as many of the other's, or more, are late where both are as often late.

    Fisher's exact test, one-sided. Late messages come together, so that even this is too sure.
    """
    counts = [judged(row) for row in (one, other)]
    first, second = (
        round(row["late_share"] * n) for row, n in zip((one, other), counts, strict=True)
    )
    late = first + second

    def log_combinations(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    log_all = log_combinations(sum(counts), late)
    most = min(late, counts[1])
    least = max(second, late - counts[0])
    return sum(
        math.exp(log_combinations(counts[1], k) + log_combinations(counts[0], late - k) - log_all)
        for k in range(least, most + 1)
    )


def measure(transfer: Row) -> str:
    """Say by the application's own measure how it was served, in a few words."""
    if (late := transfer.get("late_share")) is not None:
        opinion = f" and MOS {transfer['mos']:.2f}" if transfer.get("mos") is not None else ""
        return f"{text.percent(late * 100)} late{opinion}"
    return f"{_stalls(transfer)} at {text.rate(transfer['video_mbps_mean'])}"


def facts(transfer: Row) -> list[str]:
    """Say how an application was served that has to be in time."""
    found = []
    if (late := transfer.get("late_share")) is not None:
        found.append(
            f"{text.percent(late * 100)} late at {text.milliseconds(transfer['deadline_ms'])}"
            f"{_beside_skype(transfer)}"
        )
    if (delay := transfer.get("message_delay_ms_mean")) is not None:
        found.append(
            f"messages in {text.milliseconds(delay)}, "
            f"p95 {text.milliseconds(transfer['message_delay_ms_p95'])}"
        )
    if transfer.get("mos") is not None:
        found.append(f"call R {transfer['r_factor']:.1f}, MOS {transfer['mos']:.2f}")
    if transfer.get("video_segments"):
        started = transfer["startup_ms"]
        begins = "never" if started is None else f"after {text.milliseconds(started)}"
        found.append(
            f"video starts {begins}, {_stalls(transfer)}, "
            f"{text.rate(transfer['video_mbps_mean'])} with "
            f"{text.plural(transfer['bitrate_switches'], 'change')}"
        )
    return found


def _beside_skype(transfer: Row) -> str:
    """Hold the late share of a call against what calls over Skype lost."""
    if transfer.get("mos") is None:
        return ""
    more = transfer["late_share"] >= SKYPE_LATE_SHARE
    return f" ({'not ' if more else ''}below the 0.5 % of calls with Skype)"


def _stalls(transfer: Row) -> str:
    stalls = transfer["stalls"]
    lasting = f" of {text.seconds(transfer['stall_s'])}" if stalls else ""
    return f"{text.plural(stalls, 'stall')}{lasting}"
