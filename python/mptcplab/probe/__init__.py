"""What stands between two hosts: probes over ordinary sockets, without privileges."""

from mptcplab.probe.client import Way
from mptcplab.probe.probe import probe
from mptcplab.probe.row import Row
from mptcplab.probe.server import answer, serve

__all__ = ["Row", "Way", "answer", "probe", "serve"]
