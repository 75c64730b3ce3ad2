"""Every target of a calibration beside what the link shows."""

from __future__ import annotations

from mptcplab.calibration.target import HEADS
from mptcplab.cli.summary.page import Column, Page, draw
from mptcplab.cli.summary.remarks import MERE_INFORMATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.calibration.calibration import Calibration
    from mptcplab.calibration.subject import Subject


def print_calibration(calibration: Calibration) -> None:
    """Print whether the link shows what was measured, then figure by figure."""
    page = Page()
    style = "warning" if calibration.missed else "good"
    page.paragraph(f"{calibration.name}: {calibration.verdict}", indent="", style=style)
    _report(page, calibration.fit.subject, missed=bool(calibration.missed))
    _families(page, calibration)
    page.line()
    cells = zip(*calibration.cells, strict=True)
    left = (HEADS[0], HEADS[-1])
    draw(
        page,
        [Column(head, own, left=head in left) for head, own in zip(HEADS, cells, strict=True)],
    )


def _families(page: Page, calibration: Calibration) -> None:
    """Say what kind of link it is, how likely others are, and why."""
    first, *others = calibration.choice.tried
    if not others:
        return
    page.paragraph(f"{first.fit.family.title} ({first.weight:.0%}): {calibration.choice.reason}")
    for one in others:
        page.paragraph(f"{one.fit.family.title}: {one.weight:.0%}", first="or ")


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
