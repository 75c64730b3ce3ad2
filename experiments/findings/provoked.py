"""Scenarios that provoke each kind of finding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from experiments.findings import views
from experiments.findings.scenarios import (
    ASK,
    BULK,
    LTE,
    SMALL_WINDOW,
    TINY_WINDOW,
    WIFI,
    Table,
    ask,
    away,
    box,
    event,
    link,
    loss,
    scenario,
    talk,
)


class Case(NamedTuple):
    """A scenario that provokes a kind of finding."""

    kind: str
    table: Table
    #: The same without the fault; ``None`` where the fault is no loss of time, or where the finding never
    #: claims a cost.
    without: Table | None = None
    #: What of the run is looked at; ``None``: the captures of both ends.
    view: views.View | None = None


def provoked() -> Iterator[Case]:
    """Give kinds of findings, each with scenarios that provoke it."""
    for segments in ("syn", "syn-ack", "all"):
        yield Case(
            "stripped",
            scenario(wifi=box(WIFI, "strip-options", segments=segments), lte=LTE),
            None,
        )
    for size in ("6 MB", "12 MB", "24 MB"):
        one = BULK | {"size": size}
        yield Case("no_second_path", scenario(one, mptcp={"path_manager": "single"}), scenario(one))
    for number, other in enumerate((LTE, LTE | {"delay": "60 ms"}, LTE | {"rate": "30 Mbit/s"})):
        both = scenario(wifi=WIFI, lte=other)
        yield Case(
            "join_unanswered", scenario(wifi=WIFI, lte=box(other, "firewall", joins=False)), both
        )
        strip = {"segments": ("syn", "syn-ack", "syn")[number]}
        yield Case(
            "join_refused", scenario(wifi=WIFI, lte=box(other, "strip-options", **strip)), both
        )
    for attached_s in (4, 6, 8):
        there = LTE | {"rate": "20 Mbit/s"}
        came = [{"at": f"{attached_s} s", "path": "lte", "verb": "attach"}]
        long = BULK | {"size": "40 MB"}
        late = scenario(long, wifi=WIFI, lte=there | {"attached": False}, timeline=came)
        yield Case("join_late", late, scenario(long, wifi=WIFI, lte=there))
    yield from _outages()
    yield from _held()
    yield from _backups()
    yield from _early()
    yield from _slowed()
    yield from _joins()
    yield from _returned()
    yield from _unfit()
    yield from _beside()
    for send_buffer in ("200 kB", "500 kB", "4 MB"):
        apart: Table = {"wifi": WIFI, "lte": LTE | {"delay": "120 ms"}}
        starved = scenario(mptcp={"scheduler": "ecf"}, tcp={"send_buffer": send_buffer}, **apart)
        yield Case("capacity_unused", starved, None)
    far: Table = {"wifi": WIFI | {"delay": "80 ms"}, "lte": LTE | {"delay": "80 ms"}}
    for buffer in (TINY_WINDOW, TINY_WINDOW | {"receive_buffer": "96 kB"}, SMALL_WINDOW):
        yield Case(
            "receive_window",
            scenario(tcp=buffer, wifi=far["wifi"], lte=far["lte"]),
            scenario(wifi=far["wifi"], lte=far["lte"]),
        )
    for asked in (ASK, ask(think="3 s", response="1 MB"), ask(think="500 ms", requests=20)):
        yield Case("application", scenario(asked), scenario(asked | {"think": "0 s"}))
    yield Case("application", scenario(talk("200 kbit/s", message="5 kB")), None)
    for queue in ("800 ms", "1500 ms", "3 s"):
        yield Case("bufferbloat", scenario(wifi=WIFI, lte=LTE | {"queue": queue}), scenario())
    # Queues that slow start fills once, and that lose much then.
    for queue in ("500 kB", "1 MB", "4 MB"):
        alone: Table = {"wifi": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": queue}}
        yield Case("bufferbloat", scenario(BULK | {"size": "20 MB"}, **alone))
    for rate in ("2 Mbit/s", "1 Mbit/s", "3 Mbit/s"):
        slow = LTE | {"rate": rate, "delay": "150 ms", "queue": "2 s"}
        turns = scenario(wifi=WIFI, lte=slow, mptcp={"scheduler": "round-robin"}, tcp=SMALL_WINDOW)
        yield Case("head_of_line", turns, scenario(tcp=SMALL_WINDOW, wifi=WIFI))
    for size in ("12 MB", "6 MB", "24 MB"):
        one = BULK | {"size": size}
        yield Case(
            "reinjection_waste", scenario(one, mptcp={"scheduler": "redundant"}), scenario(one)
        )
    for percent in ("2 %", "3 %", "5 %"):
        yield Case("losses_random", scenario(wifi=WIFI | {"loss": percent}, lte=LTE), scenario())
        burst = loss(WIFI, p="0.3 %", r={"2 %": "15 %", "3 %": "12 %", "5 %": "10 %"}[percent])
        yield Case("losses_bursts", scenario(wifi=burst, lte=LTE), scenario())
    # Few losses, which keep paths that carry much from ever being filled.
    fast: Table = {"rate": "60 Mbit/s", "delay": "25 ms", "queue": "80 ms"}
    near: Table = {"rate": "35 Mbit/s", "delay": "8 ms", "queue": "80 ms"}
    rare: tuple[tuple[str, Table], ...] = (
        ("0.2 %", {"wifi": fast}),
        ("0.2 %", {"wifi": WIFI | {"delay": "25 ms"}}),
        ("0.5 %", {"wifi": near, "lte": LTE | {"rate": "9 Mbit/s"}}),
    )
    for percent, paths in rare:
        much = BULK | {"size": "20 MB"}
        lossy: Table = {name: path | {"loss": percent} for name, path in paths.items()}
        yield Case("losses_random", scenario(much, **lossy), scenario(much, **paths))
    for queue in ("25 ms", "30 ms", "40 ms", "50 ms"):
        tight: Table = {"wifi": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": queue}}
        yield Case("losses_queue", scenario(BULK | {"size": "3 MB"}, **tight), None)
    # Queues that are short beside the round trip.
    for short_rate, delay, queue in (
        ("5 Mbit/s", "25 ms", "15 ms"),
        ("5 Mbit/s", "60 ms", "25 ms"),
    ):
        short: Table = {"wifi": {"rate": short_rate, "delay": delay, "queue": queue}}
        bbr = {"congestion_control": "bbr"}
        yield Case("losses_queue", scenario(BULK | {"size": "10 MB"}, mptcp=bbr, **short), None)
    # Queues of a few packets, which show in no round trip.
    for packets in ("3 packets", "4 packets", "5 packets"):
        few: Table = {"wifi": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": packets}}
        yield Case("losses_unclear", scenario(BULK | {"size": "20 MB"}, **few), None)
    # A request or a response is a segment: nothing after it shows that it was lost.
    for percent, delay, response in (
        ("3 %", "30 ms", "500 B"),
        ("4 %", "60 ms", "500 B"),
        ("5 %", "20 ms", "1 kB"),
    ):
        brief = ask(response=response, think="0 s", requests=80)
        near = WIFI | {"delay": delay}
        yield Case(
            "tail_losses",
            scenario(brief, wifi=near | {"loss": percent}),
            scenario(brief, wifi=near),
        )
    for size in ("6 MB", "12 MB", "24 MB"):
        bare = box(WIFI, "strip-options", segments="data")
        yield Case("fallback", scenario(BULK | {"size": size}, wifi=bare, lte=LTE), None)
        checked = {"checksum": True}
        one = scenario(BULK | {"size": size}, mptcp=checked, wifi=changed(WIFI), lte=LTE)
        yield Case("checksum", one, None)
    for size in ("1400 B", "1200 B", "1000 B"):
        narrow = box(LTE, "mtu", bytes=size, answer="silent")
        yield Case("large_segments_lost", scenario(wifi=WIFI, lte=narrow), scenario())
    for mss in ("1000 B", "1200 B", "1300 B"):
        yield Case(
            "mss_clamped", scenario(wifi=box(WIFI, "clamp-mss", bytes=mss), lte=LTE), scenario()
        )
    for window in ("20 kB", "40 kB", "60 kB"):
        clamped = box(WIFI, "clamp-window", bytes=window)
        yield Case("window_clamped", scenario(wifi=clamped, lte=LTE), scenario())
    for rate in ("20 Mbit/s", "10 Mbit/s", "40 Mbit/s"):
        yield Case("split_connection", scenario(lte=box(LTE | {"rate": rate}, "proxy")), None)
    for size in ("20 kB", "40 kB", "60 kB"):
        yield Case("short_transfer", scenario(BULK | {"size": size}), None)
    for think in ("8 s", "12 s", "20 s"):
        nat = box(WIFI, "nat", idle="5 s")
        yield Case("forgotten", scenario(ask(think=think, requests=3), wifi=nat), None)
    yield from _asked()
    yield from _helped()


def changed(path: Table) -> Table:
    """Put a box on a path that changes payload."""
    return box(path, "alter-payload", every=40)


def _outages() -> Iterator[Case]:
    for from_s in (1.5, 2, 1):
        dead = scenario(timeline=[event(from_s, "wifi", "blackout")], tcp=SMALL_WINDOW)
        yield Case("path_dead", dead, scenario(tcp=SMALL_WINDOW))
        gone = away("wifi", from_s, from_s + 4)
        yield Case("timeout_chain", scenario(timeline=gone, wifi=WIFI), scenario(wifi=WIFI))
    spare: Table = {"wifi": WIFI, "lte": LTE | {"backup": True}}
    for from_s in (1.5, 2, 1):
        idle = scenario(timeline=[event(from_s, "wifi", "blackout")], **spare)
        yield Case("path_dead", idle, scenario(**spare))
    # A host that is told loses what the path would have carried, too.
    gone = [event(2, "wifi", "detach"), event(5, "wifi", "attach")]
    for direction in ("download", "upload"):
        one = BULK | {"direction": direction, "size": "15 MB"}
        for other in (LTE, LTE | {"rate": "4 Mbit/s", "delay": "40 ms"}):
            for events in (away("wifi", 2, 5), gone):
                dead = scenario(one, timeline=events, wifi=WIFI, lte=other)
                yield Case("path_dead", dead, scenario(one, wifi=WIFI, lte=other))


def _asked() -> Iterator[Case]:
    """Outages and losses that a request, a response or the first SYN runs into: nothing else is in flight."""
    # On its way when no path is there.
    rare = ask(response="500 kB")
    both = [*away("wifi", 3.2, 6), *away("lte", 3.2, 6)]
    yield Case("timeout_chain", scenario(rare, timeline=both), scenario(rare))
    alone = scenario(rare, timeline=away("wifi", 3.4, 6), wifi=WIFI)
    yield Case("timeout_chain", alone, scenario(rare, wifi=WIFI))
    for response in ("100 kB", "300 kB", "900 kB"):
        often = ask(response=response, think="800 ms", requests=10)
        dead = scenario(often, timeline=away("wifi", 2.6, 5))
        yield Case("path_dead", dead, scenario(often))

    for direction, until_s, settings in (
        ("download", 2.5, {}),
        ("upload", 0.9, {}),
        ("download", 2.5, {"enabled": False}),
    ):
        size = BULK | {"direction": direction, "size": "6 MB"}
        paths: Table = {"wifi": WIFI} if settings else {"wifi": WIFI, "lte": LTE}
        late = scenario(size, timeline=away("wifi", 0, until_s), mptcp=settings, **paths)
        yield Case("handshake_lost", late, scenario(size, mptcp=settings, **paths))

    brief = ask(response="60 kB", think="50 ms", requests=40)
    lossy: Table = {"wifi": WIFI | {"loss": "2 %"}, "lte": LTE}
    yield Case("losses_random", scenario(brief, **lossy), scenario(brief))


def _held() -> Iterator[Case]:
    """Paths that hold packets up and deliver them later: time-outs are spurious."""
    for held_s in (0.9, 1.2, 2):
        yield Case(
            "spurious_timeouts", scenario(timeline=away("wifi", 2, 2 + held_s, "hold")), None
        )
        held = scenario(timeline=away("wifi", 2, 2 + held_s, "hold"), wifi=WIFI)
        yield Case("spurious_timeouts", held, None)

    for held_s in (0.85, 0.9, 0.95):
        held = scenario(timeline=away("wifi", 2, 2 + held_s, "hold"), wifi=WIFI)
        yield Case("outage", held, scenario(wifi=WIFI))


def _backups() -> Iterator[Case]:
    """A sender that waits for many time-outs before it takes the backup."""
    late = {"reinjection": "subflow-timeout", "stale_timeouts": 12}
    spare: Table = {"wifi": WIFI, "lte": LTE | {"backup": True}}
    for gone_s in (3, 4, 6):
        gone = away("wifi", 2, 2 + gone_s)
        yield Case(
            "backup_unused",
            scenario(BULK | {"size": "20 MB"}, timeline=gone, mptcp=late, **spare),
            None,
        )

    # A box removes what tells the server that the connection's first path is a backup.
    came = [event(0.1, "wifi", "attach")]
    for changes in ({}, {"delay": "60 ms"}, {"rate": "30 Mbit/s"}):
        first = box(LTE | changes | {"backup": True}, "strip-options", option="mp-prio")
        later = WIFI | {"attached": False}
        yield Case("backup_used", scenario(lte=first, wifi=later, timeline=came))


def _early() -> Iterator[Case]:
    """In slow start the path's delay grows by a little: HyStart takes it for a queue."""
    early_ends = ((20, 100, 0.7, 20), (50, 100, 0.7, 25), (30, 120, 0.8, 15), (80, 80, 0.6, 40))
    for rate, delay_ms, at_s, megabytes in early_ends:
        path: Table = {"rate": f"{rate} Mbit/s", "delay": f"{delay_ms} ms", "queue": "400 ms"}
        further = link(f"{rate} Mbit/s", f"{delay_ms + 15} ms", "400 ms")
        moved = {"at": f"{at_s} s", "path": "wifi", "verb": "profile", "link": "further"}
        size = BULK | {"size": f"{megabytes} MB"}
        early = scenario(size, timeline=[moved], wifi=path) | {"link": {"further": further}}
        yield Case("slow_start_early", early, early | {"tcp": {"slow_start": "standard"}})

    # A queue that the bursts of slow start overflow.
    for megabits, delay_ms, packets in ((20, 40, 8), (30, 40, 10), (20, 50, 12)):
        path = {
            "rate": f"{megabits} Mbit/s",
            "delay": f"{delay_ms} ms",
            "queue": f"{packets} packets",
        }
        long = BULK | {"size": "15 MB"}
        queues = (path, path | {"queue": "150 ms"})
        lost, calm = (scenario(long, wifi=one, mptcp={"enabled": False}) for one in queues)
        yield Case("slow_start_loss", lost, calm)


