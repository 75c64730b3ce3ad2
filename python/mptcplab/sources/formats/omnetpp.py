"""Results of OMNeT++, scalars (.sca) and vectors (.vec), with the names that INET gives them.

Format: OMNeT++ Simulation Manual, appendix "Result File Formats". Names: statistics of INET's
TcpConnection and applications (4.x), and vectors of its TCP before (3.x and older).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mptcplab.sources.contents import SECOND, Connection, Contents, Row
from mptcplab.sources.figures import spread
from mptcplab.sources.file import File

# Time (ns), value and line.
Sample = tuple[int, float, int]

FIRST = re.compile(r"(?:version \d+\s+)?run \S+\s+attr ")
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
#: Entries of which nothing is read.
OTHERS = {"version", "run", "attr", "itervar", "statistic", "field", "bin"}
OLD_NAMES = {
    "measured RTT": "rtt",
    "smoothed RTT": "srtt",
    "RTTVAR": "rttvar",
    "RTO": "rto",
    "unacked bytes": "unacked",
    "send window": "sndWnd",
}
# Of INET's TCP in seconds, and in bytes.
TIMES = {"srtt": "srtt_ms", "rttvar": "rttvar_ms", "rto": "timeout_ms"}
WINDOWS = {"cwnd": "cwnd_packets", "ssthresh": "ssthresh_packets"}
BYTES = {"unacked": "unacknowledged_bytes", "sndWnd": "peer_window_bytes"}
ARRIVALS = ("packetReceived", "rcvdPk")
TCP_MODULE = re.compile(r"\.tcp(\.conn-?\d+)?$", re.IGNORECASE)
SERVER = re.compile(r"server|srv|sink", re.IGNORECASE)


@dataclass
class Module:
    """What was recorded of a module: vectors and scalars by name, such as ``cwnd``."""

    vectors: dict[str, list[Sample]] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)


class Omnetpp:
    """Modules of which INET tells, a connection each."""

    name = "omnetpp"
    title = "results of OMNeT++, scalars (.sca) and vectors (.vec), with the names of INET"
    reads = (
        "of TCP modules cwnd, ssthresh (in packets where the configuration has tcp.mss), srtt, "
        "rttvar, rto, unacked, sndWnd → state, rtt → rtt; of applications packetReceived and "
        "rcvdPk → transfers, flows, throughput, endToEndDelay → one-way delay; modules → paths"
    )
    empty = (
        "addresses, which modules belong together, which host is the server (taken for that if "
        "it is called server, srv or sink); other names, statistics and histograms"
    )

    def matches(self, file: File) -> bool:
        """Say whether a run begins there."""
        return FIRST.match(file.head) is not None

    def read(self, file: File) -> Contents:
        contents = Contents(self.name, file, has_clock=False)
        results = _Results()
        for number, line in contents.whole_lines(file):
            results.line(line, number)
        for name, module in results.modules.items():
            _add(contents, name, module, results.mss)
        if not contents.tables.get("connections"):
            names = sorted(
                {f"{one!r}" for each in results.modules.values() for one in each.scalars}
            )
            raise ValueError(
                "has nothing that INET's TCP or its applications record under names that are known"
                + (f": there is {', '.join(names[:5])}" if names else "")
            )
        return contents


class _Results:
    """What a file has."""

    def __init__(self) -> None:
        self.modules: dict[str, Module] = {}
        self.mss: int | None = None
        # By number: samples, and where time and value stand in a line.
        self._vectors: dict[str, tuple[list[Sample], int, int]] = {}

    def line(self, line: str, number: int) -> None:
        if line[:1].isdigit():
            self._sample(line.split(), number)
            return
        tokens = [(quoted or bare) for quoted, bare in TOKEN.findall(line)]
        if not tokens or tokens[0].startswith("#") or tokens[0] in OTHERS:
            return
        what, *rest = tokens
        try:
            if what == "vector":
                self._vector(*rest)
            elif what == "scalar":
                module, name, value = rest
                # ns-3, which writes this format, too, has text among them.
                if not line.rstrip().endswith('"'):
                    self._module(module).scalars[name] = float(value)
            elif what in ("config", "param", "par"):
                if len(rest) > 1 and rest[-2].lower().endswith("tcp.mss"):
                    self.mss = int(float(rest[-1].rstrip("B ")))
            else:
                raise ValueError(what)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{line[:60].rstrip()!r} is no entry of OMNeT++", number) from error

    def _vector(self, number: str, module: str, name: str, columns: str = "TV") -> None:
        name = OLD_NAMES.get(name, name.partition(":")[0])
        samples = self._module(module).vectors.setdefault(name, [])
        self._vectors[number] = (samples, columns.index("T") + 1, columns.index("V") + 1)

    def _sample(self, cells: list[str], number: int) -> None:
        if cells[0] not in self._vectors:
            raise ValueError(f"has no line before it that says what vector {cells[0]} is", number)
        samples, at, value = self._vectors[cells[0]]
        try:
            samples.append((round(float(cells[at]) * SECOND), float(cells[value]), number))
        except (IndexError, ValueError) as error:
            raise ValueError(
                f"{' '.join(cells)[:60]!r} is no sample of vector {cells[0]}", number
            ) from error

    def _module(self, name: str) -> Module:
        return self.modules.setdefault(name, Module())


def _add(contents: Contents, name: str, module: Module, mss: int | None) -> None:
    """Add a module, if it is one of those that are known."""
    is_tcp = TCP_MODULE.search(name) is not None
    known = {"rtt", *TIMES, *WINDOWS, *BYTES} if is_tcp else {*ARRIVALS, "endToEndDelay"}
    used = [samples for one, samples in module.vectors.items() if one in known and samples]
    arrived = _scalar(module, "sum(packetBytes)")
    if not used and (is_tcp or arrived is None):
        return
    times = [at_ns for samples in used for at_ns, *_ in samples]
    # The first part of a path is the network.
    path = name.partition(".")[2] or name
    is_server = SERVER.search(path.partition(".")[0]) is not None
    connection = contents.connection(
        "tcp" if is_tcp or "tcp" in path.lower() else "unknown",
        start_ns=min(times, default=0),
        end_ns=max(times, default=0),
        began="unknown",
        ended="open",
        vantage="server" if is_server else "client",
    )
    if not times:
        connection.row["duration_s"] = None
    connection.subflow(path, ended="open")
    if is_tcp:
        _add_state(connection, module, "server" if is_server else "client", mss)
    else:
        _add_arrivals(connection, module, "up" if is_server else "down", arrived)


def _add_state(connection: Connection, module: Module, host: str, mss: int | None) -> None:
    """Add what the host knew after each change: a vector has its value until the next one."""
    changes: dict[int, Row] = {}
    for one, samples in module.vectors.items():
        for at_ns, value, line in samples:
            if one == "rtt":
                direction = "down" if host == "server" else "up"
                connection.add(
                    "rtt",
                    subflow=0,
                    direction=direction,
                    at_ns=at_ns,
                    rtt_ms=1000 * value,
                    record=line,
                )
            elif one in TIMES:
                changes.setdefault(at_ns, {})[TIMES[one]] = 1000 * value
            elif one in BYTES:
                changes.setdefault(at_ns, {})[BYTES[one]] = int(value)
            elif one in WINDOWS and mss:
                packets = value / mss
                changes.setdefault(at_ns, {})[WINDOWS[one]] = (
                    int(packets) if one == "cwnd" else packets
                )
    known: Row = {}
    for at_ns in sorted(changes):
        known |= changes[at_ns]
        connection.add("state", subflow=0, host=host, at_ns=at_ns, **known)


def _add_arrivals(
    connection: Connection, module: Module, direction: str, arrived: float | None
) -> None:
    """Add what an application received, in bins of a second, and how long it was on its way."""
    name = next((one for one in ARRIVALS if one in module.vectors), "")
    samples = sorted(module.vectors.get(name, []))
    start_ns, end_ns = connection.start_ns, connection.end_ns
    count = sum(value for _, value, _ in samples) if samples else arrived
    if count is None:
        return
    delays = [1000 * value for _, value, _ in module.vectors.get("endToEndDelay", [])]
    received = _scalar(module, "count")
    row: Row = {
        "bytes": round(count),
        "packets": len(samples) or (None if received is None else round(received)),
        **spread("one_way_delay_ms", delays, "median", "p95"),
    }
    elapsed_s = (end_ns - start_ns) / SECOND
    connection.moved(direction, {0: row}, elapsed_s=elapsed_s or None)
    if not samples or not elapsed_s:
        return
    sums = [0.0] * (int(elapsed_s) + 1)
    for at_ns, value, _ in samples:
        sums[(at_ns - start_ns) // SECOND] += value
    bins = [
        (start_ns + at_s * SECOND, min(SECOND, end_ns - start_ns - at_s * SECOND), round(total))
        for at_s, total in enumerate(sums)
    ]
    for each in (None, 0):
        connection.bins(direction, bins, each)


def _scalar(module: Module, ending: str) -> float | None:
    names = [f"{one}:{ending}" for one in ARRIVALS]
    return next((module.scalars[one] for one in names if one in module.scalars), None)


SOURCE = Omnetpp()
