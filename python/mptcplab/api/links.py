"""Links of what was measured: fitted to captures, or made of recordings."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from mptcplab._core import Error
from mptcplab.surroundings import moments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mptcplab.calibration.calibration import Calibration
    from mptcplab.recordings.importing import Imported


def calibrate(
    captures: str | PathLike[str] | Iterable[str | PathLike[str]] | None = None,
    *,
    row: str | None = None,
    out: str | PathLike[str] | None = None,
    targets: str | PathLike[str] | None = None,
    controller: str | None = None,
    era: str | None = None,
    runs: int = 12,
    progress: Callable[[int, float], None] | None = None,
) -> Calibration:
    """Fit a link so that simulated plain TCP over it reproduces a measurement.

    All families of links that are admissible are fitted, and the measurement decides between them.
    Where it cannot, the link has alternatives, of which each run draws one.

    Args:
        captures: Captures of a transfer over plain TCP, given together as one.
        row: Instead of captures, the id of a row of the papers' measurements.
        out: A file for the link, which scenarios can use as a profile.
        targets: Another file of measurements for ``row``.
        controller: Congestion control of the captured transfer's sender. If left out, that of the
            run that the captures lie in, or else cubic-linux, with ``era`` 2012 reno.
        era: Era of the sender's TCP, as ``mptcp.era`` in scenarios. If left out, that of the run,
            or else today's.
        runs: Number of simulated runs for each candidate link.
        progress: Called with the tries so far and the largest relative error.

    Raises:
        Error: There is not enough to calibrate to; says what is missing.
        KeyboardInterrupt: Ctrl-C; nothing is written.
    """
    from mptcplab.calibration import capture, choice, rows
    from mptcplab.calibration.calibration import Calibration
    from mptcplab.scenario import policy

    if (captures is None) == (row is None):
        raise Error("give either captures or a row to calibrate on")
    if captures is not None and targets is not None:
        raise Error("targets are those of a row: they do not go with captures")
    if row is not None and (controller, era) != (None, None):
        raise Error("controller and era are those of captures: a row has its own")
    known = policy.known("congestion_control")
    if controller not in (None, *known):
        hint = policy.hint("congestion_control", str(controller))
        raise Error(f"there is no congestion controller {controller}; {hint}")
    if runs < 1:
        raise Error(f"runs is {runs}; it must be at least 1")
    if captures is not None:
        subject = capture.subject(captures, controller=controller, era=era)
    else:
        subject = rows.subject(str(row), targets)
    made = choice.choose(subject, runs=runs, workers=os.cpu_count() or 1, progress=progress)
    calibration = Calibration(made)
    if out is not None:
        calibration.write(Path(out))
    return calibration


def import_links(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    out: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - as the command calls it
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    time_zone: str | None = None,
    unaligned: bool = False,
    start_s: float = 0,
    end_s: float | None = None,
    step_s: float = 1,
    rate: str = "20 Mbit/s",
    delay: str = "20 ms",
    queue: str = "200 ms",
    licence: str | None = None,
) -> Imported:
    """Make links, and a scenario with them, from recordings of real networks.

    Args:
        files: Recordings; ``NAME=FILE`` names the path, ``NAME/up=FILE`` its direction, too.
        out: Output directory.
        format: Name of the format, if it cannot be recognised from the files.
        columns: For any CSV, the column of each quantity: ``{"time": "when", "down_kbps": "rx"}``;
            of one path's files with its name: ``{"dish/time": "when"}``.
        where: Column values that rows must have to be used.
        time_zone: Zone of times without a zone (default: UTC).
        unaligned: Start each recording at its own beginning, ignoring its clock.
        start_s: Seconds to leave out at the beginning of the common span.
        end_s: End, in seconds from the beginning of the common span.
        step_s: Average values closer together than this.
        rate: Rate of directions without measurements.
        delay: One-way delay, if none was measured.
        queue: Size of the queues.
        licence: Licence of the recordings, for the origin of the links.

    Raises:
        Error: A file cannot be read or is malformed, or the files do not fit together; says where,
            and what to do. Nothing is written.
    """
    from mptcplab.recordings.importing import ImportSettings, import_recordings

    settings = ImportSettings(
        format=format,
        columns=columns or {},
        where=where or {},
        zone=moments.zone(time_zone),
        licence=licence,
        unaligned=unaligned,
        start_s=start_s,
        end_s=end_s,
        step_s=step_s,
        rate=rate,
        delay=delay,
        queue=queue,
    )
    given = [files] if isinstance(files, str | PathLike) else files
    return import_recordings([os.fspath(file) for file in given], Path(out), settings)
