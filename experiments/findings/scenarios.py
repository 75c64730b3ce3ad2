"""Scenarios that provoke each kind of finding, and scenarios in which nothing is wrong.

A scenario is a table, as ``mptcplab.run`` takes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Table = dict[str, Any]

WIFI: Table = {"rate": "20 Mbit/s", "delay": "12 ms", "queue": "60 ms"}
LTE: Table = {"rate": "12 Mbit/s", "delay": "25 ms", "queue": "100 ms"}
BULK: Table = {"direction": "download", "size": "12 MB"}


def scenario(
    transfer: Table | None = None,
    *,
    timeline: list[Table] | None = None,
    mptcp: Table | None = None,
    tcp: Table | None = None,
    **paths: Table,
) -> Table:
    """Make a table of a scenario; without paths it has both."""
    return {
        "schema": 1,
        "transfer": transfer or BULK,
        "path": paths or {"wifi": WIFI, "lte": LTE},
        "mptcp": mptcp or {},
        "tcp": tcp or {},
        "timeline": timeline or [],
    }


def event(at_s: float, path: str, verb: str) -> Table:
    """Make an event of the timeline."""
    return {"at": f"{at_s} s", "path": path, "verb": verb}


def box(path: Table, element: str, **settings: Any) -> Table:
    """Put a box on a path."""
    return path | {"middleboxes": [{"element": element, **settings}]}


def away(path: str, from_s: float, to_s: float, verb: str = "blackout") -> list[Table]:
    """Take a path away for a time."""
    return [event(from_s, path, verb), event(to_s, path, "restore")]


def loss(path: Table, **burst: Any) -> Table:
    """Give a path losses that come in bursts."""
    return path | {"middleboxes": [{"element": "gilbert-elliott", **burst}]}


SMALL_WINDOW = {"receive_buffer": "300 kB", "receive_buffer_tuning": False}
TINY_WINDOW = {"receive_buffer": "64 kB", "receive_buffer_tuning": False}
ASK: Table = {
    "application": "request-response",
    "direction": "download",
    "request": "300 B",
    "response": "400 kB",
    "requests": 8,
    "think": "1 s",
}


def link(rate: str, delay: str, queue: str) -> Table:
    """Make a link of its own, which a path can become."""
    elements: list[Table] = [
        {"element": "rate", "rate": rate, "queue": {"queue": "drop-tail", "delay": queue}},
        {"element": "delay", "delay": delay},
    ]
    return {"uplink": elements, "downlink": elements}


def talk(rate: str, duration: str = "12 s", message: str = "1 kB") -> Table:
    """Send messages at equal distances."""
    return {
        "application": "constant-bit-rate",
        "direction": "download",
        "rate": rate,
        "message": message,
        "duration": duration,
    }


def ask(**changes: Any) -> Table:
    """Ask for responses, one after the other."""
    return ASK | changes


#: A kind of finding, a scenario that provokes it, and the same without the fault; none where the fault is no
#: loss of time, or where the finding never claims a cost.
Case = tuple[str, Table, Table | None]


def provoked() -> Iterator[Case]:
    """Give kinds of findings, each with scenarios that provoke it."""
    for segments in ("syn", "syn-ack", "all"):
        yield (
            "stripped",
            scenario(wifi=box(WIFI, "strip-options", segments=segments), lte=LTE),
            None,
        )
    for size in ("6 MB", "12 MB", "24 MB"):
        one = BULK | {"size": size}
        yield "no_second_path", scenario(one, mptcp={"path_manager": "single"}), scenario(one)
    for number, other in enumerate((LTE, LTE | {"delay": "60 ms"}, LTE | {"rate": "30 Mbit/s"})):
        both = scenario(wifi=WIFI, lte=other)
        yield "join_unanswered", scenario(wifi=WIFI, lte=box(other, "firewall", joins=False)), both
        strip = {"segments": ("syn", "syn-ack", "syn")[number]}
        yield "join_refused", scenario(wifi=WIFI, lte=box(other, "strip-options", **strip)), both
    for attached_s in (4, 6, 8):
        there = LTE | {"rate": "20 Mbit/s"}
        came = [{"at": f"{attached_s} s", "path": "lte", "verb": "attach"}]
        long = BULK | {"size": "40 MB"}
        late = scenario(long, wifi=WIFI, lte=there | {"attached": False}, timeline=came)
        yield "join_late", late, scenario(long, wifi=WIFI, lte=there)
    yield from _outages()
    yield from _held()
    yield from _backups()
    yield from _early()
    for send_buffer in ("200 kB", "500 kB", "4 MB"):
        apart: Table = {"wifi": WIFI, "lte": LTE | {"delay": "120 ms"}}
        starved = scenario(mptcp={"scheduler": "ecf"}, tcp={"send_buffer": send_buffer}, **apart)
        yield "capacity_unused", starved, None
    far: Table = {"wifi": WIFI | {"delay": "80 ms"}, "lte": LTE | {"delay": "80 ms"}}
    for buffer in (TINY_WINDOW, TINY_WINDOW | {"receive_buffer": "96 kB"}, SMALL_WINDOW):
        yield (
            "receive_window",
            scenario(tcp=buffer, wifi=far["wifi"], lte=far["lte"]),
            scenario(wifi=far["wifi"], lte=far["lte"]),
        )
    for asked in (ASK, ask(think="3 s", response="1 MB"), ask(think="500 ms", requests=20)):
        yield "application", scenario(asked), scenario(asked | {"think": "0 s"})
    yield "application", scenario(talk("200 kbit/s", message="5 kB")), None
    for queue in ("800 ms", "1500 ms", "3 s"):
        yield "bufferbloat", scenario(wifi=WIFI, lte=LTE | {"queue": queue}), scenario()
    for rate in ("2 Mbit/s", "1 Mbit/s", "3 Mbit/s"):
        slow = LTE | {"rate": rate, "delay": "150 ms", "queue": "2 s"}
        turns = scenario(wifi=WIFI, lte=slow, mptcp={"scheduler": "round-robin"}, tcp=SMALL_WINDOW)
        yield "head_of_line", turns, scenario(tcp=SMALL_WINDOW, wifi=WIFI)
    for size in ("12 MB", "6 MB", "24 MB"):
        one = BULK | {"size": size}
        yield "reinjection_waste", scenario(one, mptcp={"scheduler": "redundant"}), scenario(one)
    for percent in ("2 %", "3 %", "5 %"):
        yield "losses_random", scenario(wifi=WIFI | {"loss": percent}, lte=LTE), scenario()
        burst = loss(WIFI, p="0.3 %", r={"2 %": "15 %", "3 %": "12 %", "5 %": "10 %"}[percent])
        yield "losses_bursts", scenario(wifi=burst, lte=LTE), scenario()
    for queue in ("25 ms", "30 ms", "40 ms", "50 ms"):
        tight: Table = {"wifi": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": queue}}
        yield "losses_queue", scenario(BULK | {"size": "3 MB"}, **tight), None
    # Queues that are short beside the round trip.
    for short_rate, delay, queue in (
        ("5 Mbit/s", "25 ms", "15 ms"),
        ("5 Mbit/s", "60 ms", "25 ms"),
    ):
        short: Table = {"wifi": {"rate": short_rate, "delay": delay, "queue": queue}}
        bbr = {"congestion_control": "bbr"}
        yield "losses_queue", scenario(BULK | {"size": "10 MB"}, mptcp=bbr, **short), None
    for size in ("6 MB", "12 MB", "24 MB"):
        bare = box(WIFI, "strip-options", segments="data")
        yield "fallback", scenario(BULK | {"size": size}, wifi=bare, lte=LTE), None
        checked = {"checksum": True}
        one = scenario(BULK | {"size": size}, mptcp=checked, wifi=changed(WIFI), lte=LTE)
        yield "checksum", one, None
    for mss in ("1000 B", "1200 B", "1300 B"):
        yield "mss_clamped", scenario(wifi=box(WIFI, "clamp-mss", bytes=mss), lte=LTE), scenario()
    for window in ("20 kB", "40 kB", "60 kB"):
        clamped = box(WIFI, "clamp-window", bytes=window)
        yield "window_clamped", scenario(wifi=clamped, lte=LTE), scenario()
    for rate in ("20 Mbit/s", "10 Mbit/s", "40 Mbit/s"):
        yield "split_connection", scenario(lte=box(LTE | {"rate": rate}, "proxy")), None
    for size in ("20 kB", "40 kB", "60 kB"):
        yield "short_transfer", scenario(BULK | {"size": size}), None
    for think in ("8 s", "12 s", "20 s"):
        nat = box(WIFI, "nat", idle="5 s")
        yield "forgotten", scenario(ask(think=think, requests=3), wifi=nat), None


def changed(path: Table) -> Table:
    """Put a box on a path that changes payload."""
    return box(path, "alter-payload", every=40)


def _outages() -> Iterator[Case]:
    for from_s in (1.5, 2, 1):
        # Had the host been told, nothing would have waited for what was on the path.
        told = [event(from_s, "wifi", "detach")]
        dead = scenario(timeline=[event(from_s, "wifi", "blackout")], tcp=SMALL_WINDOW)
        yield "path_dead", dead, scenario(timeline=told, tcp=SMALL_WINDOW)
        gone = away("wifi", from_s, from_s + 4)
        yield "timeout_chain", scenario(timeline=gone, wifi=WIFI), scenario(wifi=WIFI)
    spare: Table = {"wifi": WIFI, "lte": LTE | {"backup": True}}
    for from_s in (1.5, 2, 1):
        told = [event(from_s, "wifi", "detach")]
        idle = scenario(timeline=[event(from_s, "wifi", "blackout")], **spare)
        yield "path_dead", idle, scenario(timeline=told, **spare)


def _held() -> Iterator[Case]:
    """Paths that hold packets up and deliver them later: time-outs are spurious."""
    for held_s in (0.9, 1.2, 2):
        yield "spurious_timeouts", scenario(timeline=away("wifi", 2, 2 + held_s, "hold")), None
        held = scenario(timeline=away("wifi", 2, 2 + held_s, "hold"), wifi=WIFI)
        yield "spurious_timeouts", held, None

    for held_s in (0.85, 0.9, 0.95):
        held = scenario(timeline=away("wifi", 2, 2 + held_s, "hold"), wifi=WIFI)
        yield "outage", held, scenario(wifi=WIFI)


def _backups() -> Iterator[Case]:
    """A sender that waits for many time-outs before it takes the backup."""
    late = {"reinjection": "subflow-timeout", "stale_timeouts": 12}
    spare: Table = {"wifi": WIFI, "lte": LTE | {"backup": True}}
    for gone_s in (3, 4, 6):
        gone = away("wifi", 2, 2 + gone_s)
        yield (
            "backup_unused",
            scenario(BULK | {"size": "20 MB"}, timeline=gone, mptcp=late, **spare),
            None,
        )


def _early() -> Iterator[Case]:
    """In slow start the path's delay grows by a little: HyStart takes it for a queue."""
    early_ends = ((20, 100, 0.7, 20), (50, 100, 0.7, 25), (30, 120, 0.8, 15), (80, 80, 0.6, 40))
    for rate, delay_ms, at_s, megabytes in early_ends:
        path: Table = {"rate": f"{rate} Mbit/s", "delay": f"{delay_ms} ms", "queue": "400 ms"}
        further = link(f"{rate} Mbit/s", f"{delay_ms + 15} ms", "400 ms")
        moved = {"at": f"{at_s} s", "path": "wifi", "verb": "profile", "link": "further"}
        size = BULK | {"size": f"{megabytes} MB"}
        early = scenario(size, timeline=[moved], wifi=path) | {"link": {"further": further}}
        yield "slow_start_early", early, early | {"tcp": {"slow_start": "standard"}}


