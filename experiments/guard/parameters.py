"""What each of the guard's parameters does, at other values than its default: ``python -m experiments.guard.parameters``.

Each has two other values, mostly half and double. With each of them, and with the defaults, healthy paths are to be left alone, and Wi-Fi goes bad in some ways.
What was found in simulation goes to ``parameters.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.guard.figures import Frame, figures, left_s, shown, simulated, typical
from experiments.guard.healthy import decisions
from experiments.guard.scenarios import DEADLY, GOES_S, HEALTHY_LASTS_S, LASTS_S, Case, healthy
from experiments.markdown import table
from mptcplab.results.record import build
from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.scenario import load as load_scenario

RESULTS = Path(__file__).parent / "parameters.json"
# The default stands in the middle. Of probes there may be ten.
VALUES: dict[str, tuple[Any, Any, Any]] = {
    "margin": ("30 ms", "60 ms", "120 ms"),
    "probe_timeout": ("45 ms", "90 ms", "180 ms"),
    "probe_factor": (1, 2, 4),
    "probes": (3, 6, 10),
    "trial_interval": ("75 ms", "150 ms", "300 ms"),
    "trial_answers": (1, 3, 6),
    "hold_down": ("150 ms", "300 ms", "600 ms"),
    "longest_hold_down": ("15 s", "30 s", "60 s"),
    "forgive": ("30 s", "60 s", "120 s"),
}
BAD = (
    Case("blackout", "paced download"),
    Case("blackout", "paced upload"),
    Case("uplink dead", "paced download"),
    Case("flapping", "paced download"),
    Case("40 % lost", "paced upload"),
    Case("bloat", "greedy download"),
)
# Wi-Fi is silent for a second again and again, so that the hold-down grows and may be forgotten: after how many seconds each time.
OFTEN = {Case(f"silent every {every_s} s", "paced download"): every_s for every_s in (20, 45)}
OFTEN_S = 400
# Where packets are lost runs differ much, and there are more of them.
VARIED = 5
# A median that is greater or less by this than with the defaults is shown.
DIFFERS = 1.05
Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """The guard with one parameter at another value; with none as it is."""

    parameter: str = ""
    value: Any = None

    def read(self, case: Case) -> Scenario:
        """Give a case with this guard."""
        text = often(case) if case in OFTEN else case.text("guard")
        if self.parameter:
            written = f"{{ {self.parameter} = {json.dumps(self.value)} }}"
            text = text.replace("[run]", f"path_manager_parameters = {written}\n\n[run]")
        return load_scenario(tomllib.loads(text))[1]


def main() -> None:
    """Run, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--seeds", type=int, default=10, help="runs of each bad case")
    parser.add_argument("--healthy-seeds", type=int, default=5, help="runs of each healthy case")
    parser.add_argument(
        "--often-seeds", type=int, default=2, help="runs of each in which Wi-Fi fails often"
    )
    parser.add_argument("--at-once", type=int, default=2, help="runs at once")
    given = parser.parse_args()
    seeds = {
        **dict.fromkeys(healthy(), given.healthy_seeds),
        **{case: given.seeds * (VARIED if "lost" in case.way else 1) for case in BAD},
        **dict.fromkeys(OFTEN, given.often_seeds),
    }
    keys = [
        (setting, case, seed)
        for setting in settings()
        for case, count in seeds.items()
        for seed in range(1, count + 1)
    ]
    rows: dict[tuple[Setting, str], Row] = {}
    with ProcessPoolExecutor(given.at_once) as workers:
        found = workers.map(simulated_once, keys, chunksize=given.seeds)
        for (setting, case, _), one in zip(keys, found, strict=True):
            name = "healthy" if case in healthy() else case.name
            about = {"parameter": setting.parameter, "value": setting.value, "build": build()}
            row = rows.setdefault((setting, name), about | {"case": name, "tried": 0})
            row["tried"] += 1
            for figure, value in one.items():
                row.setdefault(figure, []).append(value)
    lines = ",\n".join(json.dumps(row) for row in rows.values())
    RESULTS.write_text(f"[\n{lines}\n]\n")


