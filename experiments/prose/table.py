"""Writes sentences of the documentation from ``results.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.engines import table as engines
from mptcplab.labels.text import count

RESULTS = Path(__file__).parent / "results.json"
# What a sentence gives of runs with the kernel.
KERNEL = ("throughput_mbps", "share_percent", "rtt_ms_mean")


def markdown(part: str) -> str:
    """Give one sentence, by a name of ``SENTENCES``."""
    return SENTENCES[part](json.loads(RESULTS.read_text())) + "\n"


def _schedulers(results: dict[str, Any]) -> str:
    took = {name: f"{seconds:.1f} s" for name, seconds in results["schedulers"].items()}
    return (
        "With 20 Mbit/s at 20 ms beside 1 Mbit/s at 300 ms, 0.05 % loss, Reno and a buffer of 128 kB, 10 MB take "
        f"{took['blest']} with `blest`, {took['ecf']} with `ecf`, {took['lowest-rtt']} with `lowest-rtt`, and "
        f"{took['lowest-rtt alone']} with `lowest-rtt` without the opportunistic retransmission and the penalisation that come with it "
        "(means over the seeds 1 to 8)."
    )


def _joins(results: dict[str, Any]) -> str:
    first = {join: f"{ms:.0f}" for join, ms in results["joins"].items()}
    return (
        "Over Wi-Fi and LTE with round-trip times of 20 and 50 ms, LTE's first data comes after "
        f"{first['simultaneous']} rather than {first['specified']} ms."
    )


def _gain(results: dict[str, Any]) -> str:
    gain = results["gain"]
    return (
        f"One seed is one draw, and says little about the next: over the seeds 1 to 20 MPTCP gives {gain['mean']:.0%} ± {gain['sigma']:.0%} "
        "more than the best single path in `wifi-lte` (mean ± standard deviation); the run above is seed 1 alone. "
        "Compare scenarios with `--repeat 20`."
    ).replace("%", " %")


def example(results: dict[str, Any]) -> str:
    """Give the gain of the example for Python, as its comment has it."""
    gain = results["gain"]["example"]
    return f"# {gain:.2f}: {gain:.0%} more".replace("%", " %")


def shares(results: dict[str, Any], controller: str) -> tuple[str, str]:
    """Give what a controller had at the shared bottleneck, and the neighbour, as the scenario's comment has them."""
    found = results["bottleneck"][controller]
    own, neighbour = (
        f"{found[who]['mean']:.1f} ± {found[who]['sigma']:.1f}" for who in ("own", "neighbour")
    )
    return own, neighbour


def _integers(results: dict[str, Any]) -> str:
    plain, default = (
        {pair: f"{ratio:.2f}" for pair, ratio in results["integers"][hosts].items()}
        for hosts in ("plain", "default")
    )
    return (
        f"Where the first subflow has the longer path, α is too small: over 100 and 20 ms `lia-linux` has {plain['100/20']} of LIA's rate, over 20 and 100 ms {plain['20/100']}. "
        f"With equal round-trip times of 100 ms, where a packet takes one ACK more than the formula has, it has {plain['100/100']}. This is with an ACK for each segment. "
        "The kernel counts ACKs and not segments, and hosts acknowledge several segments at once by default: then it has "
        f"{default['100/20']}, {default['20/100']} and {default['100/100']} (1 % of loss, the seeds 1 to 4)."
    )


def _vantage(results: dict[str, Any]) -> str:
    found = results["vantage"]
    whole, pieces = found["whole"], found["pieces"]
    wrong = whole["wrong"] + pieces["wrong"]
    low, high = (f"{rtt_ms:g}" for rtt_ms in found["rtt_ms"])
    return (
        f"It errs on the safe side: of {sum(whole.values())} simulated captures of known ends (round trips of {low} to {high} ms, acknowledgements delayed "
        f"by 0, 40 and 200 ms) {whole['right']} were recognised by their handshakes, and of {count(sum(pieces.values()))} pieces of them without handshakes, of 12 to "
        f"600 packets, {pieces['right']} by their acknowledgements; {wrong or 'none'} wrongly."
    )


def _stops(results: dict[str, Any]) -> str:
    runs = results["stops"]["runs"]
    lost, fade = results["stops"]["stopped"].values()
    return (
        f"Of {runs} such uploads in simulation {lost['1000'] or 'none'} stop where Wi-Fi loses 20 %, and {fade['1000'] or 'none'} where it fades. Where two messages "
        f'are written at once all the time (`message = "2000 B"`) {lost["2000"]} and {fade["2000"]} of {runs} do.'
    )


def _kernel(_results: dict[str, Any]) -> str:
    runs = engines.read("kernel")["wifi-lte, no settings"]
    low, high = ({key: edge(run[key] for run in runs) for key in KERNEL} for edge in (min, max))
    speed, share, rtt = (f"{low[key]:.3g} to {high[key]:.3g}" for key in KERNEL)
    return (
        f"The next run has other figures, as the kernel is never at the same point twice: {len(runs)} runs of 20 MB that [both engines](engines.md) rest on "
        f"have {speed} Mbit/s, {share} % over Wi-Fi and mean round trips of {rtt} ms."
    )


SENTENCES = {
    "schedulers": _schedulers,
    "joins": _joins,
    "gain": _gain,
    "integers": _integers,
    "vantage": _vantage,
    "stops": _stops,
    "kernel": _kernel,
}
