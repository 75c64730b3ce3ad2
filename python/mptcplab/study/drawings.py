"""The figures of an experiment, as files beside its campaigns."""

from __future__ import annotations

from mptcplab._core import Error
from mptcplab.charts.paper import CAMPAIGN, RUN, check_installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mptcplab.analysis import Analysis
    from mptcplab.campaign.matrix import Matrix
    from mptcplab.study.experiment import Drawing, Experiment
    from mptcplab.study.measured import Measured


#: As wide as a page: one has eight subflows and their retransmissions.
RUN_INCHES = (7.0, 3.6)


def draw(
    experiment: Experiment, measured: Measured, matrices: dict[str, Matrix], out: Path
) -> dict[str, str | None]:
    """Draw what can be drawn; gives, for each file, why it is missing if it is."""
    drawn: dict[str, str | None] = {}
    for one in experiment.drawings:
        name = f"{experiment.name}/{one.name}.svg"
        try:
            check_installed()
            if one.of_run:
                _of_run(one, matrices[one.campaign], out / name)
            else:
                _of_campaign(one, measured, out / name)
        except Error as error:
            drawn[name] = str(error)
        else:
            drawn[name] = None
    return drawn


def _of_campaign(drawing: Drawing, measured: Measured, file: Path) -> None:
    from mptcplab.charts.paper.choice import Choice
    from mptcplab.charts.paper.drawing import drawn
    from mptcplab.charts.paper.kinds import find

    where = {axis: str(one) for axis, one in drawing.where.items()}
    choice = Choice(drawing.by, where, drawing.value, drawing.paths)
    drawn(find(drawing.kind, CAMPAIGN), measured.campaigns[drawing.campaign], choice).save(file)


def _of_run(drawing: Drawing, matrix: Matrix, file: Path) -> None:
    """Draw the first run that is chosen; it is made again, since campaigns keep no samples."""
    from mptcplab.charts.paper.choice import Choice
    from mptcplab.charts.paper.drawing import drawn
    from mptcplab.charts.paper.kinds import find

    run = _first(matrix, drawing.where)
    drawn(find(drawing.kind, RUN), run, Choice(), size=RUN_INCHES).save(file)


def _first(matrix: Matrix, where: Mapping[str, object]) -> Analysis:
    from mptcplab.analysis import Analysis
    from mptcplab.campaign.work import in_memory

    wanted = next(
        one
        for one in matrix.configurations
        if all(one.labels.get(axis) == label for axis, label in where.items())
    )
    task = next(
        one.task
        for one in matrix.runs
        if one.configuration == wanted.number and one.task.subject is wanted.mptcp
    )
    if not task.subject.in_memory:
        raise Error("it is drawn of simulations alone: they can be made again")
    return Analysis(in_memory(task, samples=True))
