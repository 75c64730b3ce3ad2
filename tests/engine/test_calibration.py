"""A link hidden in the emulator is found again from captures of what TCP met there in real time."""

from __future__ import annotations

import math

import pytest

from engine.machines import Machine
from mptcplab import calibrate

# Slow, so that a machine which is late now and then is late by little.
MBPS, DELAY_MS, QUEUE_BYTES, LOSS_PERCENT = 2, 100, 60_000, 0.1
QUEUE = f'{{ queue = "drop-tail", bytes = "{QUEUE_BYTES} B" }}'
SEGMENT_BYTES = 1448
BYTES = 8_000_000
HIDDEN = f"""\
schema = 1

[transfer]
direction = "download"
size = "{BYTES} B"

[link.air]
uplink = [
  {{ element = "rate", rate = "10 Mbit/s" }},
  {{ element = "delay", delay = "{DELAY_MS // 2} ms" }},
]
downlink = [
  {{ element = "rate", rate = "{MBPS} Mbit/s", queue = {QUEUE} }},
  {{ element = "delay", delay = "{DELAY_MS // 2} ms" }},
  {{ element = "loss", ratio = "{LOSS_PERCENT} %" }},
]

[path.air]
link = "air"

[mptcp]
enabled = false
"""
# Who sends, and how.
SENDERS = [("mptcplab", "reno"), ("kernel", "cubic")]


@pytest.mark.parametrize(("stack", "controller"), SENDERS)
def test_a_link_is_found_again_from_captures_in_real_time(
    stack: str, controller: str, host: Machine
) -> None:
    sender = f'congestion_control = "{controller}"\n[server]\nstack = "{stack}"\n'
    run = host.undisturbed(HIDDEN + sender)
    captures = sorted(run.directory.glob("*.pcapng"))
    # Linux's CUBIC is what a capture is taken for.
    found = calibrate(captures, controller=None if stack == "kernel" else controller, runs=6)
    # Whether five losses are independent may stay open: then such a link is an alternative.
    links = [found.link, *found.link.get("alternatives", [])]
    independent = (one["downlink"] for one in links if "ratio" in one["downlink"][-1])
    limited, delay, lost = next(independent)
    assert float(limited["rate"].split()[0]) == pytest.approx(MBPS, rel=0.1)
    assert 2 * float(delay["delay"].split()[0]) == pytest.approx(DELAY_MS, rel=0.1)
    assert int(limited["queue"]["bytes"].split()[0]) == pytest.approx(QUEUE_BYTES, rel=0.1)
    # 95 % of counts of independent losses are within 1.96 of their deviations.
    packets = BYTES / SEGMENT_BYTES
    percent = float(lost["ratio"].split()[0])
    deviation = 100 * math.sqrt(LOSS_PERCENT / 100 * packets) / packets
    assert abs(percent - LOSS_PERCENT) <= 1.96 * deviation
