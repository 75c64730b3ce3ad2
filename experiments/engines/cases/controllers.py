"""The papers' controllers: the simulation's beside those that are loaded into the kernel (``mptcplab controllers --load``)."""

from __future__ import annotations

from experiments.engines.case import Case, Path, lasting, mptcp
from experiments.engines.cases.sharing import RENO, bottleneck, neighbour

# Losses decide: enough of them that a short transfer is like another.
LOSSY = (Path(20, 40, 150, loss_percent=1), Path(20, 80, 150, loss_percent=1))
ALIKE = (Path(20, 40, 150, loss_percent=1), Path(20, 40, 150, loss_percent=1))
# Queues decide: Wi-Fi, and a cellular path that queues for longer.
FULL = (Path(20, 25, 100), Path(8, 60, 120))
# One path loses far more than the other.
WORSE = (Path(20, 40, 150, loss_percent=0.5), Path(20, 40, 150, loss_percent=3))
LASTS = lasting("15 s")
# By the figures of single runs: those of the simulation with seeds 1 to 5, beside the kernel's.
SEEDS = (
    "the seeds: in the simulation, too, the kernel's five give shorter delays than the others, 0.89 to 1.17 times the kernel's; OLIA over lossy "
    "paths 911 ms, and 74.4 % over the first. One or two of five runs decide the longest gap"
)


def _over(controller: str, name: str, links: tuple[Path, ...]) -> Case:
    text = mptcp(controller, LASTS, links)
    drawn = any(link.loss_percent for link in links)
    return Case(
        f"{controller}, {name}",
        "controllers",
        text,
        is_multipath=True,
        is_drawn=drawn,
        cause=SEEDS if drawn else "",
    )


def _beside(controller: str) -> Case:
    text = mptcp(controller, LASTS, bottleneck("one", "two"), more=neighbour(RENO))
    name = f"{controller}, both paths over one link, beside a flow of Reno"
    return Case(name, "controllers", text, is_multipath=True, is_drawn=True)


CASES = (
    *(
        _over(controller, "lossy paths", LOSSY)
        for controller in ("lia", "olia", "balia", "ewtcp", "coupled-increase", "coupled-decrease")
    ),
    *(
        _over(controller, "equal paths with losses", ALIKE)
        for controller in ("lia", "olia", "balia")
    ),
    *(
        _over(controller, "a much worse path", WORSE)
        for controller in ("lia", "olia", "balia", "fully-coupled")
    ),
    *(_over(controller, "paths with queues", FULL) for controller in ("lia", "olia", "balia")),
    *(_beside(controller) for controller in ("lia", "olia", "balia", "ewtcp")),
)
