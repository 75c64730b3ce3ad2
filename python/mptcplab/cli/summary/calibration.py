"""Every target of a calibration beside what the link shows."""

from __future__ import annotations

from mptcplab.calibration.target import FIGURES
from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.cli.summary.remarks import MERE_INFORMATION
from mptcplab.labels import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.calibration.calibration import Calibration
    from mptcplab.calibration.subject import Subject
    from mptcplab.calibration.target import Residual


def print_calibration(calibration: Calibration) -> None:
    """Print whether the link shows what was measured, then figure by figure."""
    page = Page()
    missed = [FIGURES[figure] for figure in calibration.missed]
    verdict = f"does not show {', '.join(missed)}" if missed else "shows every figure"
    page.paragraph(
        f"{calibration.name}: {verdict}", indent="", style="warning" if missed else "good"
    )
    _report(page, calibration.fit.subject, missed=bool(missed))
    page.line()
    rows = list(calibration.residuals.values())
    draw(
        page,
        [
            Column("figure", [FIGURES[one.target.figure] for one in rows], left=True),
            Column("measured", [_measured(one) for one in rows]),
            Column("shown", [_with_sd(one.shown, one.sd) for one in rows]),
            Column("ratio", [_ratio(one) for one in rows]),
            Column("", ["" if one.is_met else "missed" for one in rows], left=True),
        ],
    )


def _report(page: Page, subject: Subject, *, missed: bool) -> None:
    """Say what of captures was taken, and what to try where it cannot be shown."""
    if subject.taken is None:
        return
    sender = subject.tcp["congestion_control"]
    source = ", as its run says" if subject.sender_known else ""
    page.paragraph(f"measured is {subject.taken}; it is simulated with {sender}{source}")
    for row in subject.diagnostics:
        if row["diagnostic"] not in MERE_INFORMATION:
            page.paragraph(row["message"], first="! ", style="warning")
    if missed and not subject.sender_known:
        page.paragraph("if its sender had another congestion control, say so with --controller")


def _measured(one: Residual) -> str:
    return ("< " if one.target.below else "") + _with_sd(one.target.value, one.target.sd)


def _with_sd(value: float | None, sd: float | None) -> str:
    if value is None:
        return "–"
    return text.figure(value) + (f" ± {text.figure(sd)}" if sd is not None else "")


def _ratio(one: Residual) -> str:
    ratio = one.row().get("ratio")
    return "" if ratio is None else f"{ratio:.2f}"
