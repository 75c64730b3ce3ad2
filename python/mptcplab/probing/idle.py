"""After how much silence a connection is forgotten: two for each time, all at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

from mptcplab.probing.client import ANSWER_SECONDS, Connection, ProbedPath
from mptcplab.probing.row import BLOCKED, CLEAR, UNKNOWN, Row

STEPS = (
    *(2, 5, 8, 10, 12, 14, 15, 16, 18, 20, 25, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900),
    *(1200, 1800, 2400, 3000, 3600, 4000),
)
MOST_SECONDS = STEPS[-1]
# One failure may be a loss; a connection that was forgotten fails again.
TIMES = 2
# All SYNs at once would overflow the queues of slow links.
APART_SECONDS = 0.05
OPENINGS = 3
SERVER, CLIENT, KEEP_ALIVE = "idle, server speaks", "idle, client speaks", "keep-alive"


def silence(path: ProbedPath, most_seconds: float) -> Iterator[Row]:
    """Let connections be silent for longer and longer, until the server or the client speaks.

    Beside them, some are as long as the longest with keep-alives, each with another interval.
    """
    steps = [float(step) for step in STEPS if step < most_seconds] + [most_seconds]
    longest = steps[-1]
    intervals = sorted({max(1, int(step / 2)) for step in steps})
    tries: dict[tuple[str, float], Callable[[], bool | None]] = {
        **{(SERVER, step): partial(_server_speaks, path, step) for step in steps},
        **{(CLIENT, step): partial(_client_speaks, path, step) for step in steps},
        **{
            (KEEP_ALIVE, every): partial(_server_speaks, path, longest, keep_alive=every)
            for every in intervals
        },
    }
    with ThreadPoolExecutor(len(tries) * TIMES) as pool:
        futures: dict[tuple[str, float], list[Future[bool | None]]] = {}
        for key, one in tries.items():
            futures[key] = [pool.submit(one) for _ in range(TIMES)]
            time.sleep(APART_SECONDS)
        results = {key: [one.result() for one in all_] for key, all_ in futures.items()}
    answers = {key: _together(all_) for key, all_ in results.items()}
    of = {
        probe: {at: answered for (name, at), answered in answers.items() if name == probe}
        for probe in (SERVER, CLIENT, KEEP_ALIVE)
    }
    rows = [judged(path.name, probe, of[probe]) for probe in (SERVER, CLIENT)]
    rows.append(kept_alive(path.name, longest, of[KEEP_ALIVE], silent=rows[0]))
    if any(row.verdict == BLOCKED for row in rows) and not _is_there(path):
        # The server may be gone, not the connection forgotten.
        reason = "afterwards nothing is answered over the path"
        rows = [replace(row, verdict=UNKNOWN, arrived="", evidence=reason) for row in rows]
    yield from rows


def _together(tries: list[bool | None]) -> bool | None:
    """Combine tries of one kind; ``None`` where one ended when nothing else was answered."""
    return True if any(tries) else None if None in tries else False


def judged(path: str, probe: str, answers: Mapping[float, bool | None]) -> Row:
    """Bracket the time-out by the silences after which there was an answer; none: not known."""
    longest = max(answers)
    good = [step for step, answered in answers.items() if answered]
    bad = [step for step, answered in answers.items() if answered is False]
    sent = f"{longest:g} s"
    if not bad and longest not in good:
        reason = "when longer silences ended nothing else was answered either"
        return Row(path, probe, UNKNOWN, sent, f"{max(good, default=0):g} s", reason)
    if not bad:
        return Row(path, probe, CLEAR, sent, sent, f"{len(good)} connections")
    if not good or max(good) > min(bad):
        evidence = (
            "some silences were forgotten and longer ones not" if good else "nothing was answered"
        )
        return Row(path, probe, UNKNOWN, sent, "", evidence)
    evidence = f"forgotten between {max(good):g} and {min(bad):g} s"
    return Row(path, probe, BLOCKED, sent, f"{max(good):g} s", evidence)


def kept_alive(
    path: str, longest: float, answers: Mapping[float, bool | None], *, silent: Row
) -> Row:
    """Find the longest interval of keep-alives with which a connection is not forgotten.

    ``silent`` is what was found without them: where that is no time-out, they cannot fail by one.
    """
    good = [every for every, answered in answers.items() if answered]
    bad = [every for every, answered in answers.items() if answered is False]
    sent = f"every {min(answers):g} to {max(answers):g} s"
    if not good and not bad:
        reason = "when the silence ended nothing else was answered either"
        return Row(path, KEEP_ALIVE, UNKNOWN, sent, "", reason)
    if bad and silent.verdict != BLOCKED:
        reason = "some were not answered, and no time-out was found that would explain it"
        return Row(path, KEEP_ALIVE, UNKNOWN, sent, "", reason)
    if not good:
        return Row(path, KEEP_ALIVE, BLOCKED, sent, "none", f"silence after {longest:g} s")
    if bad and max(good) > min(bad):
        reason = "some were not answered, and others with longer intervals were"
        return Row(path, KEEP_ALIVE, UNKNOWN, sent, "", reason)
    evidence = f"answered after {longest:g} s"
    return Row(path, KEEP_ALIVE, CLEAR, sent, f"every {max(good):g} s", evidence)


def _opened(path: ProbedPath, keep_alive: int | None = None) -> Connection | None:
    """Open a connection that was answered once; ``None`` where too many at once prevent it."""
    for _ in range(OPENINGS):
        with suppress(OSError):
            connection = path.connect(keep_alive=keep_alive)
            try:
                connection.ask("echo")
            except OSError:
                connection.socket.close()
                raise
            return connection
    return None


def _is_there(path: ProbedPath) -> bool:
    for _ in range(TIMES):
        with suppress(OSError), path.connect() as connection:
            connection.ask("echo")
            return True
    return False


def _server_speaks(
    path: ProbedPath, seconds: float, *, keep_alive: int | None = None
) -> bool | None:
    if (opened := _opened(path, keep_alive)) is None:
        return None
    with suppress(OSError), opened as connection:
        connection.socket.settimeout(seconds + ANSWER_SECONDS)
        connection.ask("wait", seconds=seconds)
        return True
    # A path or a host that is busy or gone meanwhile answers no connection.
    return False if _is_there(path) else None


def _client_speaks(path: ProbedPath, seconds: float) -> bool | None:
    if (opened := _opened(path)) is None:
        return None
    with suppress(OSError), opened as connection:
        time.sleep(seconds)
        connection.ask("echo")
        return True
    return False if _is_there(path) else None
