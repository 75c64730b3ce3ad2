"""A laboratory for Multipath TCP.

>>> import mptcplab
>>> analysis = mptcplab.analyze(["client.pcapng", "server.pcapng"])  # doctest: +SKIP
>>> analysis.flows.select("subflow", "direction", "share", "rtt_ms_mean")  # doctest: +SKIP
>>> comparison = mptcplab.run("wifi-lte")  # doctest: +SKIP
>>> comparison.gain, comparison.mptcp.flows, comparison.baselines["lte"].flows  # doctest: +SKIP
"""

from importlib import import_module

from mptcplab import starting  # noqa: F401 - before what takes time
from mptcplab._core import VERSION, CaptureError, Error, InternalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.analysis import Analysis
    from mptcplab.anonymising import Anonymised, anonymise
    from mptcplab.api.artifacts import package, verify
    from mptcplab.api.campaigns import run_schedule, run_study, sweep
    from mptcplab.api.captures import analyze
    from mptcplab.api.links import calibrate, import_links
    from mptcplab.api.networks import doctor_field, probe
    from mptcplab.api.pages import figure, write_issue, write_report
    from mptcplab.api.runs import annotate, compare, run, scenario_schema, why
    from mptcplab.machine import doctor
    from mptcplab.results.campaign import open_campaign
    from mptcplab.results.run import open_run
    from mptcplab.scenario.fault import ScenarioError

__all__ = [
    "Analysis",
    "Anonymised",
    "CaptureError",
    "Error",
    "InternalError",
    "ScenarioError",
    "__version__",
    "analyze",
    "annotate",
    "anonymise",
    "calibrate",
    "compare",
    "doctor",
    "doctor_field",
    "figure",
    "import_links",
    "open_campaign",
    "open_run",
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

# Where the others are. They wait until they are asked for: processes of a run start without them.
_HOMES = {
    name: module
    for module, names in {
        "analysis": ("Analysis",),
        "anonymising": ("Anonymised", "anonymise"),
        "api.artifacts": ("package", "verify"),
        "api.campaigns": ("run_schedule", "run_study", "sweep"),
        "api.captures": ("analyze",),
        "api.links": ("calibrate", "import_links"),
        "api.networks": ("doctor_field", "probe"),
        "api.pages": ("figure", "write_issue", "write_report"),
        "api.runs": ("annotate", "compare", "run", "scenario_schema", "why"),
        "machine": ("doctor",),
        "results.campaign": ("open_campaign",),
        "results.run": ("open_run",),
        "scenario.fault": ("ScenarioError",),
    }.items()
    for name in names
}

__version__ = VERSION


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"mptcplab.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
