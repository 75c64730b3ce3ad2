"""All laws. One family is one file and a line here; its table is drawn where ``docs/laws.md`` names it."""

from __future__ import annotations

from experiments.laws import (
    bottleneck,
    buffer,
    cubic,
    equilibria,
    flapping,
    padhye,
    reno,
    rerouting,
    schedulers,
)
from experiments.laws.law import Law

LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        reno.LAW,
        padhye.LAW,
        cubic.LAW,
        equilibria.LAW,
        equilibria.SPLIT,
        bottleneck.LAW,
        flapping.LAW,
        rerouting.LAW,
        buffer.LAW,
        schedulers.LAW,
    )
}
