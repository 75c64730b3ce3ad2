"""Probes of the paths of a schedule: once, after the runs of a visit."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.results.campaign import PROBES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mptcplab.campaign.matrix import Matrix

# Probes of a path take no more: 4 MB that a proxy may take, several times 100 kB, and headers.
PATH_BYTES = 6_000_000
# A port that no path reaches costs half a minute for each path: it is tried less and less often, up
# to once in so many visits.
MOST_VISITS = 16


class Probing:
    """The probes of a schedule, of which the directory has the table once they are done."""

    def __init__(self, matrix: Matrix, directory: Path, warn: Callable[[str], None]) -> None:
        self._directory = directory
        self._warn = warn
        #: The first visit at which they are tried again, and how many later after another failure.
        self._next, self._step = 0, 1
        self._scenario = matrix.configurations[0].mptcp.scenario
        self._idle_ns = (
            matrix.definition.campaign.probe_idle if matrix.definition.campaign.engine.visits else 0
        )

    def is_due(self, visit: int) -> bool:
        """Whether the paths are to be probed at a visit, if it has room for it."""
        wanted = bool(self._idle_ns) and self._served and visit >= self._next
        return wanted and not (self._directory / PROBES).exists()

    @property
    def _served(self) -> bool:
        return self._scenario.field is not None and self._scenario.field.server is not None

    def probe(self, visit: int) -> None:
        """Probe all paths, and keep what they found; a later visit does it where this cannot."""
        from mptcplab.probing.probes import Probes, probe_paths
        from mptcplab.probing.row import Row

        field = self._scenario.field
        assert field is not None  # noqa: S101 - it is due
        assert field.server is not None  # noqa: S101 - it is due
        # By interface, which is how they are probed.
        paths = {str(path.interface): name for name, path in self._scenario.paths.items()}
        try:
            found = probe_paths(field.server, list(paths), field.token, self._idle_ns / 1e9, None)
            if found.unreached:
                self._fail(visit, found.unreached)
                return
            rows = [Row(**row | {"path": paths[row["path"]]}) for row in found.rows]
            Probes(rows).write(self._directory, "parquet")
        except Error as error:
            # No probe is worth a visit.
            self._fail(visit, str(error))

    def _fail(self, visit: int, reason: str) -> None:
        self._step = min(2 * self._step, MOST_VISITS)
        self._next = visit + self._step
        self._warn(f"paths were not probed: {reason}; tried again from visit {self._next} on")
