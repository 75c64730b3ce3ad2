"""A run in real time as it goes on: throughput, round-trip time and share of each path, events.

What is shown is read from the files that the hosts' agents write for the tables anyway: the run
does nothing for it.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from mptcplab.cli import say
from mptcplab.cli.summary.page import PLAIN, carries
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Self

    from mptcplab.engines.engine import Engine
    from mptcplab.scenario.scenario import Scenario

    Ends = tuple[str, int]

RAW = "raw"
HOSTS = ("client", "server")
# Of a curve, and how it is drawn.
SHOWN = 24
HEIGHTS = "▁▂▃▄▅▆▇█"
# Between two pictures, and between two lines where there is no terminal.
STEP_S, LINE_S = 0.5, 10.0
# A value without a sample for so long, and for three samples, does not change.
SILENT_NS, SILENT_SAMPLES = 2 * 10**9, 3


@dataclass
class PathState:
    """What is known of a path, summed over its subflows."""

    name: str
    bytes: int = 0
    mbps: float | None = None
    rtt_ms: float | None = None
    #: The last rates, in Mbit/s.
    rates: deque[float] = field(default_factory=lambda: deque(maxlen=SHOWN))


class Samples:
    """Reads what the agents of a run have written of its sockets so far."""

    def __init__(
        self, directory: Path, names: Mapping[str, str], now_ns: Callable[[], int] = time.time_ns
    ) -> None:
        self._files = {host: directory / RAW / f"{host}.samples" for host in HOSTS}
        self._read = dict.fromkeys(HOSTS, 0)
        self._names = names
        #: The last row of each subflow, by the client's end and the server's.
        self._last: dict[str, dict[tuple[Ends, Ends], dict[str, Any]]] = {one: {} for one in HOSTS}
        self._paths: dict[str, PathState] = {}
        self._before: dict[str, tuple[int, int]] = {}
        #: Between samples that followed each other soonest.
        self._period_ns: int | None = None
        self._now_ns = now_ns

    def paths(self) -> list[PathState]:
        """Give the paths in the order in which they were first used."""
        for host in HOSTS:
            for row in self._new(host):
                local: Ends = (row["local"][0], row["local"][1])
                remote: Ends = (row["remote"][0], row["remote"][1])
                if host == "client" and self._names and local[0] not in self._names:
                    # Of a converter's other side.
                    continue
                ends = (local, remote) if host == "client" else (remote, local)
                if (last := self._last[host].get(ends)) and row["at_ns"] > last["at_ns"]:
                    since_ns = row["at_ns"] - last["at_ns"]
                    self._period_ns = min(self._period_ns or since_ns, since_ns)
                self._last[host][ends] = row
                if host == "client":
                    self._before.setdefault(self._name(ends), (row["at_ns"], _moved(row)))
        sums: dict[str, int] = {}
        times: dict[str, int] = {}
        for ends, row in self._last["client"].items():
            name = self._name(ends)
            state = self._paths.setdefault(name, PathState(name))
            sums[name] = sums.get(name, 0) + _moved(row)
            times[name] = max(times.get(name, 0), row["at_ns"])
            state.rtt_ms = self._rtt(ends, row) or state.rtt_ms
        for name, moved in sums.items():
            self._note(self._paths[name], moved, times[name])
        return list(self._paths.values())

    def _name(self, ends: tuple[Ends, Ends]) -> str:
        (address, _), _ = ends
        return self._names.get(address, address)

    def _note(self, state: PathState, moved: int, at_ns: int) -> None:
        before_ns, before = self._before[state.name]
        if state.mbps is not None and moved == before and self._is_silent(at_ns):
            # Samples that say nothing new are not written.
            at_ns = self._now_ns()
        if at_ns > before_ns:
            state.mbps = (moved - before) * 8e3 / (at_ns - before_ns)
            state.rates.append(state.mbps)
            self._before[state.name] = at_ns, moved
        state.bytes = moved

    def _is_silent(self, at_ns: int) -> bool:
        longest_ns = max(SILENT_NS, SILENT_SAMPLES * (self._period_ns or 0))
        return self._now_ns() - at_ns > longest_ns

    def _rtt(self, ends: tuple[Ends, Ends], row: dict[str, Any]) -> float | None:
        """Take that of the end that sent more: it has samples of data."""
        other = self._last["server"].get(ends, {})
        sender = max(row, other, key=lambda one: one.get("acknowledged_bytes") or 0)
        found: float | None = sender.get("srtt_ms")
        return found

    def _new(self, host: str) -> Iterator[dict[str, Any]]:
        """Give the rows that came since; the last one may not be whole yet."""
        try:
            with self._files[host].open("rb") as file:
                file.seek(self._read[host])
                whole, newline, _ = file.read().rpartition(b"\n")
        except OSError:
            return
        self._read[host] += len(whole) + len(newline)
        for line in whole.splitlines():
            yield json.loads(line)


def names_of(scenario: Scenario, engine: Engine) -> dict[str, str]:
    """Name paths by the client's addresses; over real networks addresses name themselves."""
    from mptcplab.scenario.plan import addresses

    if engine.visits:
        return {}
    return {
        address: name
        for number, (name, path) in enumerate(scenario.paths.items(), 1)
        for address in addresses(number, path)
    }