def _slowed() -> Iterator[Case]:
    """A path becomes slower, or others take its capacity for some time."""
    long = BULK | {"size": "20 MB"}
    fast = WIFI | {"rate": "30 Mbit/s"}
    falls = [event(2, "wifi", "profile") | link("2 Mbit/s", "12 ms", "60 ms")]
    both: Table = {"wifi": fast, "lte": LTE}
    for paths in ({"wifi": fast}, both):
        yield Case("path_slowed", scenario(long, timeline=falls, **paths), scenario(long, **paths))
    shared = scenario(long, wifi=WIFI)
    taken = {"kind": "udp", "link": "wifi", "rate": "17 Mbit/s", "start": "2 s", "stop": "8 s"}
    yield Case("path_slowed", shared | {"cross_traffic": [taken]}, shared)
    # Others take a part of a path.
    near: Table = {"rate": "6 Mbit/s", "delay": "15 ms", "queue": "80 ms"}
    larger: Table = {"rate": "14 Mbit/s", "delay": "32 ms", "queue": "80 ms"}
    whole = scenario(BULK | {"size": "25 MB"}, wifi=near, lte=larger)
    for others in ({"kind": "udp", "rate": "7 Mbit/s"}, {"kind": "tcp", "flows": 4}):
        part = others | {"link": "lte", "start": "3 s", "stop": "12 s"}
        yield Case("path_slowed", whole | {"cross_traffic": [part]}, whole)


