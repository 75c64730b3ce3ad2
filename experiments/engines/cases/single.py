"""Plain TCP over one path: congestion controls, queues, losses."""

from __future__ import annotations

from experiments.engines.case import HYSTART, RATES, Case, Path, bulk, tcp

CONTROLLERS = {"reno": "reno-linux", "cubic": "cubic-linux", "bbr": "bbr"}


# Shown in the captures: one segment and its copies, sent seven times in a row for nothing.
COPIES = (
    "a single event: if copies of a segment are lost as well, the time-out doubles. In the run with seed 3, where losses come in a row, the "
    "kernel's CUBIC waited for 28.5 s and its Reno for 3.9 s; the simulation's waited for 2.1 and 4.2 s. Without this run the means are 564 "
    "and 669 ms with CUBIC, 479 and 503 ms with Reno"
)
# In the figures of its 16 runs.
LATER = f"{HYSTART}. Eight of 16 runs are like the simulation (a longest gap of 105 ms and a delay of 0.3 ms); six have 904 and 67 ms, two 403 and 7 ms"
# In captures of the simulation with jitter, and in the figures of the kernel's runs.
TWICE = (
    "the first segment that slow start lost may be lost once more: its copy finds the queue still full, and data waits for one round trip more. "
    "Four of the kernel's six runs have gaps of 80 to 81 ms and delays of 0.60 to 0.72 ms; so has one of 24 of the simulation with jitter of "
    "0.1 ms (81 and 0.6 ms), whose captures show this. The others, of both engines, have 40 to 41 ms. Why it is so frequent in the kernel is not known"
)
# Why engines are farther apart than the bands.
CAUSES = {
    "bbr, 10 Mbit/s, 40 ms, deep queue": f"{RATES} (72 ms; 53 to 88 in the kernel's runs)",
    "reno, 10 Mbit/s, 40 ms, 8 % loss": COPIES,
    "cubic, 10 Mbit/s, 40 ms, 8 % loss": COPIES,
    "bbr, 10 Mbit/s, 40 ms, one BDP": f"{RATES} (65 ms; 53 to 67 in the kernel's runs)",
    "cubic, 10 Mbit/s, 100 ms, bloated queue": LATER,
    "reno, 100 Mbit/s, 20 ms, one BDP": TWICE,
    "reno, 20 Mbit/s, 200 ms, 0.1 % loss": (
        "half of the window that overflows the queue is one packet more than the path and the queue hold (see below)"
    ),
    "cubic, 10 Mbit/s, 400 ms, half a BDP": HYSTART,
    "cubic, 20 Mbit/s, 200 ms, 0.1 % loss": HYSTART,
    "cubic, 50 Mbit/s, 10 ms, 0.5 % loss": (
        "in five of eight runs the emulator was late once by 10 to 50 ms, which is also their longest gap"
    ),
}


def _case(controller: str, name: str, path: Path, size_mb: float) -> Case:
    name = f"{controller}, {name}"
    text = tcp(CONTROLLERS[controller], bulk(f"{size_mb:g} MB"), path)
    drawn = path.loss_percent > 0
    return Case(name, "one path", text, is_drawn=drawn, cause=CAUSES.get(name, ""))


# Rates in Mbit/s, round trips in ms, queues in kB: name, path, size in MB.
PATHS = (
    ("1 Mbit/s, 40 ms, small queue", Path(1, 40, 10), 1.5),
    ("10 Mbit/s, 10 ms, small queue", Path(10, 10, 15), 12),
    ("10 Mbit/s, 40 ms, one BDP", Path(10, 40, 50), 12),
    ("10 Mbit/s, 100 ms, bloated queue", Path(10, 100, 1000), 16),
    ("100 Mbit/s, 20 ms, one BDP", Path(100, 20, 250), 100),
    ("10 Mbit/s, 400 ms, half a BDP", Path(10, 400, 250), 18),
    ("50 Mbit/s, 40 ms, 2 % loss", Path(50, 40, 250, 2), 4),
    ("50 Mbit/s, 10 ms, 0.5 % loss", Path(50, 10, 250, 0.5), 24),
    ("20 Mbit/s, 200 ms, 0.1 % loss", Path(20, 200, 500, 0.1), 9),
    ("10 Mbit/s, 40 ms, 8 % loss", Path(10, 40, 100, 8), 0.8),
)
BBR = (
    ("10 Mbit/s, 40 ms, deep queue", Path(10, 40, 600), 15),
    ("10 Mbit/s, 40 ms, one BDP", Path(10, 40, 50), 15),
    ("50 Mbit/s, 40 ms, 0.5 % loss", Path(50, 40, 250, 0.5), 60),
    ("20 Mbit/s, 100 ms, 2 % loss", Path(20, 100, 250, 2), 24),
)
CASES = (
    *(_case("reno", *path) for path in PATHS),
    *(_case("cubic", *path) for path in PATHS),
    *(_case("bbr", *path) for path in BBR),
)
