"""The figures of an experiment, as files beside its campaigns."""

from __future__ import annotations

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from mptcplab.study.experiment import Experiment
    from mptcplab.study.measured import Measured


def draw(experiment: Experiment, measured: Measured, out: Path) -> dict[str, str | None]:
    """Draw what can be drawn; gives, for each file, why it is missing if it is."""
    from mptcplab.drawing import figure

    drawn: dict[str, str | None] = {}
    for one in experiment.drawings:
        name = f"{experiment.name}/{one.name}.svg"
        try:
            figure(
                one.kind,
                measured.campaigns[one.campaign],
                out / name,
                by=one.by,
                where=one.where,
                value=one.value,
                paths=one.paths,
            )
        except Error as error:
            drawn[name] = str(error)
        else:
            drawn[name] = None
    return drawn
