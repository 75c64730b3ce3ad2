"""Findings over links that are drawn, none of which the matrix has: ``python -m experiments.findings.drawn``.

Provokes each kind over some drawn links, and runs drawn scenarios in which nothing is wrong. A seed draws all of it. Keeps
what was found in ``drawn.json``.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from experiments.findings import views
from experiments.findings.provoked import Case, changed
from experiments.findings.run import ASIDE, cost, gains, recommended
from experiments.findings.scenarios import Table, ask, away, box, event, link, loss, scenario, talk

DRAWN = Path(__file__).parent / "drawn.json"
SEED = 58207
EACH = 4
CLEAN = 36


class Draw:
    """Two links and a download over them."""

    def __init__(self, seed: str) -> None:
        self.of = random.Random(seed)
        self.mbps = self.between(5, 40)
        self.other = self.mbps * self.between(0.4, 1.2)
        self.wifi = self.path(self.mbps, self.between(6, 30))
        self.lte = self.path(self.other, self.between(15, 45))
        self.both: Table = {"wifi": self.wifi, "lte": self.lte}

    def between(self, low: float, high: float) -> float:
        """Draw a number, as likely from each factor."""
        return round(float(low * (high / low) ** self.of.random()), 3)

    def path(self, mbps: float, delay_ms: float) -> Table:
        """Draw a path."""
        queue_ms = round(self.between(50, 110))
        return {
            "rate": f"{mbps:.2f} Mbit/s",
            "delay": f"{delay_ms:.1f} ms",
            "queue": f"{queue_ms} ms",
        }

    def bulk(self, seconds: float, mbps: float | None = None) -> Table:
        """Draw a direction, and what takes so long."""
        direction = self.of.choice(("download", "download", "upload"))
        return self.size(seconds, mbps) | {"direction": direction}

    def size(self, seconds: float, mbps: float | None = None) -> Table:
        """Give a download that takes so long."""
        bytes_ = int((mbps or self.mbps + self.other) * seconds * 125_000)
        return {"direction": "download", "size": f"{bytes_} B"}

    def one(self) -> str:
        """Draw a path's name."""
        return self.of.choice(("wifi", "lte"))


Made = Iterator[Case]


def joins(draw: Draw) -> Made:
    """Handshakes and joins that fail."""
    segments = draw.of.choice(("syn", "syn-ack", "all"))
    whole = scenario(draw.size(6), **draw.both)
    bare = scenario(
        draw.size(6), wifi=box(draw.wifi, "strip-options", segments=segments), lte=draw.lte
    )
    yield Case("stripped", bare)
    yield Case("never_began", bare, view=views.client)
    single = scenario(draw.size(6), mptcp={"path_manager": "single"}, **draw.both)
    yield Case("no_second_path", single, whole)
    for kind, other in (
        ("join_unanswered", box(draw.lte, "firewall", joins=False)),
        (
            "join_refused",
            box(draw.lte, "strip-options", segments=draw.of.choice(("syn", "syn-ack"))),
        ),
    ):
        yield Case(kind, scenario(draw.size(6), wifi=draw.wifi, lte=other))
    at_s = draw.between(2, 5)
    late = draw.size(14)
    came = [event(at_s, "lte", "attach")]
    there = scenario(late, wifi=draw.wifi, lte=draw.lte)
    waits = scenario(late, wifi=draw.wifi, lte=draw.lte | {"attached": False}, timeline=came)
    yield Case("join_late", waits, there)
    until_s = draw.between(0.8, 4)
    lost = scenario(draw.bulk(6), timeline=away("wifi", 0, until_s), **draw.both)
    yield Case("handshake_lost", lost, scenario(draw.bulk(6), **draw.both))
    plain = {"enabled": False}
    alone = draw.size(6, draw.mbps)
    lost = scenario(alone, timeline=away("wifi", 0, until_s), mptcp=plain, wifi=draw.wifi)
    yield Case("handshake_lost", lost, scenario(alone, mptcp=plain, wifi=draw.wifi))