def _joins() -> Iterator[Case]:
    """Handshakes of which one end alone tells, and those of which the third packet is lost."""
    for segments in ("syn", "syn-ack", "all"):
        bare = scenario(wifi=box(WIFI, "strip-options", segments=segments), lte=LTE)
        yield Case("never_began", bare, view=views.client)
    for at_s in (1, 2, 3):
        came = event(at_s, "lte", "attach")
        # The SYN is through when the uplink goes.
        dead = [{"element": "loss", "ratio": "100 %"}]
        gone = event(at_s + 0.04, "lte", "profile") | link("12 Mbit/s", "25 ms", "100 ms")
        gone["uplink"] = dead
        late = scenario(wifi=WIFI, lte=LTE | {"attached": False}, timeline=[came, gone])
        yield Case("join_unfinished", late, scenario())


def _returned() -> Iterator[Case]:
    """A path comes back with the round trip of its outage, and what the window allows fits another."""
    for at_s, held_s, scheduler in ((2, 4, "lowest-rtt"), (3, 3, "lowest-rtt"), (2, 4, "ecf")):
        back_s = at_s + held_s
        held = away("wifi", at_s, back_s, "hold")
        # Had the path been tried anew, it would have been used.
        anew = [*held, event(back_s, "wifi", "detach"), event(back_s + 0.5, "wifi", "attach")]
        parts: Table = {"mptcp": {"scheduler": scheduler}, "tcp": TINY_WINDOW}
        size = BULK | {"size": "20 MB"}
        back, tried = (scenario(size, timeline=events, **parts) for events in (held, anew))
        yield Case("path_back_unused", back, tried)


