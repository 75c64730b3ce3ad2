"""What networks do to connections, as the page of a schedule has it."""

from __future__ import annotations

from mptcplab.charts.shape import Table
from mptcplab.labels import text
from mptcplab.probing.row import FOUND, details
from mptcplab.results.campaign import Campaign

COLUMNS = ["path", "probe", "verdict", "sent → arrived, and evidence"]


def probes(campaign: Campaign) -> list[Table]:
    """List by path what is altered or blocked, and how many probes found nothing."""
    if campaign.probes is None:
        return []
    rows = []
    for (path,), of_path in campaign.probes.group_by("path", maintain_order=True):
        found = of_path.filter(of_path["verdict"].is_in(FOUND))
        rows += [
            [path, row["probe"], row["verdict"], text.clean(details(row))]
            for row in found.iter_rows(named=True)
        ]
        counts = {name: (of_path["verdict"] == name).sum() for name in ("clear", "unknown")}
        others = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        rows.append([path, "others" if found.height else "all", others, ""])
    title = "What networks do to connections"
    return [Table("probes", title, COLUMNS, [False] * len(COLUMNS), rows, [None] * len(COLUMNS))]