def outages(draw: Draw) -> Made:
    """Paths that are dead for a while, or hold all up."""
    from_s, for_s, bulk = draw.between(1.5, 4), draw.between(1.2, 5), draw.bulk(9)
    dead = away(draw.one(), from_s, from_s + for_s)
    yield Case("path_dead", scenario(bulk, timeline=dead, **draw.both), scenario(bulk, **draw.both))
    path = draw.one()
    gone = [event(from_s, path, "detach"), event(from_s + for_s, path, "attach")]
    yield Case("path_dead", scenario(bulk, timeline=gone, **draw.both), scenario(bulk, **draw.both))
    alone = draw.bulk(7, draw.mbps)
    dead = away("wifi", from_s, from_s + for_s)
    without = scenario(alone, wifi=draw.wifi)
    yield Case("timeout_chain", scenario(alone, timeline=dead, wifi=draw.wifi), without)
    all_dead = [*dead, *away("lte", from_s, from_s + for_s)]
    without = scenario(bulk, **draw.both)
    yield Case("timeout_chain", scenario(bulk, timeline=all_dead, **draw.both), without)
    held = away("wifi", from_s, from_s + draw.between(0.8, 3), "hold")
    yield Case("spurious_timeouts", scenario(alone, timeline=held, wifi=draw.wifi))
    path = draw.one()
    held = away(path, from_s, from_s + draw.between(0.8, 3), "hold")
    yield Case("spurious_timeouts", scenario(bulk, timeline=held, **draw.both))


def slow(draw: Draw) -> Made:
    """Paths that become slower, or that slow start does not fill."""
    long, part = draw.size(12, draw.mbps), draw.between(0.1, 0.4)
    small = draw.path(draw.mbps * part, draw.between(6, 30))
    falls = event(draw.between(2, 4), "wifi", "profile") | link(
        small["rate"], small["delay"], small["queue"]
    )
    wifi = draw.wifi
    rises = event(draw.between(7, 10), "wifi", "profile") | link(
        wifi["rate"], wifi["delay"], wifi["queue"]
    )
    back = [falls, rises]
    alone = scenario(long, wifi=draw.wifi)
    yield Case("path_slowed", scenario(long, timeline=back, wifi=draw.wifi), alone)
    taken = {
        "kind": "udp",
        "link": "wifi",
        "rate": f"{draw.mbps * draw.between(0.6, 0.85):.2f} Mbit/s",
        "start": f"{draw.between(2, 4)} s",
        "stop": f"{draw.between(8, 10)} s",
    }
    bulk = draw.size(12)
    shared = scenario(bulk, **draw.both)
    yield Case("path_slowed", shared | {"cross_traffic": [taken]}, shared)
    far: Table = {
        "rate": f"{draw.between(15, 60)} Mbit/s",
        "delay": f"{draw.between(30, 60)} ms",
        "queue": f"{draw.of.randint(8, 12)} packets",
    }
    much, plain = {"direction": "download", "size": "15 MB"}, {"enabled": False}
    calm = scenario(much, mptcp=plain, wifi=far | {"queue": "150 ms"})
    yield Case("slow_start_loss", scenario(much, mptcp=plain, wifi=far), calm)
    mbps, delay_ms = draw.between(20, 70), draw.between(60, 120)
    path = {"rate": f"{mbps} Mbit/s", "delay": f"{delay_ms} ms", "queue": "400 ms"}
    further = link(f"{mbps} Mbit/s", f"{delay_ms + 15:.3f} ms", "400 ms")
    moved = {
        "at": f"{delay_ms * 0.007:.3f} s",
        "path": "wifi",
        "verb": "profile",
        "link": "further",
    }
    size = draw.size(8, mbps)
    early = scenario(size, timeline=[moved], wifi=path) | {"link": {"further": further}}
    yield Case("slow_start_early", early, early | {"tcp": {"slow_start": "standard"}})


def windows(draw: Draw) -> Made:
    """Windows, queues, schedulers and applications that limit."""
    far = draw.both | {"lte": draw.lte | {"delay": f"{draw.between(50, 100)} ms"}}
    far["wifi"] = draw.wifi | {"delay": f"{draw.between(50, 100)} ms"}
    bytes_ = int((draw.mbps + draw.other) * 125_000 * 0.1 * draw.between(0.15, 0.4))
    window = {"receive_buffer": f"{bytes_} B", "receive_buffer_tuning": False}
    one = draw.size(5)
    yield Case("receive_window", scenario(one, tcp=window, **far), scenario(one, **far))
    small = {"send_buffer": f"{bytes_} B"}
    lone: Table = {"wifi": far["wifi"]}
    less = draw.size(5, draw.mbps)
    few = scenario(less, tcp=small, **lone)
    yield Case("send_buffer", few, scenario(less, **lone), views.beside)
    asked = ask(think=f"{draw.between(0.6, 4)} s", response=f"{draw.of.randint(100, 900)} kB")
    yield Case(
        "application", scenario(asked, **draw.both), scenario(asked | {"think": "0 s"}, **draw.both)
    )
    long = draw.lte | {"queue": f"{draw.between(600, 3000):.0f} ms"}
    yield Case("bufferbloat", scenario(draw.size(9), wifi=draw.wifi, lte=long))
    window = {"receive_buffer": "300 kB", "receive_buffer_tuning": False}
    slow = draw.path(draw.mbps / draw.between(8, 15), draw.between(100, 200)) | {"queue": "2 s"}
    turns = {"scheduler": "round-robin"}
    held = scenario(draw.size(5), wifi=draw.wifi, lte=slow, mptcp=turns, tcp=window)
    yield Case("head_of_line", held, scenario(draw.size(5), tcp=window, wifi=draw.wifi))
    plain = scenario(draw.size(5), wifi=draw.wifi, mptcp={"enabled": False}, tcp=window)
    yield Case("slower_than_single", held, plain, views.beside)
    twice = scenario(draw.size(6), mptcp={"scheduler": "redundant"}, **draw.both)
    yield Case("reinjection_waste", twice, scenario(draw.size(6), **draw.both))
    third = draw.both | {"dsl": draw.path(draw.mbps, draw.between(8, 20))}
    three = scenario(draw.size(12), **third)
    yield Case("path_left_out", three | {"mptcp": {"max_subflows": 1}}, three, views.beside)


