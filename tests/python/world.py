"""A world of files for schedules: a clock that nobody waits for, interfaces that count, a network.

It outlives whoever is killed in it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from mptcplab.campaign import definition
from mptcplab.campaign.executor import Lost
from mptcplab.campaign.work import Batch, Shard, perform
from mptcplab.engines import ENGINES
from mptcplab.engines.engine import Carried, Engine
from mptcplab.schedule import schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from mptcplab.engines.engine import Trial

ZONE = "Europe/Berlin"
SCENARIO = """\
schema = 1

[transfer]
direction = "download"
size = "1 MB"

[path.lte]
interface = "wwan0"

[path.wifi]
interface = "wlan0"
"""
CAMPAIGN = """\
schema = 1
engine = "networks"
scenario = "field.toml"
time_zone = "Europe/Berlin"
hour_bin = 3

[[calendar]]
hours = "06:00-23:00"
visits = 6
for_days = 14

[budget.lte]
per_day = "40 MB"
per_month = "400 MB"
"""
THREE_DAYS = CAMPAIGN.replace("for_days = 14", "for_days = 3")

PATHS = ("lte", "wifi")
CHUNK_BYTES = 64_000
# What a path carries of 1 MB of payload at most, headers and losses included.
OVERHEAD = 0.2
DIGITS = 20
# Who waits for so long is killed less often than who does something.
LONG_SECONDS = 30
# What each gives, and half of it in the evening (UTC).
MBPS = {"lte": 10.0, "wifi": 20.0, None: 26.0}
EVENING = 18
# What passes for something on the disk: the moments between which one may be killed.
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")


class Number:
    """A number in a file, which is whole whenever it is read."""

    def __init__(self, file: Path, first: int = 0) -> None:
        self._file = file
        if not file.exists():
            file.write_text(f"{first:0{DIGITS}}")

    def get(self) -> int:
        # It is asked a hundred thousand times.
        handle = os.open(self._file, os.O_RDONLY)
        value = int(os.pread(handle, DIGITS, 0))
        os.close(handle)
        return value

    def set(self, value: int) -> None:
        handle = os.open(self._file, os.O_WRONLY)
        os.pwrite(handle, f"{value:0{DIGITS}}".encode(), 0)
        os.close(handle)


class World:
    """Its clock, in microseconds, and what its interfaces have carried."""

    def __init__(
        self, directory: Path, begin: datetime = datetime(2026, 3, 20, 9, tzinfo=UTC)
    ) -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.clock = Number(directory / "clock", round(begin.timestamp() * 1e6))
        self.boot = Number(directory / "boot", 1)
        self.counts = {path: Number(directory / path) for path in PATHS}
        self.step: Callable[[], None] = lambda: None

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.get() / 1e6, UTC)

    def sleep(self, seconds: float) -> None:
        if seconds < LONG_SECONDS:
            self.step()
        self.clock.set(self.clock.get() + max(1, round(seconds * 1e6)))

    def carry(self, path: str, count: int, *, seed: int) -> None:
        """Have a path carry bytes."""
        self.step()
        self.counts[path].set(self.counts[path].get() + count)
        self.note("carried", path=path, count=count, seed=seed)

    def restart(self) -> None:
        """Have all interfaces count anew."""
        self.boot.set(self.boot.get() + 1)
        for count in self.counts.values():
            count.set(0)

    def note(self, what: str, **fields: Any) -> None:
        """Add a line to what really happened."""
        with (self.directory / "truth").open("a") as file:
            file.write(json.dumps({"what": what, "at": self.clock.get(), **fields}) + "\n")

    def truth(self) -> list[dict[str, Any]]:
        file = self.directory / "truth"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def away(self) -> dict[str, str]:
        """Give the paths that cannot be used now: there is no Wi-Fi on Sundays at noon."""
        now = self.now()
        off = now.weekday() == 6 and 10 <= now.hour < 13
        return {"wifi": "there is no interface wlan0"} if off else {}


class Networks(Engine):
    """Transfers in such a world: slower in the evening, MPTCP faster than either path."""

    name = "networks"
    made = "imagined"
    means = "networks of a test"
    real_time = True
    visits = True
    emulates = False
    in_memory = True

    def __init__(self, world: World) -> None:
        self.world = world

    def away(self, scenario: Any) -> dict[str, str]:
        return self.world.away()

    def carried(self, scenario: Any) -> dict[str, Carried]:
        boot = str(self.world.boot.get())
        return {path: Carried(one.get(), boot) for path, one in self.world.counts.items()}

    def tables(self, trial: Trial, *, samples: bool, progress: Any) -> Any:
        world, chance = self.world, random.Random(f"{trial.seed} {trial.baseline}")
        size = trial.scenario.transfer.size
        paths = PATHS if trial.baseline is None else (trial.baseline,)
        world.note("begun", seed=trial.seed, path=trial.baseline)
        left = int(size * (1 + OVERHEAD * chance.random()))
        while left:
            count = min(left, CHUNK_BYTES)
            path = chance.choice(paths)
            world.carry(path, count, seed=trial.seed)
            left -= count
            progress(0, size - left)
        mbps = MBPS[trial.baseline] * (0.5 if world.now().hour >= EVENING else 1.0)
        seconds = size * 8 / (mbps * chance.uniform(0.95, 1.05)) / 1e6
        world.sleep(seconds)
        world.note("ended", seed=trial.seed, path=trial.baseline)
        return Given(size, seconds, mptcp=trial.mptcp)


class Given:
    """The tables of a transfer, as far as anybody looks at them."""

    def __init__(self, size: int, seconds: float, *, mptcp: bool) -> None:
        connection = {
            "connection": 0,
            "client_address": "192.0.2.1",
            "client_port": 4000,
            "server_address": "203.0.113.1",
            "server_port": 7443,
            "protocol": "mptcp" if mptcp else "tcp",
            "start_ns": 0,
            "start_s": 0.0,
            "duration_s": seconds,
            "subflows": 1,
            "began": "handshake",
            "ended": "closed",
            "vantage": None,
        }
        transfer = {
            "connection": 0,
            "direction": "down",
            "bytes": size,
            "elapsed_s": seconds,
            "throughput_mbps": size * 8 / seconds / 1e6,
        }
        self._rows = {"connections": [connection], "transfers": [transfer]}

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self._rows.get(name, [])

    def outcome(self) -> dict[str, Any]:
        return {"finished": True, "reason": "complete"}


class Here:
    """An executor without processes: who kills a worker kills us."""

    near = True

    def __init__(self) -> None:
        self._ended: list[tuple[Batch, Shard | Lost]] = []

    def free(self) -> int:
        return 1

    def submit(self, batch: Batch) -> None:
        self._ended.append((batch, perform(batch)))

    def wait(self, seconds: float) -> list[tuple[Batch, Shard | Lost]]:
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Nobody is there to let go of."""


def scheduled(world: World, file: Path, out: Path, **more: Any) -> Any:
    """Run a schedule in it."""
    with known(world):
        return schedule.run(definition.load(file), out, clock=world, executor=Here, **more)


def known(world: World) -> AbstractContextManager[Any]:
    """Have its networks among the engines."""
    return patch.dict(ENGINES, {Networks.name: Networks(world)})


def killed(arguments: list[str]) -> None:
    """Run a schedule in a process that kills itself on the way: ``[DIRECTORY, FILE, OUT, STEPS]``.

    It does so after so many steps of the clock, of a transfer or of the file system; for 0, never.
    """
    directory, file, out, steps = arguments
    left = int(steps)
    world = World(Path(directory))

    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS and out in str(arguments[0]):
            step()

    world.step = step
    sys.addaudithook(hook)
    scheduled(world, Path(file), Path(out))


def written(directory: Path, text: str = CAMPAIGN) -> Path:
    """Write a campaign and its scenario."""
    (directory / "field.toml").write_text(SCENARIO)
    file = directory / "weeks.toml"
    file.write_text(text)
    return file
