"""From a channel quality indicator's efficiency to the signal that it needs."""

from __future__ import annotations

from math import log

from mptcplab.radio.technology import Scheme, decibel, rounded

# Piro, Grieco, Boggia and Camarda, "A two-level scheduling algorithm for QoS support in the
# downlink of LTE cellular networks", European Wireless 2010, as in the LTE module of ns-3
# (PiroEW2010): a scheme of efficiency log2(1 + SNR/gap) has bit errors in a part of 5e-5.
BIT_ERRORS = 5e-5
GAP = -log(5 * BIT_ERRORS) / 1.5


def schemes(rows: tuple[tuple[str, float], ...]) -> tuple[Scheme, ...]:
    """Give the schemes of a table of indicators, from 1: modulation and efficiency."""
    return tuple(
        Scheme(f"CQI {number} ({modulation})", needs(efficiency), efficiency)
        for number, (modulation, efficiency) in enumerate(rows, 1)
    )


def needs(efficiency: float) -> float:
    """Give the least ratio of signal to noise, in dB."""
    return rounded(decibel(GAP * (2**efficiency - 1)))
