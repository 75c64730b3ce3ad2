"""Queues on the way, which only a simulation knows."""

from __future__ import annotations

import polars as pl

from mptcplab.report.columns import definitions, numbers, thin
from mptcplab.report.shape import Chart, Series
from mptcplab.report.subject import Subject


def chart(subject: Subject) -> Chart | None:
    """Queueing delay of links over time; simulations know it."""
    queues = subject.analysis.queues.filter(direction=subject.direction)
    queue = pl.concat_str("link", pl.lit(" "), "element")
    # Queues are thinned by name as samples are by subflow.
    samples, thinned = thin(queues.with_columns(subflow=queue), "queue_delay_ms")
    if samples.is_empty():
        return None
    several = samples.group_by("link").agg(pl.col("element").n_unique())["element"].max() != 1
    carried = {row["path"]: row["subflow"] for row in subject.subflows}
    return Chart(
        "Queueing delay on the way",
        "How long the packet that left a link's queue last had waited in it, in the direction of "
        "the data, sampled. Only the simulator knows it.",
        definitions("queues", "link", "element", "at_s", "queue_delay_ms"),
        series=[
            Series(
                str(name if several else link),
                "step",
                numbers(own["at_s"]),
                numbers(own["queue_delay_ms"]),
                subflow=carried.get(subject.path_of(str(link))),
            )
            for (link, name), own in samples.group_by("link", "subflow", maintain_order=True)
        ],
        value="ms",
        thinned=thinned,
    )
