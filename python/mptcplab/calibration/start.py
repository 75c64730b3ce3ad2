"""Where a fit starts: a guess in closed form, and which parameter answers for which figure."""

from __future__ import annotations

import math
from dataclasses import replace

from mptcplab.calibration.families import admissible, steady
from mptcplab.calibration.model import (
    ASLEEP_SHARE,
    HEADER_BYTES,
    PACKET_BITS,
    PACKET_BYTES,
    Model,
)
from mptcplab.calibration.subject import ALL_WINDOW
from mptcplab.calibration.target import STEADY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.calibration.families import Family
    from mptcplab.calibration.model import Parameters
    from mptcplab.calibration.subject import Subject

# Which parameter answers for which figure.
ANSWERS = {
    "throughput": "rate_mbps",
    "handshake_rtt": "base_ms",
    "rtt": "queue_ms",
    "loss": "burst_percent",
    "throughput_cv": "variation",
}
# A handshake that is later by less is not late.
ASLEEP = 0.02
# Of one run: waking takes at least so long, and a handshake that is late by less is only late.
WAKING_MS = 50.0
# How the rate varies within a run where no coefficient of variation was measured: as in the rows
# of the same technology that have one (table 2 of the uplink paper), and as little elsewhere.
VARIATION = {"LTE": 0.25, "HSPA+": 0.18, "eHRPD": 0.22, "EV-DO": 0.22, "WiMAX": 0.2, "Mobile": 0.2}
OTHER_VARIATION = 0.1
# Jiang et al., CellNet 2012: carriers' queues hold seconds.
DEEP_MS = 2000.0
# A capacity that was never filled is so many times what was carried that nothing waits; how many,
# no single path tells.
UNFILLED = 4.0
# Where nothing is lost, so that a bound of the search is no reason to lose it.
LEAST_BURST_PERCENT = 1e-4


def of(subject: Subject, family: Family | None = None) -> Model:
    """Give the model of a subject, with its first guess; by default of the first family."""
    family = family or admissible(subject)[0]
    start, answers = _captured(subject) if subject.is_captured else _printed(subject)
    loss = subject.target("loss")
    if subject.target("throughput") is None and loss is not None and loss.below:
        # Nothing overflows: how long packets wait is the rate's doing.
        answers["rtt"] = "rate_mbps"
    elif (
        not any(map(subject.target, ("throughput", "handshake_rtt"))) and family.losses == "single"
    ):
        # Nothing says that packets wait, and the few that such losses leave in flight do not.
        answers["rtt"] = "base_ms"
    if family.capacity == "unfilled":
        _unfill(subject, start, answers)
    if family.waking_ms:
        # Handshakes are as late as it slept often; how much they differ then shows whether it did.
        waking_ms = family.waking_ms[subject.technology]
        start |= {"promotion_ms": waking_ms, ASLEEP_SHARE: subject.late_ms / waking_ms}
        answers["handshake_rtt"] = ASLEEP_SHARE
    fitted = {
        answers[one.figure]: one.figure
        for one in subject.targets
        if one.figure in answers and not one.is_bound
    }
    if start["variation"] < STEADY:
        family = steady(family)
    if start["variation"] < STEADY or family.capacity != "wandering":
        fitted.pop("variation", None)
    if family.capacity == "unfilled":
        fitted.pop("rate_mbps", None)
        subject = _windowed(subject)
    if family.queue == "deep":
        # What is lost then decides how long packets wait.
        fitted.pop("queue_ms", None)
        start["queue_ms"] = DEEP_MS
    return Model(subject, family, start, fitted)


def _unfill(subject: Subject, start: Parameters, answers: dict[str, str]) -> None:
    """Have a transfer meet delay and losses alone."""
    if subject.is_captured:
        start["rate_mbps"] *= UNFILLED
        start["base_ms"] = _base_ms(subject, start["rate_mbps"])
        return
    start["rate_mbps"] = UNFILLED * subject.value("throughput", start["rate_mbps"])
    if subject.base_rtt_ms is not None and subject.target("throughput") is not None:
        # The delay is known, and that nothing waits has to show.
        answers.pop("rtt")
        return
    base = subject.value("rtt", start["base_ms"])
    waking = subject.value("handshake_rtt", base) - base
    start["base_ms"] = base
    answers |= {"rtt": "base_ms", "handshake_rtt": "base_ms"}
    start.pop("promotion_ms", None)
    if waking > ASLEEP * base:
        start["promotion_ms"] = waking
        answers["handshake_rtt"] = "promotion_ms"