def _unfit() -> Iterator[Case]:
    """Captures that lack packets, an interface, or the beginning."""
    for view in (views.every_thirtieth_missing, views.wifi_alone, views.from_midway):
        yield Case("capture_unfit", scenario(), view=view)


def _beside() -> Iterator[Case]:
    """What only plain TCP over each path, and the sender's state, tell."""
    for rate in ("2 Mbit/s", "1 Mbit/s", "3 Mbit/s"):
        slow = LTE | {"rate": rate, "delay": "150 ms", "queue": "2 s"}
        turns = scenario(wifi=WIFI, lte=slow, mptcp={"scheduler": "round-robin"}, tcp=SMALL_WINDOW)
        best = scenario(wifi=WIFI, mptcp={"enabled": False}, tcp=SMALL_WINDOW)
        yield Case("slower_than_single", turns, best, views.beside)
    for send_buffer in ("64 kB", "100 kB", "150 kB"):
        far: Table = {"wifi": WIFI | {"delay": "80 ms"}}
        small = {"send_buffer": send_buffer}
        yield Case("send_buffer", scenario(tcp=small, **far), scenario(**far), views.beside)
    third: Table = {"rate": "20 Mbit/s", "delay": "15 ms", "queue": "80 ms"}
    for direction, size, rate in (
        ("upload", "30 MB", "8 Mbit/s"),
        ("download", "30 MB", "8 Mbit/s"),
        ("download", "20 MB", "12 Mbit/s"),
    ):
        first = {"rate": rate, "delay": "10 ms", "queue": "80 ms"}
        one = BULK | {"direction": direction, "size": size}
        three = scenario(one, wifi=first, lte=first | {"delay": "20 ms"}, dsl=third)
        two = three | {"mptcp": {"max_subflows": 1}}
        yield Case("path_left_out", two, three, views.beside)
    for delay in ("150 ms", "160 ms", "170 ms"):
        apart: Table = {"wifi": WIFI, "lte": LTE | {"delay": delay}}
        starved = scenario(mptcp={"scheduler": "ecf"}, tcp={"send_buffer": "200 kB"}, **apart)
        used = scenario(mptcp={"scheduler": "lowest-rtt"}, tcp={"send_buffer": "16 MB"}, **apart)
        yield Case("path_unused", starved, used, views.beside)