def silent() -> Iterator[tuple[str, Table]]:
    """Give scenarios in which nothing is wrong, by what they are like."""
    for rate in (5, 10, 20, 50):
        for delay in (5, 15, 30, 60):
            path = {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": "60 ms"}
            size = {"size": f"{rate} MB"}
            yield "clean", scenario(BULK | size, wifi=path, lte=LTE)
            yield (
                "alone",
                scenario(
                    BULK | size | {"size": f"{rate // 2} MB"}, wifi=path, mptcp={"enabled": False}
                ),
            )
    for percent in ("0.01 %", "0.05 %", "0.1 %", "0.2 %"):
        for delay in (10, 20, 40):
            yield "lossy", scenario(wifi=WIFI | {"loss": percent, "delay": f"{delay} ms"}, lte=LTE)
    for jitter in ("1 ms", "3 ms", "5 ms"):
        yield "jittery", scenario(wifi=WIFI | {"jitter": jitter}, lte=LTE | {"jitter": jitter})
    for steady in ("1 Mbit/s", "3 Mbit/s", "6 Mbit/s", "10 Mbit/s"):
        yield "steady", scenario(talk(steady))
    for little in ("150 kB", "300 kB", "600 kB", "1 MB"):
        yield "short", scenario(BULK | {"size": little})
    for queue in ("150 ms", "200 ms"):
        yield "bloated", scenario(wifi=WIFI, lte=LTE | {"queue": queue})
    for scheduler in ("lowest-rtt", "blest", "ecf"):
        yield "schedulers", scenario(mptcp={"scheduler": scheduler})
    for control in ("lia", "olia", "balia", "reno", "cubic"):
        yield "controllers", scenario(mptcp={"congestion_control": control})
    for distance in ("300 ms", "400 ms", "500 ms"):
        far = {"rate": "10 Mbit/s", "delay": distance, "queue": "300 ms"}
        yield "far", scenario(wifi=far)
        if distance == "300 ms":
            yield "far", scenario(wifi=far, lte=far | {"backup": True})
    for response in ("50 kB", "200 kB", "1 MB"):
        for think in ("10 ms", "50 ms"):
            yield "bursty", scenario(ask(response=response, think=think, requests=10))
    for think in ("5 s", "20 s", "60 s"):
        yield "idle", scenario(ask(response="20 kB", think=think, requests=4))
    for duration in ("4 s", "20 s"):
        yield "little", scenario(talk("64 kbit/s", duration, "160 B"))
