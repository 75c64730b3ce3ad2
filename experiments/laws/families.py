"""All laws. One family is one file and a line here; its table is drawn where ``docs/laws.md`` names it."""

from __future__ import annotations

from experiments.laws import (
    bbr,
    bottleneck,
    buffer,
    coupling,
    cubic,
    equilibria,
    flapping,
    formulas,
    integers,
    padhye,
    queues,
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
        formulas.LAW,
        coupling.LAW,
        integers.LAW,
        bottleneck.LAW,
        flapping.LAW,
        rerouting.LAW,
        buffer.LAW,
        schedulers.LAW,
        bbr.LAW,
        queues.LAW,
    )
}
