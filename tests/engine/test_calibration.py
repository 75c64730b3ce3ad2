"""A link hidden in the emulator is found again from a capture of what TCP met there in real time.

The sender is ours: how far Linux's own TCP is from it is not the question here.
"""

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

[server]
stack = "mptcplab"

[mptcp]
enabled = false
congestion_control = "reno"
"""


def test_a_link_is_found_again_from_captures_in_real_time(host: Machine) -> None:
    (run,) = host.emulate(HIDDEN, "--no-baselines").values()
    captures = sorted(run.directory.glob("*.pcapng"))
    found = calibrate(captures, controller="reno", runs=6)
    limited, delay = found.link["downlink"][:2]
    assert float(limited["rate"].split()[0]) == pytest.approx(MBPS, rel=0.1)
    assert 2 * float(delay["delay"].split()[0]) == pytest.approx(DELAY_MS, rel=0.1)
    assert int(limited["queue"]["bytes"].split()[0]) == pytest.approx(QUEUE_BYTES, rel=0.1)
    # 95 % of counts of independent losses are within 1.96 of their deviations.
    loss = found.residuals["loss"]
    lost = loss.target.value / 100 * BYTES / SEGMENT_BYTES
    assert loss.shown is not None
    assert abs(loss.shown / loss.target.value - 1) <= 1.96 / math.sqrt(lost)
