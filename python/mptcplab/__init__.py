"""A laboratory for Multipath TCP.

>>> import mptcplab
>>> analysis = mptcplab.analyze(["client.pcapng", "server.pcapng"])  # doctest: +SKIP
>>> analysis.flows.select("subflow", "direction", "share", "rtt_ms_mean")  # doctest: +SKIP
"""

from mptcplab._core import VERSION, CaptureError, Error, InternalError
from mptcplab.analysis import Analysis, analyze

__all__ = ["Analysis", "CaptureError", "Error", "InternalError", "__version__", "analyze"]

__version__ = VERSION
