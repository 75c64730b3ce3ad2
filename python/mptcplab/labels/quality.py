"""How an application was served that has to be in time, in words."""

from __future__ import annotations

from typing import Any

from mptcplab.labels import text

Row = dict[str, Any]


def facts(transfer: Row) -> list[str]:
    """Say how an application was served that has to be in time."""
    said = []
    if (late := transfer.get("late_share")) is not None:
        said.append(
            f"{text.percent(late * 100)} late at {text.milliseconds(transfer['deadline_ms'])}"
        )
    if (delay := transfer.get("message_delay_ms_mean")) is not None:
        said.append(
            f"messages in {text.milliseconds(delay)}, "
            f"p95 {text.milliseconds(transfer['message_delay_ms_p95'])}"
        )
    if transfer.get("mos") is not None:
        said.append(f"call R {transfer['r_factor']:.1f}, MOS {transfer['mos']:.2f}")
    if transfer.get("video_segments"):
        started = transfer["startup_ms"]
        begins = "never" if started is None else f"after {text.milliseconds(started)}"
        stalls = transfer["stalls"]
        lasting = f" of {text.seconds(transfer['stall_s'])}" if stalls else ""
        said.append(
            f"video starts {begins}, {text.plural(stalls, 'stall')}{lasting}, "
            f"{text.rate(transfer['video_mbps_mean'])} with "
            f"{text.plural(transfer['bitrate_switches'], 'change')}"
        )
    return said