def settings() -> list[Setting]:
    """Give all that are compared, the defaults first."""
    return [
        Setting(),
        *(
            Setting(parameter, value)
            for parameter, (less, _, more) in VALUES.items()
            for value in (less, more)
        ),
    ]


def often(case: Case) -> str:
    """Write a case in which Wi-Fi fails again and again."""
    text = Case("clean", case.load).text("guard")
    text = text.replace(f'"{HEALTHY_LASTS_S} s"', f'"{OFTEN_S} s"')
    text = text.replace('stop = "60 s"', f'stop = "{2 * OFTEN_S} s"')
    return text + "".join(
        f'\n[[timeline]]\nat = "{at_s} s"\npath = "wifi"\nverb = "{verb}"\n'
        for begins_s in range(GOES_S, OFTEN_S, OFTEN[case])
        for at_s, verb in ((begins_s, "blackout"), (begins_s + 1, "restore"))
    )


def simulated_once(key: tuple[Setting, Case, int]) -> Row:
    """Simulate one; gives its figures, or what the guard did to healthy paths."""
    setting, case, seed = key
    scenario = setting.read(case)
    if case in healthy():
        found = decisions(scenario, seed)
        return {"suspicions": found["guard-suspect"], "suspensions": len(found["evidence"])}
    return simulated(scenario, seed, lambda frame: _taken(frame, case))


def _taken(frame: Frame, case: Case) -> Row:
    found = figures(frame, case)
    row = {name: found[name] for name in ("mbps", "age_ms", "gap_ms", "reused_s")}
    lasts_s = OFTEN_S if case in OFTEN else LASTS_S
    return row | {"left_s": left_s(found), "away_s": round(_away_s(frame, lasts_s), 2)}


def _away_s(frame: Frame, lasts_s: float) -> float:
    """Say for how long Wi-Fi was left in all."""
    (address,) = frame("subflows").filter(path="wifi")["client_address"].unique()
    signals = frame("signals").filter(host="client", local_address=address)
    left, back = (
        signals.filter(signal=f"guard-{name}")["at_s"].to_list()
        for name in ("suspended", "resumed")
    )
    return float(sum([*back, lasts_s][: len(left)]) - sum(left))


def markdown() -> str:
    """Draw the table: medians of the defaults, and of other values what differs."""
    rows = json.loads(RESULTS.read_text())
    by_setting: dict[tuple[str, Any], dict[str, Row]] = {}
    for row in rows:
        by_setting.setdefault((row["parameter"], row["value"]), {})[row["case"]] = row
    default = by_setting["", None]
    cells = []
    for (parameter, value), found in by_setting.items():
        well = found["healthy"]
        counts = f"{sum(well['suspensions'])} in {well['tried']}, {sum(well['suspicions'])}"
        own = [_cell(found[case.name], default[case.name], case) for case in (*BAD, *OFTEN)]
        name = f"`{parameter} = {value}`" if parameter else "defaults"
        cells.append([name, counts, *own])
    heads = [f"{case.way}, {case.load}" for case in (*BAD, *OFTEN)]
    return "\n".join(table(["", "nothing wrong", *heads], cells))


def _cell(row: Row, default: Row, case: Case) -> str:
    names = ("left_s", "age_ms", "gap_ms", "reused_s" if case.way in DEADLY else "away_s")
    own, other = ([typical(one, name) for name in names] for one in (row, default))
    often, as_often = map(_times_left, (row, default))
    if row is not default and all(map(_is_same, [often, *own], [as_often, *other])):
        return ""
    left = shown(own[0]) + (f" in {often}" if 0 < often < row["tried"] else "")
    return " · ".join([left, *map(shown, own[1:])])


def _times_left(row: Row) -> int:
    return sum(left is not None for left in row["left_s"])


def _is_same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return max(one, other) <= DIFFERS * min(one, other)


if __name__ == "__main__":
    main()
