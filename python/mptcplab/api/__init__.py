"""What Python programs call, with slow modules left until they do."""

from mptcplab.api.experiments import calibrate, run, run_study, sweep
from mptcplab.api.findings import compare, figure, figure_kinds, write_report

__all__ = [
    "calibrate",
    "compare",
    "figure",
    "figure_kinds",
    "run",
    "run_study",
    "sweep",
    "write_report",
]
