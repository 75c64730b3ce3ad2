"""What scenarios of findings are made of, and scenarios in which nothing is wrong.

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
    return {"at": f"{round(at_s, 6)} s", "path": path, "verb": verb}


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
    # As much as costs next to nothing: 0.2 % take a tenth longer.
    for percent in ("0.01 %", "0.02 %", "0.05 %", "0.1 %"):
        for delay in (10, 20, 40):
            yield "lossy", scenario(wifi=WIFI | {"loss": percent, "delay": f"{delay} ms"}, lte=LTE)
    # What a queue of a packet or two loses shows in no round trip: nothing is said of it.
    for capacity in ("5 Mbit/s", "20 Mbit/s"):
        for packets in ("1 packets", "2 packets"):
            tiny = {"rate": capacity, "delay": "20 ms", "queue": packets}
            yield "tiny queues", scenario(BULK | {"size": "6 MB"}, wifi=tiny)
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
        yield "far", scenario(wifi=far, lte=far | {"backup": True})
    for response in ("50 kB", "200 kB", "1 MB"):
        for think in ("10 ms", "50 ms"):
            yield "bursty", scenario(ask(response=response, think=think, requests=10))
    # The first window holds a response: no second path would bring it sooner.
    for response in ("6 kB", "12 kB", "24 kB"):
        yield "brief", scenario(ask(response=response, think="0 s", requests=60))
    for think in ("5 s", "20 s", "60 s"):
        yield "idle", scenario(ask(response="20 kB", think=think, requests=4))
    for duration in ("4 s", "20 s"):
        yield "little", scenario(talk("64 kbit/s", duration, "160 B"))
