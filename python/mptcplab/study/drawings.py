"""The figures of an experiment, as files beside its campaigns."""

from __future__ import annotations

from mptcplab._core import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from mptcplab.study.experiment import Experiment
    from mptcplab.study.measured import Measured


def draw(experiment: Experiment, measured: Measured, out: Path) -> list[str]:
    """Draw what can be drawn; gives why a figure is missing, one line each."""
    from mptcplab.drawing import figure

    missing = []
    for one in experiment.drawings:
        try:
            figure(
                one.kind,
                measured.campaigns[one.campaign],
                out / experiment.name / f"{one.name}.svg",
                by=one.by,
                where=one.where,
                value=one.value,
                paths=one.paths,
            )
        except Error as error:
            missing.append(f"{experiment.name}: {one.name}: {error}")
    return missing
