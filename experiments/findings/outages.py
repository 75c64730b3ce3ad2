"""What outages are said to cost beside what they cost: ``python -m experiments.findings.outages``.

Simulates outages of far paths, and of and beside paths that are many times slower, and keeps in ``outages.json`` what was
claimed beside the true cost: what the same run without the outage takes less.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from experiments.findings.run import SEED, found
from experiments.findings.scenarios import BULK, Table, away, scenario

RESULTS = Path(__file__).parent / "outages.json"
# When the path is away, seconds: in slow start, soon after it, and for long.
SPANS = ((1, 2), (2, 5), (4, 5.5), (4, 8))
SIZES = ("10 MB", "30 MB")
# A transfer that ends so soon after the outage began shows nothing.
LEAST_S = 0.5


def cases() -> Iterator[tuple[str, Table, list[Table]]]:
    """Give what paths are like, a scenario and its outage."""
    for rtt_ms, rate, size, span in product((120, 200, 300, 400), (5, 20), SIZES, SPANS):
        far = {"rate": f"{rate} Mbit/s", "delay": f"{rtt_ms // 2} ms", "queue": "300 ms"}
        one = BULK | {"size": size}
        gone = away("wifi", *span)
        yield f"{rtt_ms} ms", scenario(one, wifi=far), gone
        yield f"{rtt_ms} ms", scenario(one, wifi=far, lte=far | {"rate": "10 Mbit/s"}), gone
    for rate, times, size, span in product((10, 20, 50), (3, 10, 20), SIZES, SPANS):
        wifi = {"rate": f"{rate} Mbit/s", "delay": "12 ms", "queue": "60 ms"}
        slow = {"rate": f"{1000 * rate // times} kbit/s", "delay": "40 ms", "queue": "200 ms"}
        table = scenario(BULK | {"size": size}, wifi=wifi, lte=slow)
        yield f"beside a path {times} times slower", table, away("wifi", *span)
        yield f"of a path {times} times slower", table, away("lte", *span)


def measured(number: int) -> dict[str, Any] | None:
    """Run a transfer with its outage and without; None where it ends too soon."""
    name, table, timeline = list(cases())[number]
    without_s = found(table, SEED)["elapsed_s"]
    if without_s < float(timeline[0]["at"].split()[0]) + LEAST_S:
        return None
    result = found(table | {"timeline": timeline}, SEED)
    return {"name": name, **result, "true_cost_s": round(result["elapsed_s"] - without_s, 3)}


def main() -> None:
    """Run all of them."""
    with ProcessPoolExecutor() as pool:
        rows = [row for row in pool.map(measured, range(len(list(cases())))) if row]
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
