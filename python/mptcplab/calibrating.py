"""Measured figures in, links out."""

from __future__ import annotations

import os
from pathlib import Path

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from mptcplab.calibration.calibration import Calibration


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
    """Fit a link so that simulated plain TCP over it shows what was measured.

    Args:
        captures: Captures of a transfer over plain TCP, given together as one.
        row: Instead of captures, the id of a row of the papers' measurements.
        out: A file for the link, which scenarios may name as a profile.
        targets: Another file of measurements for ``row``.
        controller: Congestion control of the captured transfer's sender (default: cubic-linux, with
            ``era`` 2012 reno).
        era: Whose TCP it was, as ``mptcp.era`` in scenarios (default: today's).
        runs: How many runs each try is simulated with.
        progress: Called with the tries so far and the largest relative error.

    Raises:
        Error: There is nothing to calibrate on; says what is missing.
        KeyboardInterrupt: Ctrl-C; nothing is written.
    """
    from mptcplab.calibration import capture, fit, rows
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
    made = fit.fit(subject, runs=runs, workers=os.cpu_count() or 1, progress=progress)
    calibration = Calibration(made)
    if out is not None:
        calibration.write(Path(out))
    return calibration
