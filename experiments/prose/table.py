"""Writes sentences of the documentation from ``results.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from experiments.engines import table as engines
from experiments.guard import table as guard
from mptcplab.labels.text import count

RESULTS = Path(__file__).parent / "results.json"
# What a sentence gives of runs with the kernel.
KERNEL = ("throughput_mbps", "share_percent", "rtt_ms_mean")
# Where the guard's runs stop for good, in the words of a sentence, and how late the emulator was at most where it was punctual.
LOSSY = {
    "fade": "over a path that fades",
    **{f"{percent} % lost": f"at {percent} %" for percent in (10, 20, 40, 60)},
}
PUNCTUAL_MS = 0.6


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


def _stopped(_results: dict[str, Any]) -> str:
    played, simulated = (_lossy(engine) for engine in ("kernel", "simulation"))
    keys = [guard.identity(row) for row in played]
    simulated = [row for row in simulated if guard.identity(row) in keys]
    down, up = (
        [[row for row in rows if row["load"] == load] for rows in (played, simulated)]
        for load in ("paced download", "paced upload")
    )
    each = ", ".join(
        " and ".join(_of(row for row in rows if row["way"] == case) for rows in down) + f" {where}"
        for case, where in LOSSY.items()
    )
    late = [(median(row["late_ms_p99"]), row) for row in up[0]]
    punctual, others = (
        [one for one in late if (one[0] < PUNCTUAL_MS) is is_punctual]
        for is_punctual in (True, False)
    )
    return (
        f"In the guard's matrix over a path that fades or loses 10 to 60 % ([more](guard.md#what-it-is-worth)) {_of(down[0])} paced downloads had stopped with Linux when they "
        f"were ended after 60 s, and {_of(down[1])} in simulation: {each}. Of the uploads {_of(up[0])} stopped with Linux and {_of(up[1])} in simulation. "
        f"With Linux they stop more often where the emulator is late: {_late(punctual)}, and {_late(others)} (in 1 % of the cases; medians of the runs that ended, by row of the matrix)."
    )


def _unfinished(_results: dict[str, Any]) -> str:
    counts = [
        _of(row for row in _lossy(engine) if row["manager"] == manager)
        for engine in ("kernel", "simulation")
        for manager in ("linux", "guard")
    ]
    return (
        "Linux itself may stop for good where a path loses packets or fades, with the guard or without. Of the paced runs at 10 to 60 % loss or over a fading path, "
        f"{counts[0]} without and {counts[1]} with it had not come to their end after 60 s; in simulation {counts[2]} and {counts[3]}. "
        f"Of the runs with requests {_of(_lossy('kernel', 'requests'))} stopped with Linux."
    )


def _stuck(_results: dict[str, Any]) -> str:
    rows: list[guard.Row] = json.loads(guard.RESULTS.read_text())["kernel"]
    stuck = [found for row in rows for found in row.get("stuck", [])]
    return f"Of {len(stuck)} runs of the guard's matrix with Linux that stopped, and whose captures were looked at, it was found in {sum(stuck)}."


def _lossy(engine: str, load: str = "paced") -> list[guard.Row]:
    """Give the guard's rows of a kind of load over a lossy path beside LTE."""
    rows: list[guard.Row] = json.loads(guard.RESULTS.read_text())[engine]
    return [
        row
        for row in rows
        if row["way"] in LOSSY and row["load"].startswith(load) and not row["beside"]
    ]


def _of(rows: Iterable[guard.Row]) -> str:
    """Say how many runs did not come to their end."""
    counts = [(row["tried"], len(row["mbps"])) for row in rows]
    tried, ended = (sum(one) for one in zip(*counts, strict=True))
    return f"{tried - ended or 'none'} of {tried}"


def _late(rows: list[tuple[float, guard.Row]]) -> str:
    late_ms = [one for one, _ in rows]
    return f"{_of(row for _, row in rows)} where it was {min(late_ms):.1f} to {max(late_ms):.1f} ms late"


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
    "stopped": _stopped,
    "unfinished": _unfinished,
    "stuck": _stuck,
    "kernel": _kernel,
}
