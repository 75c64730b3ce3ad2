"""What Python programs call: a file for each thing that users do; slow modules wait until then."""

from mptcplab.api.artifacts import package, verify
from mptcplab.api.campaigns import run_schedule, run_study, sweep
from mptcplab.api.captures import analyze
from mptcplab.api.links import calibrate, import_links
from mptcplab.api.networks import doctor_field, probe
from mptcplab.api.pages import figure, figure_kinds, write_issue, write_report
from mptcplab.api.runs import annotate, compare, run, scenario_schema, why

__all__ = [
    "analyze",
    "annotate",
    "calibrate",
    "compare",
    "doctor_field",
    "figure",
    "figure_kinds",
    "import_links",
    "package",
    "probe",
    "run",
    "run_schedule",
    "run_study",
    "scenario_schema",
    "sweep",
    "verify",
    "why",
    "write_issue",
    "write_report",
]