def losses(draw: Draw) -> Made:
    """Losses of each pattern."""
    percent, bulk = draw.between(0.8, 5), draw.bulk(8)
    lossy = scenario(bulk, wifi=draw.wifi | {"loss": f"{percent} %"}, lte=draw.lte)
    yield Case("losses_random", lossy, scenario(bulk, **draw.both))
    burst = loss(draw.wifi, p=f"{draw.between(0.2, 0.5)} %", r=f"{draw.between(8, 14)} %")
    yield Case(
        "losses_bursts", scenario(bulk, wifi=burst, lte=draw.lte), scenario(bulk, **draw.both)
    )
    # So few packets that it overflows often: longer ones lose less than 2 %, which is how TCP finds the rate.
    mbps = draw.between(0.6, 1.5)
    tight = draw.path(mbps, draw.between(8, 20)) | {"queue": f"{draw.of.randint(25, 45)} ms"}
    yield Case("losses_queue", scenario(draw.size(24, mbps), wifi=tight))
    few = draw.wifi | {
        "delay": f"{draw.between(10, 30)} ms",
        "queue": f"{draw.of.randint(3, 5)} packets",
    }
    yield Case("losses_unclear", scenario(draw.size(9, draw.mbps), wifi=few))
    brief = ask(response=f"{draw.of.randint(300, 1300)} B", think="0 s", requests=80)
    near = draw.wifi | {"delay": f"{draw.between(20, 60)} ms"}
    lost = near | {"loss": f"{draw.between(3, 6)} %"}
    yield Case("tail_losses", scenario(brief, wifi=lost), scenario(brief, wifi=near))


def boxes(draw: Draw) -> Made:
    """Middleboxes, backups, and what is no fault."""
    bulk = draw.size(7)
    bare = box(draw.wifi, "strip-options", segments="data")
    yield Case("fallback", scenario(bulk, wifi=bare, lte=draw.lte))
    altered = scenario(bulk, mptcp={"checksum": True}, wifi=changed(draw.wifi), lte=draw.lte)
    yield Case("checksum", altered)
    narrow = box(draw.lte, "mtu", bytes=f"{draw.of.randint(1000, 1400)} B", answer="silent")
    yield Case("large_segments_lost", scenario(bulk, wifi=draw.wifi, lte=narrow))
    mss = box(draw.wifi, "clamp-mss", bytes=f"{draw.of.randint(900, 1300)} B")
    yield Case("mss_clamped", scenario(bulk, wifi=mss, lte=draw.lte))
    window = box(draw.wifi, "clamp-window", bytes=f"{draw.of.randint(15, 60)} kB")
    yield Case("window_clamped", scenario(bulk, wifi=window, lte=draw.lte))
    yield Case("split_connection", scenario(bulk, lte=box(draw.lte, "proxy")))
    little = {"direction": "download", "size": f"{draw.of.randint(15, 60)} kB"}
    yield Case("short_transfer", scenario(little, **draw.both))
    unanswered = box(draw.lte, "firewall", joins=False)
    yield Case("short_transfer", scenario(little, wifi=draw.wifi, lte=unanswered))
    idle = ask(think=f"{draw.between(7, 20)} s", requests=3)
    yield Case("forgotten", scenario(idle, wifi=box(draw.wifi, "nat", idle="5 s"), lte=draw.lte))
    spare: Table = {"wifi": draw.wifi, "lte": draw.lte | {"backup": True}}
    from_s = draw.between(1.5, 3)
    gone = away("wifi", from_s, from_s + draw.between(3, 6))
    late = {"reinjection": "subflow-timeout", "stale_timeouts": 12}
    yield Case(
        "backup_unused", scenario(draw.size(10, draw.mbps), timeline=gone, mptcp=late, **spare)
    )
    first = box(draw.lte | {"backup": True}, "strip-options", option="mp-prio")
    came = [event(draw.between(0.1, 0.5), "wifi", "attach")]
    used = scenario(draw.size(8), lte=first, wifi=draw.wifi | {"attached": False}, timeline=came)
    yield Case("backup_used", used)
    view = draw.of.choice((views.every_thirtieth_missing, views.wifi_alone))
    yield Case("capture_unfit", scenario(draw.size(8), **draw.both), view=view)