def _moved(row: dict[str, Any]) -> int:
    return (row.get("acknowledged_bytes") or 0) + (row.get("received_bytes") or 0)


def rows(paths: list[PathState]) -> list[list[str]]:
    """Give the cells of a row per path: name, curve, rate, round-trip time, share."""
    total = sum(path.bytes for path in paths)
    highest = max((rate for path in paths for rate in path.rates), default=0.0)
    return [
        [
            path.name,
            curve(path.rates, highest),
            text.UNKNOWN if path.mbps is None else text.rate(path.mbps),
            "RTT " + (text.UNKNOWN if path.rtt_ms is None else text.milliseconds(path.rtt_ms)),
            f"{100 * path.bytes / total:.0f} %" if total else text.UNKNOWN,
        ]
        for path in paths
    ]


def curve(values: deque[float], highest: float) -> str:
    """Draw values as heights, the last one at the right."""
    if highest <= 0:
        return " " * SHOWN
    steps = len(HEIGHTS) - 1
    return "".join(HEIGHTS[round(max(one, 0) / highest * steps)] for one in values).rjust(SHOWN)


class Live:
    """The view: a few lines on a terminal that are gone at the end, else a line now and then."""

    def __init__(self, where: str, names: Mapping[str, str], *, shows: bool = True) -> None:
        self._where = where
        self._names = names
        self._terminal = sys.stderr.isatty()
        self._off = say.quiet or not shows
        self._drawn = 0
        self._what = ""
        self._samples: Samples | None = None
        self._changes: list[tuple[float, str]] = []
        #: When the last bytes came, and how many there were.
        self._news = 0.0, 0
        self._started = self._due = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def begin(self, what: str) -> Self:
        """Take note that the run ``what`` begins."""
        say.detail(f"{self._where} {what} begins")
        self._what, self._samples, self._changes, self._news = what, None, [], (0.0, 0)
        self._started = time.monotonic()
        self._due = self._started + (STEP_S if self._terminal else LINE_S)
        return self

    def watch(self, directory: Path) -> None:
        """Follow the directory in which the run is written."""
        from mptcplab.labels.events import changes

        self._samples = Samples(directory, self._names)
        try:
            import tomllib

            scenario = tomllib.loads((directory / "scenario.toml").read_text("utf-8"))
        except (OSError, ValueError):
            return
        self._changes = [(one.at_s, f"{one.path}: {one.verb}") for one in changes(scenario)]

    def __call__(self, at_ns: int, amount: int) -> None:
        """Take note of the run's time and of the bytes so far."""
        if amount != self._news[1]:
            self._news = at_ns / 1e9, amount
        if self._off or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + (STEP_S if self._terminal else LINE_S)
        self._show(at_ns / 1e9, amount)

    def _show(self, at_s: float, amount: int | None) -> None:
        paths = [] if self._samples is None else self._samples.paths()
        moved = sum(path.bytes for path in paths) if amount is None else amount
        head = f"{self._where} {self._what}".strip() + f": at {at_s:.1f} s, {text.size(moved)}"
        if amount is not None and at_s - self._news[0] >= SILENT_NS / 1e9:
            head += f", nothing new for {at_s - self._news[0]:.0f} s"
        done = [f"{when:g} s {what}" for when, what in self._changes if when <= at_s]
        cells = rows(paths)
        if not self._terminal:
            parts = [f"{row[0]} {', '.join(row[2:])}" for row in cells]
            say.remark("; ".join([head, *parts, *done[-1:]]))
            return
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(["", row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in cells
        ]
        self._draw([head, *lines, *(f"  {one}" for one in done[-1:])])

    def _draw(self, lines: list[str]) -> None:
        width = shutil.get_terminal_size().columns - 1
        shown = [text.clean(line)[:width] for line in lines]
        if not carries(sys.stderr, "".join(shown)):
            shown = [line.translate(PLAIN) for line in shown]
        self._erase()
        print("\n".join(shown), end="", file=sys.stderr, flush=True)
        self._drawn = len(shown)

    def clear(self) -> None:
        """Take the lines away."""
        if self._drawn:
            self._erase()
            sys.stderr.flush()

    def _erase(self) -> None:
        if self._drawn:
            up = f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else ""
            print(f"\r{up}\x1b[J", end="", file=sys.stderr)
            self._drawn = 0


class Beside(Live):
    """The view beside a program that has the terminal: in its title; else a line now and then."""

    def __init__(self, where: str, names: Mapping[str, str], *, shows: bool = True) -> None:
        super().__init__(where, names, shows=shows)
        self._over = Event()
        self._thread = Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._started = time.monotonic()
        if not self._off:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._drawn:
            self._title("")

    def _follow(self) -> None:
        while not self._over.wait(2 * STEP_S if self._terminal else LINE_S):
            self._show(time.monotonic() - self._started, None)

    def _draw(self, lines: list[str]) -> None:
        columns = (" ".join(line.split()) for line in (lines[0], *lines[1:]))
        self._title(" · ".join(column.lstrip(HEIGHTS) for column in columns))
        self._drawn = 1

    def _title(self, title: str) -> None:
        # OSC 2 (ECMA-48): the title of the window, which no program's output moves.
        print(f"\x1b]2;{text.clean(title)}\x07", end="", file=sys.stderr, flush=True)
