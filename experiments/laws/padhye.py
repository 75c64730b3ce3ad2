"""Reno with time-outs: Padhye, Firoiu, Towsley, Kurose, SIGCOMM 1998, where a loss takes the rest of its round with it."""

from __future__ import annotations

from functools import partial
from math import sqrt
from statistics import fmean

from experiments.laws import runs
from experiments.laws.law import Case, Law, Reading
from mptcplab.analysis import Analysis

RTTS_MS = (10, 50, 200)
RATIOS = (1e-3, 5e-3, 1e-2, 2e-2, 5e-2)
ROUNDS_LOST = 1500
# Without PRR, too: the window after a loss is the model's.
NEWRENO = {"congestion_control": "reno", "sack": False, "proportional_rate_reduction": False}
SACK = {"congestion_control": "reno"}
# As found. NewReno repairs a packet per round trip, the model all of them at once; SACK does nearly that.
RECOVERIES = (("NewReno", NEWRENO, 0.6), ("SACK", SACK, 0.8))


def rate(rtt_s: float, ratio: float, timeout_s: float) -> float:
    """Give packets per second for windows that the receiver does not limit and an ACK per packet: eq. (28) with b = 1."""
    window, timeouts = mean_window(ratio), timeout_part(ratio)
    # Eq. (27)
    backoff = 1 + sum(2.0 ** (n - 1) * ratio**n for n in range(1, 7))
    packets = (1 - ratio) / ratio + window + timeouts / (1 - ratio)
    return packets / (rtt_s * (window / 2 + 1) + timeouts * timeout_s * backoff / (1 - ratio))


def mean_window(ratio: float) -> float:
    """Give the mean window at a loss: eq. (13)."""
    return 1 + sqrt(8 * (1 - ratio) / (3 * ratio) + 1)


def timeout_part(ratio: float) -> float:
    """Give the part of hit rounds that end in a time-out: eq. (24) at the mean window."""
    three, window = float((1 - ratio) ** 3), mean_window(ratio)
    after = 1 - float((1 - ratio) ** (window - 3))
    tail = (1 + three * after) / (1 - float((1 - ratio) ** window))
    return min(1.0, (1 - three) * tail)


def read(tcp: runs.Table, rtt_ms: int, ratio: float) -> Reading:
    """Run until so many rounds are hit; the law is given the mean of the time-outs that begin a series."""
    rest_ms = rtt_ms / 2
    rest = {"element": "round-loss", "ratio": f"{ratio:.9%}", "rest": f"{rest_ms:g} ms"}
    seconds = ROUNDS_LOST / ratio / rate(rtt_ms / 1e3, ratio, rtt_ms / 1e3 + 0.2)
    run = runs.download({"air": runs.path(rtt_ms, rest)}, seconds, seed=rtt_ms, tcp=tcp)
    firsts = first_timeouts_s(run, 1.25 * rtt_ms)
    foreseen = rate(rtt_ms / 1e3, ratio, fmean(firsts) if firsts else 0.0)
    part = len(firsts) / rounds_hit(run, rest_ms / 1e3)
    also = (
        f"{fmean(firsts) * 1e3:.0f}" if firsts else "–",
        f"{timeout_part(ratio):.2f} · {part:.2f}",
    )
    return Reading(foreseen, runs.packets_per_s(run)["air"], also)


def first_timeouts_s(run: Analysis, least_ms: float) -> list[float]:
    """Give the silences before retransmissions that no time-out came before; shorter ones wait for an ACK."""
    timeouts = run.events.filter(event="timeout", direction="down").select("at_s", "duration_ms")
    firsts, last_s = [], -1.0
    for at_s, silent_ms in timeouts.iter_rows():
        if silent_ms < least_ms:
            continue
        # A silence that began with a time-out is its back-off.
        if abs(at_s - silent_ms / 1e3 - last_s) > 1e-6:
            firsts.append(silent_ms / 1e3)
        last_s = at_s
    return firsts


def rounds_hit(run: Analysis, rest_s: float) -> int:
    """Count losses that are the first of their round."""
    count, over_s = 0, -1.0
    for at_s in run.drops.filter(direction="down", reason="loss")["at_s"]:
        if at_s >= over_s:
            count, over_s = count + 1, at_s + rest_s
    return count


LAW = Law(
    "padhye",
    ("loss recovery", "loss", "RTT"),
    "packets/s",
    tuple(
        Case(
            (name, f"{ratio:.1%}", f"{rtt} ms"),
            partial(read, tcp, rtt, ratio),
            low,
            1.15,
            is_found=tcp is NEWRENO,
        )
        for name, tcp, low in RECOVERIES
        for ratio in RATIOS
        for rtt in RTTS_MS
    ),
    also=("first time-out ms", "time-outs / hit rounds: law · measured"),
)
