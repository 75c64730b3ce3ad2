"""After how much silence a connection is forgotten: one for each time, all at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from mptcplab.probe.client import ANSWER_SECONDS, Way
from mptcplab.probe.row import BLOCKED, CLEAR, UNKNOWN, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEPS = (
    2,
    5,
    8,
    10,
    12,
    14,
    15,
    16,
    18,
    20,
    25,
    30,
    45,
    60,
    90,
    120,
    180,
    240,
    300,
    600,
    900,
    1800,
)
KEEP_ALIVE_SHARE = 3


def silence(way: Way, most_seconds: float) -> Iterator[Row]:
    """Let connections be silent for longer and longer, until the server or the client speaks."""
    steps = [float(step) for step in STEPS if step <= most_seconds] or [most_seconds]
    alive = max(1, int(steps[0] // KEEP_ALIVE_SHARE))
    tries: list[tuple[str, float, Callable[[Way, float], bool]]] = [
        *(("idle, server speaks", step, _server_speaks) for step in steps),
        *(("idle, client speaks", step, _client_speaks) for step in steps),
        ("keep-alive", steps[-1], lambda way, step: _server_speaks(way, step, keep_alive=alive)),
    ]
    with ThreadPoolExecutor(len(tries)) as pool:
        # What fails once may have been lost; what is forgotten fails again.
        answered = list(pool.map(lambda one: any(one[2](way, one[1]) for _ in range(2)), tries))
    for probe in ("idle, server speaks", "idle, client speaks"):
        mine = {
            step: came
            for (name, step, _), came in zip(tries, answered, strict=True)
            if name == probe
        }
        yield _judged(way, probe, mine)
    sent = f"every {alive} s"
    came = "answered" if answered[-1] else "silence"
    verdict = CLEAR if answered[-1] else BLOCKED
    yield Row(way.name, "keep-alive", verdict, sent, came, f"for {steps[-1]:g} s")


def _judged(way: Way, probe: str, came: dict[float, bool]) -> Row:
    longest = max(came)
    good = [step for step, answered in came.items() if answered]
    bad = [step for step, answered in came.items() if not answered]
    if not bad:
        return Row(
            way.name, probe, CLEAR, f"{longest:g} s", f"{longest:g} s", f"{len(good)} connections"
        )
    if not good or max(good) > min(bad):
        evidence = (
            "some silences were forgotten and longer ones not" if good else "nothing was answered"
        )
        return Row(way.name, probe, UNKNOWN, f"{longest:g} s", "", evidence)
    evidence = f"forgotten between {max(good):g} and {min(bad):g} s"
    return Row(way.name, probe, BLOCKED, f"{longest:g} s", f"{max(good):g} s", evidence)


def _server_speaks(way: Way, seconds: float, *, keep_alive: int | None = None) -> bool:
    with suppress(OSError), way.connect(keep_alive=keep_alive) as connection:
        connection.ask("echo")
        connection.socket.settimeout(seconds + ANSWER_SECONDS)
        connection.ask("wait", seconds=seconds)
        return True
    return False


def _client_speaks(way: Way, seconds: float) -> bool:
    with suppress(OSError), way.connect() as connection:
        connection.ask("echo")
        time.sleep(seconds)
        connection.ask("echo")
        return True
    return False
