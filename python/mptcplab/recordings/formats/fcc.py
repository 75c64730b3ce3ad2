"""Measuring Broadband America (FCC): ``curr_httpgetmt.csv`` and its like, tests hours apart."""

from __future__ import annotations

from mptcplab.recordings import table
from mptcplab.recordings.figures import figure
from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import Recording
from mptcplab.recordings.timeline import count

NEEDS = ("unit_id", "dtime", "target", "bytes_sec", "sequence", "successes")
MBPS = 8e-6


class Fcc:
    """The tests of a unit."""

    name = "fcc"
    title = "FCC Measuring Broadband America: raw CSV of HTTP tests; choose with --where unit_id=N"
    reads = (
        "bytes_sec of the last sequence of each test → the mean of down_mbps (of a post "
        "up_mbps), and how it is drawn"
    )
    empty = "anything over time, the other direction, delay, loss"
    licence = "a work of the United States government: public domain"

    def matches(self, file: File) -> bool:
        return set(NEEDS) <= set(file.columns)

    def read(self, file: File, options: Options) -> list[Recording]:
        units: set[str] = set()
        tests: dict[tuple[str, str], tuple[float, float]] = {}
        failed = 0
        for line, row in table.rows(file, NEEDS, options):
            units.add(row["unit_id"])
            if len(units) > 1:
                raise ValueError(
                    f"another unit begins: choose one, as by --where unit_id={row['unit_id']}", line
                )
            try:
                if table.number(row, "successes") == 0:
                    failed += 1
                    continue
                key = (row["dtime"], row["target"])
                here = (table.number(row, "sequence"), table.number(row, "bytes_sec"))
                tests[key] = max(tests.get(key, here), here)
            except ValueError as error:
                raise ValueError(str(error), line) from error
        if not tests:
            raise ValueError("no test succeeded: there is nothing to make a link of", 1)
        direction = "up" if "post" in file.path.name else file.direction or "down"
        rates = [bytes_sec * MBPS for _, bytes_sec in tests.values()]
        return [
            Recording(
                name=f"unit-{units.pop()}",
                figures={f"{direction}_mbps": figure(rates)},
                rates="several TCP connections at once: near to capacity, and not above it",
                notes=[f"{count(failed, 'row')} of tests that failed, left out"] if failed else [],
            )
        ]


FORMAT = Fcc()