FAMILIES: tuple[Callable[[Draw], Made], ...] = (joins, outages, slow, windows, losses, boxes)


def provoked() -> Iterator[Case]:
    """Give each kind over as many drawn links."""
    for family in FAMILIES:
        for number in range(EACH):
            yield from family(Draw(f"{SEED}:{family.__name__}:{number}"))


def silent() -> Iterator[tuple[str, Table]]:
    """Give scenarios in which nothing is wrong."""
    for number in range(CLEAN):
        draw = Draw(f"{SEED}:silent:{number}")
        yield "clean", scenario(draw.bulk(8), **draw.both)
        alone: Table = {"wifi": draw.path(draw.mbps, draw.between(4, 80))}
        yield "alone", scenario(draw.bulk(8, draw.mbps), mptcp={"enabled": False}, **alone)
        percent = f"{draw.between(0.005, 0.05)} %"
        yield "lossy", scenario(draw.bulk(8), wifi=draw.wifi | {"loss": percent}, lte=draw.lte)
        jitter = f"{draw.between(0.5, 5)} ms"
        moved = {name: path | {"jitter": jitter} for name, path in draw.both.items()}
        yield "jittery", scenario(draw.bulk(8), **moved)
        response = f"{draw.of.randint(40, 900)} kB"
        asking = ask(response=response, think=f"{draw.of.randint(5, 60)} ms", requests=12)
        yield "asking", scenario(asking, **draw.both)
        rate = f"{draw.mbps * draw.between(0.05, 0.5):.2f} Mbit/s"
        yield "steady", scenario(talk(rate, "10 s", f"{draw.of.randint(300, 1300)} B"), **draw.both)
        yield (
            "brief",
            scenario(
                {"direction": "download", "size": f"{draw.of.randint(100, 1500)} kB"}, **draw.both
            ),
        )
        scheduler = draw.of.choice(("lowest-rtt", "blest", "ecf"))
        control = draw.of.choice(("lia", "olia", "balia", "reno", "cubic"))
        policies = {"scheduler": scheduler, "congestion_control": control}
        yield "policies", scenario(draw.bulk(8), mptcp=policies, **draw.both)
        # Others share a path from before its beginning to after its end.
        flows = {
            "kind": "tcp",
            "flows": draw.of.randint(1, 4),
            "link": "wifi",
            "start": "0 s",
            "stop": "120 s",
        }
        yield "shared", scenario(draw.bulk(10), **draw.both) | {"cross_traffic": [flows]}


def provoke(number: int) -> dict[str, Any]:
    """Run a scenario that provokes a kind, without the fault, and with the remedy."""
    case = list(provoked())[number]
    result = recommended(case.table, SEED + number, view=case.view)
    result["true_cost_s"] = cost(result["elapsed_s"], case.without, seed=SEED + number)
    tried = gains(case.table, result, seed=SEED + number)
    result = {key: value for key, value in result.items() if key not in ASIDE}
    result |= {"tried": tried} if tried else {}
    return {"provokes": True, "name": case.kind, "seed": SEED + number, **result}


def leave(number: int) -> dict[str, Any]:
    """Run a scenario in which nothing is wrong; of what is found, try the remedies."""
    name, table = list(silent())[number]
    seed = SEED + number
    result = recommended(table, seed)
    known = {key: value for key, value in result.items() if key not in ASIDE}
    row = {"provokes": False, "name": name, "seed": seed, **known}
    tried = gains(table, result, seed)
    return row | ({"tried": tried} if tried else {})


def main() -> None:
    """Run all of them, or the kinds that are named."""
    named = set(sys.argv[1:])
    jobs: list[tuple[Callable[[int], dict[str, Any]], int]] = []
    jobs += [(provoke, n) for n, case in enumerate(provoked()) if not named or case.kind in named]
    jobs += [(leave, n) for n, (name, _) in enumerate(silent()) if not named or name in named]
    rows = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(make, number) for make, number in jobs]
        for future in futures:
            rows.append(future.result())
            print(*rows[-1].values(), file=sys.stderr, flush=True)
    if not named:
        lines = ",\n".join(json.dumps(row) for row in rows)
        DRAWN.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
