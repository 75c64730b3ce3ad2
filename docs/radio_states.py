"""What a radio of two states would say of printed handshakes, for the page of families."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from pathlib import Path

from mptcplab import measurements
from mptcplab.calibration import rows
from mptcplab.calibration.families import families
from mptcplab.calibration.subject import AWAKE
from mptcplab.study import experiments
from mptcplab.study.campaigns import inherited

TABLE = """\
## A radio of two states

A radio that slept answers later by the time that waking takes. With the delay of an awake one, or with that time, mean and deviation of printed handshakes say how often it slept. Literature
prints the time for two technologies. With it, a deviation as small as theirs allows one sleeping radio in hundreds of handshakes, and each mean is of some six: so none slept so deeply, and what
made handshakes differ is something else. Where they are late, `asleep-bursts` says the same by the criterion. If an awake radio answers within {awake} of the round trip of data, as fits take it where handshakes are late, waking takes as long as in the last but one
column. It is no more than a guess: other delays when awake give other times. Nothing is chosen by the last column; it shows what such a radio would be worth. A link has such a radio as
[`alternatives`](scenario.md): one with the element `promotion`, and one without, each with its weight.

| row | handshake ms | waking in literature | slept at most | awake, taken | slept then | handshake if it slept | printed within MPTCP |
|---|---|---|---|---|---|---|---|
"""


def states() -> Iterator[str]:
    """Give the section, a line for each row whose handshakes are printed with a deviation."""
    yield TABLE.format(awake=f"{100 * AWAKE:.0f} %")
    joint = dict(_joint())
    for row, subject in rows.subjects().items():
        handshake, rtt = subject.target("handshake_rtt"), subject.target("rtt")
        if handshake is None or rtt is None or not handshake.sd or subject.technology == "Wi-Fi":
            continue
        mean, sd = handshake.value, handshake.sd
        cells = [f"`{row}`", f"{mean:.3g} ± {sd:.3g}"]
        known = families()["asleep-bursts"].waking_ms.get(subject.technology)
        if known is None:
            cells += ["", ""]
        else:
            share = (1 - math.sqrt(max(0.0, 1 - 4 * (sd / known) ** 2))) / 2
            cells += [f"{known:g} ms", f"1 in {float(f'{1 / share:.2g}'):.0f}"]
        awake, late = subject.awake_rtt_ms, subject.late_ms
        if late:
            waking = (late**2 + sd**2) / late
            cells += [f"{awake:.3g} ms", f"{100 * late / waking:.0f} %", f"{awake + waking:.3g} ms"]
        else:
            cells += ["", "", ""]
        yield "| " + " | ".join([*cells, joint.get(row, "")]) + " |\n"


def _joint() -> Iterator[tuple[str, str]]:
    """Give what was printed of a row's path within MPTCP, by the row."""
    printed = measurements.load().multipath
    file = Path(experiments.__file__).parent / "eight-subflows.toml"
    for name, campaign in inherited(tomllib.loads(file.read_text())["campaign"]).items():
        subflows = printed[f"umass-tr/III/{name}-8"].subflows
        for path, row in campaign["paths"].items():
            own = [subflows[f"{path}-{number}"].handshake_rtt for number in (1, 2)]
            yield row, ", ".join(f"{one.mean:.3g}" for one in own if one is not None)