def _helped() -> Iterator[Case]:
    """What other remedies help against: of several paths, after long outages, with a buffer that never grew."""
    # The lossy path is the nearer one: else it were no loss to leave it.
    for percent, delay in (("3 %", "10 ms"), ("4 %", "15 ms"), ("5 %", "20 ms")):
        brief = ask(response="500 B", think="0 s", requests=80)
        near = WIFI | {"delay": delay}
        lossy: Table = {"wifi": near | {"loss": percent}, "lte": LTE}
        yield Case("tail_losses", scenario(brief, **lossy), scenario(brief, wifi=near, lte=LTE))
    for for_s in (14, 20, 28):
        gone = away("wifi", 2, 2 + for_s)
        yield Case("timeout_chain", scenario(timeline=gone, wifi=WIFI), scenario(wifi=WIFI))
    for rate in ("1 Mbit/s", "900 kbit/s", "800 kbit/s"):
        slow: Table = {"rate": rate, "delay": "150 ms", "queue": "200 kB"}
        one = BULK | {"size": "10 MB"}
        two = scenario(one, wifi=WIFI, lte=slow)
        whole = two | {"tcp": {"send_buffer": "16 MB", "send_buffer_tuning": False}}
        yield Case("send_buffer", two, whole, views.beside)
        three = scenario(one, wifi=WIFI, lte=slow, dsl=slow)
        best = scenario(one, wifi=WIFI, mptcp={"enabled": False})
        yield Case("slower_than_single", three, best, views.beside)