def _windowed(subject: Subject) -> Subject:
    """Have a window hold transfers that lose nothing: what they had in flight (Little's law)."""
    throughput, rtt, loss = map(subject.target, ("throughput", "rtt", "loss"))
    if throughput is None or rtt is None or not (loss is None or loss.below):
        return subject
    window = f"{round(throughput.value * rtt.value * 1e3 / 8)} B"
    held = {
        "receive_buffer": window,
        "max_receive_buffer": window,
        "receive_buffer_tuning": False,
        "adv_win_scale": ALL_WINDOW,
    }
    return replace(subject, tcp=subject.tcp | held)


def models(subject: Subject) -> list[Model]:
    """Give a model of each family, and of those that are the same link the first.

    Where nothing is lost, it makes no difference how.
    """
    found: list[Model] = []
    for family in admissible(subject):
        model = of(subject, family)
        if all(model.link(model.start) != one.link(one.start) for one in found):
            found.append(model)
    return found


def _captured(subject: Subject) -> tuple[Parameters, dict[str, str]]:
    """Guess by a capture: delay and losses can be read off it, which leaves rate and queue.

    The search would not find them better: a little more rate decides whether slow start overshoots,
    and most is lost there.
    """
    assert subject.base_rtt_ms is not None  # noqa: S101 - captures have it
    assert subject.loss_percent is not None  # noqa: S101 - and this
    # What fills a queue keeps the link busy: its rate is what arrived, with headers.
    rate = subject.value("throughput", 0.0) * PACKET_BYTES / (PACKET_BYTES - HEADER_BYTES)
    least = subject.base_rtt_ms
    handshake = subject.value("handshake_rtt", least)
    base = _base_ms(subject, rate)
    start = {
        "rate_mbps": rate,
        "base_ms": base,
        "queue_ms": max(1.0, subject.value("rtt_p99", 0.0) - least),
        "burst_percent": max(subject.loss_percent, LEAST_BURST_PERCENT),
        "variation": subject.value("throughput_cv", 0.0),
    }
    answers = {"throughput": "rate_mbps", "rtt_p99": "queue_ms", "throughput_cv": "variation"}
    if handshake > base + WAKING_MS:
        start["promotion_ms"] = handshake - base
        answers["handshake_rtt"] = "promotion_ms"
    return start, answers


def _base_ms(subject: Subject, rate: float) -> float:
    """Give the delay of a capture's path: its least round trip without a packet's own time."""
    least = subject.base_rtt_ms or 0.0
    handshake = subject.value("handshake_rtt", least)
    return min(handshake, max(least - PACKET_BITS / (rate * 1e3), 0.5 * least))


def _printed(subject: Subject) -> tuple[Parameters, dict[str, str]]:
    """Guess by figures alone."""
    rtt = subject.value("rtt", 0.0)
    handshake = subject.value("handshake_rtt", subject.base_rtt_ms or 0.6 * rtt)
    throughput = subject.value("throughput", subject.rate_mbps or _mathis_mbps(subject))
    base = min(handshake, subject.awake_rtt_ms) if rtt else handshake
    varies = subject.target("throughput_cv")
    start = {
        "rate_mbps": throughput * 1.1,
        "base_ms": base,
        # Reno's saw-tooth fills a queue of this size by two thirds on average.
        "queue_ms": max(10.0, 1.5 * (rtt - base)),
        "burst_percent": max(0.5 * subject.value("loss", 2e-4), LEAST_BURST_PERCENT),
        "variation": VARIATION.get(subject.technology, OTHER_VARIATION),
    }
    if varies is not None and not varies.above:
        start["variation"] = 0.0 if varies.below else varies.value
    answers = dict(ANSWERS)
    if handshake > base * (1 + ASLEEP):
        start["promotion_ms"] = handshake - base
        answers["handshake_rtt"] = "promotion_ms"
    if subject.target("rtt_sd"):
        answers |= {"rtt": "base_ms", "rtt_sd": "queue_ms"}
        start["base_ms"] = 0.9 * rtt
        start["queue_ms"] = 4 * subject.value("rtt_sd", 0.0)
    return start, answers


def _mathis_mbps(subject: Subject) -> float:
    """Guess the rate of plain TCP from its losses (Mathis et al., 1997)."""
    ratio = subject.value("loss", 0.1) / 100
    packets = math.sqrt(1.5 / max(ratio, 1e-5))
    return packets * PACKET_BITS / (subject.value("rtt", 100.0) * 1e3)
