"""How exact and how fast links are emulated in real time: `python benchmarks/emulation.py`.

Streams, pings and datagrams between two network namespaces with the emulator between them. What can be done at most is
measured in the same run with a program that only reads and writes (`crates/emulator/examples/forward.rs`), and so is
Mahimahi, where it is installed: compare ratios, as the machine may be busy with other things.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import pairwise
from statistics import mean, median

import mahimahi
from pauses import Pauses
from simulation import example, scenario
from wire import SERVER, Wire, path, ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Element = dict[str, Any]

MS = 1_000_000
SECOND = 1000 * MS
# Of 1500 bytes, headers of IPv4 and TCP with time stamps take 52.
GOODPUT = 1448 / 1500
# Of what is possible.
LEAST = 0.8
# How long the emulator of a link of 20 ms may rest.
WAKE_MS = 0.5
TIMES = int(os.environ.get("MPTCPLAB_BENCH_TIMES", "5"))
OBSTACLE = mahimahi.obstacle()
PINGS = 1000
# So many must have met no pause of the machine, or nothing is said of the emulator.
LEAST_PINGS, LEAST_SECONDS = 100, 3
UNKNOWN = "not known: the machine stood still too often"


def main() -> None:
    if os.geteuid() != 0:
        # Who is root among its own.
        unshare = ["unshare", "--user", "--map-root-user", "--net"]
        os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])
    with suppress(PermissionError):
        os.nice(-10)
    print("\nemulation: one stream each, in", TIMES, "turns; Gbit/s up, down")
    passthrough()
    if OBSTACLE:
        print(f"\nMahimahi: not run, as {OBSTACLE}")
    print("\ngoodput of TCP, Mbit/s: ideal, found up and down")
    for mbps, bound in [(12, 0.002), (100, 0.002), (1000, 0.01)]:
        goodput(mbps, bound)
    print("\naccuracy")
    round_trips()
    losses()
    trace()
    print("\nprocessor time of the emulator, % of a core")
    idle()


def passthrough() -> None:
    program = example("emulator", "forward")
    measures: dict[str, Callable[[], tuple[float, float]]] = {
        mode: partial(forwarded, program, mode)
        for mode in ["bare", "bare-offload", "none", "split", "merge"]
    }
    measures |= {"emulator": partial(emulated, []), "delayed": partial(emulated, [delay(20)])}
    # In turns, so that all are disturbed alike; and what disturbs a run only ever slows it down.
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in measures}
    for _ in range(TIMES):
        for name, measure in measures.items():
            found[name].append(measure())
    show("bare forwarder, MTU-sized packets", found["bare"])
    show("bare forwarder, super-frames", found["bare-offload"])
    show("devices, MTU-sized only", found["none"], found["bare"])
    show("devices, split", found["split"], found["bare"])
    show("devices, split and merged", found["merge"], found["bare-offload"])
    show("emulator, no queue", found["emulator"], found["bare-offload"], goal=10)
    show("emulator, 20 ms each way", found["delayed"], goal=5)


def goodput(mbps: int, bound: float) -> None:
    queue_bytes = 64 << 20
    elements = [rate(mbps, queue_bytes), delay(5)]
    memory = 4 << 20 if mbps < 1000 else 64 << 20
    ideal = GOODPUT * mbps
    show_goodput(f"{mbps:5} Mbit/s", ideal, emulated(elements, memory), bound)
    if not OBSTACLE:
        with mahimahi.shells(5, mbps, queue_bytes, memory) as (wire, _):
            show_goodput("Mahimahi", ideal, wire.both_directions())


def show_goodput(
    label: str, ideal: float, gbps: tuple[float, float], bound: float | None = None
) -> None:
    up, down = (1e3 * one for one in gbps)
    errors = (up / ideal - 1, down / ideal - 1)
    line = (
        f"  {label:>12} {ideal:10.3f} {up:10.3f} {down:10.3f}   {errors[0]:+8.3%} {errors[1]:+8.3%}"
    )
    if bound is not None:
        line += f"   {verdict(max(map(abs, errors)) <= bound, f'within {bound:.1%}')}"
    print(line, flush=True)


def round_trips() -> None:
    with lab([delay(20)]) as wire:
        all_, undisturbed = pings(wire)
    said = UNKNOWN
    if len(undisturbed) >= LEAST_PINGS:
        good = (
            len(all_) >= 0.99 * PINGS
            and abs(mean(undisturbed) - 40) < 0.3
            and p99(undisturbed) - 40 < 1
        )
        said = verdict(good, "mean within 0.3, p99 within 1 ms")
    print(f"  round trip of 40 ms: {distribution(all_)}")
    print(f"    where the machine did not stand still: {distribution(undisturbed)}   {said}")
    if not OBSTACLE:
        with mahimahi.shells(20) as (wire, _):
            all_, undisturbed = pings(wire)
        print(f"    Mahimahi: {distribution(all_)}")
        print(f"      where the machine did not stand still: {distribution(undisturbed)}")


def pings(wire: Wire) -> tuple[list[float], list[float]]:
    """All round trips in milliseconds, and those during which the machine did not stand still."""
    with Pauses() as pauses:
        times = wire.run(wire.client, "pings", SERVER, str(PINGS), "0.005")
    undisturbed = [pair for pair in times if not pauses.between(*pair)]
    return in_ms(times), in_ms(undisturbed)


def in_ms(times: list[tuple[int, int]]) -> list[float]:
    return sorted((came - sent) / MS for sent, came in times)


def distribution(found: list[float]) -> str:
    if not found:
        return f"0 of {PINGS}"
    return f"{len(found)} of {PINGS}, mean {mean(found):.3f}, p99 {p99(found):.3f}, most {found[-1]:.3f} ms"


def p99(found: list[float]) -> float:
    return found[int(len(found) * 0.99)]


def losses() -> None:
    for label, element, share, inflation in [
        ("loss of 2 %", {"element": "loss", "ratio": 0.02}, 0.02, 1.0),
        # Bursts: states follow each other with the correlation 1 - p - r.
        ("Gilbert-Elliott, p 1 %, r 20 %", gilbert_elliott(0.01, 0.2), 0.01 / 0.21, 1.79 / 0.21),
    ]:
        number = left = 0
        for seed in range(1, 5):
            with lab([element], seed=seed) as wire:
                wire.datagrams(50_000, 20_000, 100)
            # What the hosts themselves had no time for is not the link's.
            entered = wire.passed["client:wifi"]
            number += entered["received"] - entered["local"]
            left += wire.passed["server:wifi"]["sent"]
        lost = 1 - left / number
        margin = 2.58 * math.sqrt(share * (1 - share) / number * inflation)
        good = abs(lost - share) <= margin
        print(
            f"  {label}: {lost:.3%} of {number} lost, {share:.3%} expected   "
            f"{verdict(good, f'within {margin:.3%}, 99 % confidence')}"
        )


def trace() -> None:
    """More than a trace lets pass: what arrives in a time is what it says."""
    times = [(number * 37) % 1000 + 1 for number in range(800)]
    element = {
        "element": "trace",
        "trace": sorted([*times, 1000]),
        "queue": {"queue": "drop-tail", "bytes": 3_000_000},
    }
    with lab([element]) as wire, Pauses() as pauses:
        arrived = wire.datagrams(10_000, 1200, 1500)
        begun = wire.begun_ns
    # Whole rounds while there was always something to send. They end between two opportunities.
    ends = [
        begun + second * SECOND + MS // 2
        for second in range((arrived[0] - begun) // SECOND + 1, (arrived[-1] - begun) // SECOND + 1)
    ]
    counts, undisturbed = [], []
    for first, last in pairwise(ends):
        count = sum(first < at <= last for at in arrived)
        # What stands still where one ends has it end elsewhere.
        disturbed = any(pauses.between(end - MS, end + MS) for end in (first, last))
        counts.append(f"({count})" if disturbed else str(count))
        undisturbed += [] if disturbed else [count]
    said = verdict(all(count == 801 for count in undisturbed), "exactly")
    enough = len(undisturbed) >= LEAST_SECONDS
    print(
        f"  trace of 801 opportunities a second: {', '.join(counts)}   {said if enough else UNKNOWN}"
    )
    print("    (in brackets where the machine stood still at one end of the second)")


def idle() -> None:
    mbps, queue_bytes = 100, 1 << 20
    with lab([rate(mbps, queue_bytes), delay(20)]) as wire:
        resting, busy = shares(wire, time.process_time)
    print(f"  idle: {resting:.2%}   {verdict(resting < 0.005, 'near 0')}")
    print(f"  100 Mbit/s: {busy:.1%}   {verdict(busy < 0.1, 'below 10 %')}")
    print(
        f"    a thread that only wakes every {WAKE_MS} ms, as the emulator may then: {waking():.1%}"
    )
    if not OBSTACLE:
        with mahimahi.shells(20, mbps, queue_bytes) as (wire, clock):
            resting, busy = shares(wire, clock)
        print(f"    Mahimahi: idle {resting:.2%}, 100 Mbit/s {busy:.1%}")


def shares(wire: Wire, clock: Callable[[], float]) -> tuple[float, float]:
    """Of a core, at rest and at least while a stream goes down."""
    found = []
    for use in [partial(time.sleep, 2)] + TIMES * [partial(wire.stream, up=False)]:
        before, begun = clock(), time.monotonic()
        use()
        found.append((clock() - before) / (time.monotonic() - begun))
    return found[0], min(found[1:])


def waking() -> float:
    """Of a core: what the machine takes for waking a thread, least of some runs."""
    found = []
    for _ in range(TIMES):
        before, begun = time.process_time(), time.monotonic()
        while time.monotonic() - begun < 1:
            time.sleep(WAKE_MS / 1e3)
        found.append((time.process_time() - before) / (time.monotonic() - begun))
    return min(found)


@contextmanager
def lab(elements: list[Element], memory: int = 64 << 20, seed: int = 1) -> Iterator[Wire]:
    """The emulator with a link of these elements each way."""
    from mptcplab import _core

    plan = scenario(1)
    link = {"uplink": elements, "downlink": elements}
    plan |= {
        "seed": seed,
        "links": {"one": link},
        "paths": [{**plan["paths"][0], "name": "wifi", "link": "one"}],
    }
    wire = Wire(_core.Namespace(), _core.Namespace())
    ports = [
        (host, "wifi", space.fileno(), "wifi", "")
        for host, space in [("client", wire.client), ("server", wire.server)]
    ]
    emulator = _core.Emulator(
        _core.Plan(plan), ports, devices="tun", client_capture=None, server_capture=None
    )
    wire.set_up(memory)
    wire.begun_ns = emulator.start()
    try:
        yield wire
    finally:
        wire.passed = (emulator.stop() or {}).get("ports", {})


def emulated(elements: list[Element], memory: int = 64 << 20) -> tuple[float, float]:
    with lab(elements, memory) as wire:
        return wire.both_directions()


def forwarded(program: str, mode: str) -> tuple[float, float]:
    from mptcplab import _core

    wire = Wire(_core.Namespace(), _core.Namespace())
    arguments = [mode, path(wire.client), "wifi", path(wire.server), "wifi"]
    with subprocess.Popen(
        [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        ready(process)
        wire.set_up()
        assert process.stdin is not None
        with closing(process.stdin):
            return wire.both_directions()


def rate(mbps: int, queue_bytes: int) -> Element:
    queue = {"queue": "drop-tail", "bytes": queue_bytes}
    return {"element": "rate", "rate": mbps * 1_000_000, "queue": queue}


def delay(ms: int) -> Element:
    return {"element": "delay", "delay": ms * MS}


def gilbert_elliott(p: float, r: float) -> Element:
    return {"element": "gilbert-elliott", "p": p, "r": r, "good_loss": 0.0, "bad_loss": 1.0}


def show(
    label: str,
    found: list[tuple[float, float]],
    bare: list[tuple[float, float]] | None = None,
    goal: float = 0,
) -> None:
    """The best of all turns; of ratios within a turn the median."""
    best = [max(direction) for direction in zip(*found, strict=True)]
    line = f"  {label:36} {best[0]:8.2f} {best[1]:8.2f}"
    if bare is not None:
        turns = zip(found, bare, strict=True)
        ratios = [[one / other for one, other in zip(*turn, strict=True)] for turn in turns]
        up, down = (median(direction) for direction in zip(*ratios, strict=True))
        line += f"   {up:6.2f} {down:6.2f} of bare   {verdict(min(up, down) >= LEAST, f'{LEAST}')}"
    if goal:
        line += f"   {verdict(min(best) >= goal, f'{goal} Gbit/s')}"
    print(line, flush=True)


def verdict(good: bool, goal: str) -> str:
    return f"{'ok' if good else 'MISSED'} ({goal})"


if __name__ == "__main__":
    main()
