"""Look for remedies that harm, over unlike paths that are drawn: ``python -m experiments.findings.harm``.

Draws transfers over paths that differ in rate by up to 80 times, with queues of up to 2 s, small windows, losses and outages, tries
all that is recommended, and keeps in ``harm.json`` what the transfer took with it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from experiments.findings.drawn import Draw
from experiments.findings.run import ASIDE, gains, recommended
from experiments.findings.scenarios import Table, ask, away, scenario

HARM = Path(__file__).parent / "harm.json"
SEED = 81003
EACH = 80


def one_path(draw: Draw, least: float = 1.5, most: float = 6) -> Table:
    """Join no second path, often with a window that is small."""
    return scenario(
        draw.bulk(draw.between(2, 12), draw.mbps),
        wifi=draw.wifi,
        lte=_slower(draw, draw.between(least, most)),
        mptcp={"path_manager": "single"},
        tcp=_window(draw),
    )


def one_path_beside_a_far_slower_one(draw: Draw) -> Table:
    """Join none where a further path would make the transfer longer."""
    return one_path(draw, 6, 80)


def two_paths(draw: Draw) -> Table:
    """Use a path that is slower, and has a long queue at times."""
    policies = draw.of.choice(({}, {"scheduler": "lowest-rtt"}, {"scheduler": "round-robin"}))
    transfer = draw.of.choice((draw.bulk(draw.between(2, 12), draw.mbps), _asking(draw)))
    slower = _slower(draw, draw.between(1, 10))
    return scenario(transfer, wifi=draw.wifi, lte=slower, mptcp=policies, tcp=_window(draw))


def losses(draw: Draw) -> Table:
    """Lose packets on one path or on both."""
    lossy = {name: path | _loss(draw) for name, path in draw.both.items()}
    paths = draw.of.choice(
        (lossy, {"wifi": lossy["wifi"]}, {"wifi": lossy["wifi"], "lte": draw.lte})
    )
    policies = draw.of.choice(({}, {}, {"scheduler": "redundant"}))
    transfer = draw.of.choice((draw.bulk(8, draw.mbps), _asking(draw), _asking(draw)))
    return scenario(transfer, mptcp=policies, **paths)


def outages(draw: Draw) -> Table:
    """Take a path away, or let it hold packets up, once or twice."""
    timeline = []
    for at_s in draw.of.choice(((2,), (1, 8))):
        verb = draw.of.choice(("blackout", "hold"))
        timeline += away(draw.of.choice(("wifi", "lte")), at_s, at_s + draw.between(0.8, 6), verb)
    transfer = draw.of.choice((draw.size(12, draw.mbps), _asking(draw)))
    return scenario(transfer, timeline=timeline, tcp=_window(draw), **draw.both)


FAMILIES: tuple[Callable[[Draw], Table], ...] = (
    one_path,
    one_path_beside_a_far_slower_one,
    two_paths,
    losses,
    outages,
)


def _slower(draw: Draw, times: float) -> Table:
    path = draw.path(draw.mbps / times, draw.between(20, 120))
    return path | {"queue": f"{draw.between(80, 2000):.0f} ms"}


def _window(draw: Draw) -> Table:
    fixed = {
        "receive_buffer": f"{draw.between(100, 700):.0f} kB",
        "receive_buffer_tuning": False,
    }
    return draw.of.choice(({}, {}, fixed))


def _loss(draw: Draw) -> Table:
    return {"loss": f"{draw.between(0.3, 8)} %"}


def _asking(draw: Draw) -> Table:
    response_kb = draw.between(1, 900)
    requests = round(min(80, 3000 / response_kb) + 12)
    return ask(
        response=f"{response_kb} kB",
        think=f"{draw.of.choice((0, 20, 200))} ms",
        requests=requests,
    )


def scenarios() -> Iterator[tuple[str, Table]]:
    """Give all of them with their family."""
    for family in FAMILIES:
        for number in range(EACH):
            yield family.__name__, family(Draw(f"{SEED}:{family.__name__}:{number}"))


def measured(number: int) -> dict[str, Any]:
    """Run one, and with each remedy that is recommended."""
    name, table = list(scenarios())[number]
    seed = SEED + number
    run = recommended(table, seed)
    tried = gains(table, run, seed)
    known = {key: value for key, value in run.items() if key not in ASIDE}
    return {"name": name, "seed": seed, **known, "tried": tried}


def main() -> None:
    """Run all of them."""
    rows = []
    with ProcessPoolExecutor() as pool:
        for row in pool.map(measured, range(EACH * len(FAMILIES))):
            rows.append(row)
            print(*row.values(), file=sys.stderr, flush=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    HARM.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
