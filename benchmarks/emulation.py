"""How exact and how fast links are emulated in real time: `python benchmarks/emulation.py`.

Streams, pings and datagrams between two network namespaces with the emulator between them. What can be done at most is
measured in the same run with a program that only reads and writes (`crates/emulator/examples/forward.rs`): compare
ratios, as the machine may be busy with other things.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

from simulation import example, scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mptcplab import _core

    Element = dict[str, Any]

TRAFFIC = str(Path(__file__).parent / "traffic.py")
CLIENT, SERVER = "10.0.1.2", "10.9.0.1"
MS = 1_000_000
# Of 1500 bytes, headers of IPv4 and TCP with time stamps take 52.
GOODPUT = 1448 / 1500
# Of what is possible.
LEAST = 0.8
TIMES = int(os.environ.get("MPTCPLAB_BENCH_TIMES", "3"))
SECONDS = float(os.environ.get("MPTCPLAB_BENCH_SECONDS", "3"))


def main() -> None:
    if os.geteuid() != 0:
        # Who is root among its own.
        unshare = ["unshare", "--user", "--map-root-user", "--net"]
        os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])
    with suppress(PermissionError):
        os.nice(-10)
    print("\nemulation: one stream each, best of", TIMES, "runs; Gbit/s up, down")
    passthrough()
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
    ways: dict[str, Callable[[], tuple[float, float]]] = {
        mode: partial(forwarded, program, mode)
        for mode in ["bare", "bare-offload", "none", "split", "merge"]
    }
    ways |= {"emulator": partial(emulated, []), "delayed": partial(emulated, [delay(20)])}
    # In turns, so that all are disturbed alike; and what disturbs a run only ever slows it down.
    found = dict.fromkeys(ways, (0.0, 0.0))
    for _ in range(TIMES):
        for name, measure in ways.items():
            up, down = measure()
            found[name] = (max(found[name][0], up), max(found[name][1], down))
    show("bare forwarder, MTU-sized packets", found["bare"])
    show("bare forwarder, super-frames", found["bare-offload"])
    show("devices, MTU-sized only", found["none"], found["bare"])
    show("devices, split", found["split"], found["bare"])
    show("devices, split and merged", found["merge"], found["bare-offload"])
    show("emulator, no queue", found["emulator"], found["bare-offload"], goal=10)
    show("emulator, 20 ms each way", found["delayed"], goal=5)


def goodput(mbps: int, bound: float) -> None:
    queue = {"queue": "drop-tail", "bytes": 64 << 20}
    elements: list[Element] = [
        {"element": "rate", "rate": mbps * 1_000_000, "queue": queue},
        delay(5),
    ]
    memory = 4 << 20 if mbps < 1000 else 64 << 20
    ideal = GOODPUT * mbps
    found = [1e3 * gbps for gbps in emulated(elements, memory=memory)]
    errors = [one / ideal - 1 for one in found]
    good = max(abs(error) for error in errors) <= bound
    print(
        f"  {mbps:5} Mbit/s {ideal:10.3f} {found[0]:10.3f} {found[1]:10.3f}   "
        f"{errors[0]:+8.3%} {errors[1]:+8.3%}   {verdict(good, f'within {bound:.1%}')}"
    )


def round_trips() -> None:
    with lab([delay(20)]) as wire:
        found = sorted(wire.run(wire.client, "pings", SERVER, "400", "0.005"))
    mean, p99 = sum(found) / len(found), found[int(len(found) * 0.99)]
    good = len(found) >= 396 and abs(mean - 40) < 0.3 and p99 - 40 < 1
    print(
        f"  round trip of 40 ms: {len(found)} of 400, mean {mean:.3f}, p99 {p99:.3f}, most {found[-1]:.3f} ms   "
        f"{verdict(good, 'mean within 0.3, p99 within 1 ms')}"
    )


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
    times = [(place * 37) % 1000 + 1 for place in range(800)]
    element = {
        "element": "trace",
        "trace": sorted([*times, 1000]),
        "queue": {"queue": "drop-tail", "bytes": 3_000_000},
    }
    with lab([element]) as wire:
        arrived = wire.datagrams(5000, 1200, 1500)
        begun = wire.begun_ns
    # Whole rounds while there was always something to send.
    rounds = [
        sum(begun + second * 10**9 < at - MS / 2 <= begun + (second + 1) * 10**9 for at in arrived)
        for second in range(int((arrived[0] - begun) / 1e9) + 1, int((arrived[-1] - begun) / 1e9))
    ]
    good = bool(rounds) and all(found == 801 for found in rounds)
    print(
        f"  trace of 801 opportunities a second: {', '.join(map(str, rounds))}   {verdict(good, 'exactly')}"
    )


def idle() -> None:
    queue = {"queue": "drop-tail", "bytes": 1 << 20}
    with lab([{"element": "rate", "rate": 100_000_000, "queue": queue}, delay(20)]) as wire:
        before = time.process_time()
        time.sleep(2)
        share = (time.process_time() - before) / 2
        print(f"  idle: {share:.2%}   {verdict(share < 0.005, 'near 0')}")
        shares = []
        for _ in range(TIMES):
            before, begun = time.process_time(), time.monotonic()
            wire.stream(up=False)
            shares.append((time.process_time() - before) / (time.monotonic() - begun))
        share = min(shares)
        print(f"  100 Mbit/s: {share:.1%}   {verdict(share < 0.1, 'below 10 %')}")


class Wire:
    """A client and a server in namespaces of their own."""

    def __init__(self) -> None:
        from mptcplab import _core

        self.client, self.server = _core.Namespace(), _core.Namespace()
        self.begun_ns = 0
        # What passed the ports of the emulator, once it has ended.
        self.passed: dict[str, dict[str, int]] = {}

    def set_up(self, memory: int = 64 << 20) -> None:
        """Once there are devices."""
        for space, address in [(self.client, CLIENT), (self.server, SERVER)]:
            self.shell(
                space,
                f"""ip link set lo up; ip address add {address}/32 dev wifi; ip link set wifi txqueuelen 1000 up
                ip route add default dev wifi
                echo 4096 131072 {memory} > /proc/sys/net/ipv4/tcp_rmem
                echo 4096 65536 {memory} > /proc/sys/net/ipv4/tcp_wmem""",
            )

    def shell(self, space: _core.Namespace, script: str) -> None:
        subprocess.run([*self.enter(space), "sh", "-ec", script], check=True)

    def enter(self, space: _core.Namespace) -> list[str]:
        return ["nsenter", f"--net={path(space)}", "--"]

    def start(self, space: _core.Namespace, *words: str) -> subprocess.Popen[str]:
        command = [*self.enter(space), sys.executable, TRAFFIC, *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def run(self, space: _core.Namespace, *words: str) -> Any:
        with self.start(space, *words) as process:
            return result(process)

    def stream(self, *, up: bool) -> float:
        """Gbit/s that a stream has in the middle of its time."""
        ends = [(self.client, CLIENT), (self.server, SERVER)]
        (sender, local), (receiver, remote) = ends if up else ends[::-1]
        with self.start(receiver, "sink", remote, "1", str(1 + SECONDS)) as sink:
            ready(sink)
            with self.start(sender, "source", local, remote, str(1.5 + SECONDS)) as source:
                found = result(sink)
                result(source)
        return float(found["bytes"] * 8e-9 / found["seconds"])

    def datagrams(self, number: int, per_second: int, size: int) -> list[int]:
        """When those arrived that the client sent."""
        with self.start(self.server, "count", SERVER) as counter:
            ready(counter)
            self.run(self.client, "blast", CLIENT, SERVER, str(number), str(per_second), str(size))
            times: list[int] = result(counter)["times"]
            return times


@contextmanager
def lab(elements: list[Element], memory: int = 64 << 20, seed: int = 1) -> Iterator[Wire]:
    """The emulator with a link of these elements each way."""
    from mptcplab import _core

    plan: dict[str, Any] = scenario(1)
    link = {"uplink": elements, "downlink": elements}
    plan |= {
        "seed": seed,
        "links": {"one": link},
        "paths": [{**plan["paths"][0], "name": "wifi", "link": "one"}],
    }
    wire = Wire()
    ports = [
        (host, "wifi", space.fileno(), "wifi", "")
        for host, space in [("client", wire.client), ("server", wire.server)]
    ]
    emulator = _core.Emulator(
        json.dumps(plan), ports, devices="tun", client_capture=None, server_capture=None
    )
    wire.set_up(memory)
    wire.begun_ns = emulator.start()
    try:
        yield wire
    finally:
        wire.passed = (emulator.stop() or {}).get("ports", {})


def emulated(elements: list[Element], memory: int = 64 << 20) -> tuple[float, float]:
    with lab(elements, memory) as wire:
        return (wire.stream(up=True), wire.stream(up=False))


def forwarded(program: str, mode: str) -> tuple[float, float]:
    wire = Wire()
    words = [mode, path(wire.client), "wifi", path(wire.server), "wifi"]
    with subprocess.Popen(
        [program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        ready(process)
        wire.set_up()
        assert process.stdin is not None
        with closing(process.stdin):
            return (wire.stream(up=True), wire.stream(up=False))


def path(space: _core.Namespace) -> str:
    return f"/proc/{os.getpid()}/fd/{space.fileno()}"


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


def result(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def delay(ms: int) -> Element:
    return {"element": "delay", "delay": ms * MS}


def gilbert_elliott(p: float, r: float) -> Element:
    return {"element": "gilbert-elliott", "p": p, "r": r, "good_loss": 0.0, "bad_loss": 1.0}


def show(
    label: str,
    found: tuple[float, float],
    bare: tuple[float, float] | None = None,
    goal: float = 0,
) -> None:
    line = f"  {label:36} {found[0]:8.2f} {found[1]:8.2f}"
    if bare is not None:
        up, down = found[0] / bare[0], found[1] / bare[1]
        line += f"   {up:6.2f} {down:6.2f} of bare   {verdict(min(up, down) >= LEAST, f'{LEAST}')}"
    if goal:
        line += f"   {verdict(min(found) >= goal, f'{goal} Gbit/s')}"
    print(line, flush=True)


def verdict(good: bool, goal: str) -> str:
    return f"{'ok' if good else 'MISSED'} ({goal})"


if __name__ == "__main__":
    main()
