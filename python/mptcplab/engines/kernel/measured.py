"""The tables of a run: of its captures, and of what the agents wrote down."""

from __future__ import annotations

import json
import math
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from mptcplab import _core
from mptcplab.controllers import acks
from mptcplab.engines import remarks
from mptcplab.engines.kernel.pairing import paired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    Row: TypeAlias = dict[str, Any]
    # Client's address and port, server's address and port.
    Ends: TypeAlias = tuple[str, int, str, int]

    from mptcplab.engines.kernel.network import Agent, Job
    from mptcplab.engines.kernel.pairing import Ids

CLIENT, SERVER = "client", "server"


class Rows(Protocol):
    """Whatever has rows of tables."""

    def rows(self, name: str, *, columns: Iterable[str] | None = None) -> Iterable[Row]:
        """Give the rows of a table."""
        ...


class Numbers:
    """Connections, subflows and seconds of an analysis.

    ``private`` gives the address that the client has itself for each by which the server knows it,
    where that is another.
    """

    def __init__(self, tables: Rows, private: Mapping[str, str] | None = None) -> None:
        self._private = private or {}
        columns = ["connection", "client_token", "server_token", "start_ns", "start_s"]
        connections = list(tables.rows("connections", columns=columns))
        self._origin_ns = 0
        if connections:
            first = connections[0]
            self._origin_ns = first["start_ns"] - round(first["start_s"] * 1e9)
        self._connections = {
            (host, row[f"{host}_token"]): row["connection"]
            for row in connections
            for host in (CLIENT, SERVER)
            if row[f"{host}_token"] is not None
        }
        self._subflows = {
            _ends(
                row["client_address"], row["client_port"], row["server_address"], row["server_port"]
            ): (
                row["connection"],
                row["subflow"],
            )
            for row in tables.rows("subflows")
            if row["client_address"] is not None and row["server_address"] is not None
        }

    def state(self, samples: Iterable[Path], acks: Iterable[Row] = ()) -> _core.Table:
        """Make the table ``state`` of files of samples, and of what each ACK left.

        Those of unknown subflows are left out.
        """
        # A path of QUIC learns its own address by the first packet that comes.
        lines = [row for row in _lines(samples) if row["local"][0] is not None]
        ends = [self._ends(row["host"], row.pop("local"), row.pop("remote")) for row in lines]
        known = {CLIENT: self._subflows, SERVER: self._at_server(lines, ends)}
        rows = []
        for one, row in zip(ends, lines, strict=True):
            del row["token"]
            row.pop("ids", None)
            if (found := known[row["host"]].get(one)) is not None:
                connection, subflow = found
                rows.append(row | {"connection": connection, "subflow": subflow, **self._time(row)})
        for row in acks:
            one = self._ends(row["host"], row.pop("local"), row.pop("remote"))
            if (found := known[row["host"]].get(one)) is not None:
                connection, subflow = found
                rows.append(row | {"connection": connection, "subflow": subflow, **self._time(row)})
        rows.sort(key=lambda row: (row["connection"], row["at_ns"], row["host"], row["subflow"]))
        return _core.rows("state", json.dumps(rows))

    def responses(self, connection: int, noted: Iterable[Row]) -> _core.Table:
        """Make the table ``responses`` of what an application noted of those that came whole."""
        rows = [
            row | {"connection": connection, **self._time(row)}
            for row in noted
            if "response_time_ms" in row
        ]
        return _core.rows("responses", json.dumps(rows))

    def signals(self, events: Iterable[Path]) -> _core.Table:
        """Make the table ``signals`` of files of events."""
        rows = []
        for row in _lines(events):
            # The guard is at the client, and its decisions on a path are for all connections.
            row.setdefault("host", CLIENT)
            connection = self._connections.get((row["host"], row.get("token")))
            local = row.get("local_address"), row.get("local_port")
            remote = row.get("remote_address"), row.get("remote_port")
            found = None if None in local + remote else self._subflow(row["host"], local, remote)
            # Signals of a connection as a whole have no subflow.
            about = found[1] if found and row["signal"].startswith("subflow-") else None
            rows.append(row | {"connection": connection, "subflow": about, **self._time(row)})
        rows.sort(key=lambda row: (row["at_ns"], row["host"]))
        return _core.rows("signals", json.dumps(rows))

    def _time(self, row: Row) -> Row:
        return {"at_s": (row["at_ns"] - self._origin_ns) / 1e9}

    def _at_server(self, lines: list[Row], ends: list[Ends]) -> dict[Ends, tuple[int, int]]:
        """Give the subflows by the names that the server has for them: a NAT may have renamed some.

        Of one of several connections, where tokens do not say which it is, only a name does.
        """
        ours: dict[Ends, Ids] = {}
        theirs: dict[int, dict[Ends, Ids]] = {}
        connections = {connection for connection, _ in self._subflows.values()}
        only = min(connections) if len(connections) == 1 else None
        for one, row in zip(ends, lines, strict=True):
            if row["host"] == CLIENT:
                ours[one] = ours.get(one) or row.get("ids")
            elif (of := self._connections.get((SERVER, row["token"]), only)) is not None:
                its = theirs.setdefault(of, {})
                its[one] = its.get(one) or row.get("ids")
        found = dict(self._subflows)
        for connection, server in theirs.items():
            # In the order of their numbers.
            known = sorted((at, one) for one, at in self._subflows.items() if at[0] == connection)
            client = {one: ours.get(one) for _, one in known}
            found |= {there: self._subflows[here] for there, here in paired(client, server).items()}
        return found

    def _subflow(self, host: str, local: Any, remote: Any) -> tuple[int, int] | None:
        return self._subflows.get(self._ends(host, local, remote))

    def _ends(self, host: str, local: Any, remote: Any) -> Ends:
        client, server = (local, remote) if host == CLIENT else (remote, local)
        return _ends(self._private.get(client[0], client[0]), client[1], *server)


def counters(files: Iterable[Path]) -> _core.Table:
    """Make the table ``counters``."""
    return _core.rows("counters", json.dumps(list(_lines(files))))


def _lines(files: Iterable[Path]) -> Iterator[Row]:
    for path in files:
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _ends(client_address: str, client_port: int, server_address: str, server_port: int) -> Ends:
    return (
        str(ip_address(client_address)),
        client_port,
        str(ip_address(server_address)),
        server_port,
    )


# A link that is later one time of a hundred is another one than was asked for.
LATE_NS = 1_000_000
# What Linux counts there (mptcp_data_queue_ofo in net/mptcp/protocol.c).
BEYOND_WINDOW = "MPTcpExtNoDSSInWindow"
# What transfers say of an application that answers requests.
RESPONSES = (
    "responses",
    *(f"response_time_ms_{part}" for part in ("mean", "median", "p95", "max")),
)
# Of fewer, the latest would be that one.
ENOUGH_WAKE_UPS = 100


def tables(job: Job, ended: dict[str, Any]) -> dict[str, _core.Table]:
    """Measure a run whose files are complete; ``ended`` is the lab's last report."""
    captures = [Path(job.client_capture), Path(job.server_capture)]
    names = [capture.name for capture in captures]
    captured = _core.analyze(
        names, directory=captures[0].parent, one_clock=True, transfer=job.plan.table()["transfer"]
    )
    numbers = Numbers(captured, _private(job.plan))
    found = {name: captured.table(name) for name in captured.NAMES}
    if job.is_quic:
        transfers = _of_quic(job, captured, ended)
        found["transfers"] = _core.rows("transfers", json.dumps(transfers))
        found["responses"] = numbers.responses(
            max((row["connection"] for row in transfers), default=0),
            ended["agents"][CLIENT]["responses"],
        )
    elif job.converters is not None and job.plan.table()["transfer"]["application"] == "bulk":
        # What converters tell each other is no request, and what follows no response.
        rows = [row | dict.fromkeys(RESPONSES) for row in captured.rows("transfers")]
        found["transfers"] = _core.rows("transfers", json.dumps(rows))
        found["responses"] = _core.rows("responses", "[]")
    return found | {
        "state": numbers.state(_samples(job), _acks(job, ended)),
        "signals": numbers.signals([*_files(job, "events"), *_decisions(job)]),
        "counters": counters(_files(job, "counters")),
        "diagnostics": _diagnostics(job, captured, ended),
    }


def _of_quic(job: Job, captured: Rows, ended: dict[str, Any]) -> list[Row]:
    """Give the transfers with what their applications know: all is encrypted in captures."""
    rows = list(captured.rows("transfers"))
    # Datagrams of cross traffic are in no capture of the ends.
    largest = max((row["connection"] for row in rows), default=None)
    own = [row for row in rows if row["connection"] == largest]
    received = {
        "down": ended["agents"][CLIENT]["bytes_received"],
        "up": ended["agents"][SERVER]["bytes_received"],
    }
    for row in own:
        row["bytes"] = received[row["direction"]]
        row["throughput_mbps"] = _mbps(row["bytes"], row["elapsed_s"])
        if row["direction"] == "down":
            row |= response_times(
                ended["agents"][CLIENT]["responses"],
                job.plan.table()["transfer"].get("deadline_ns"),
            )
    return rows


def _mbps(count_bytes: int, elapsed_s: float | None) -> float | None:
    return count_bytes * 8 / elapsed_s / 1e6 if elapsed_s else None


def response_times(responses: list[Row], deadline_ns: int | None) -> Row:
    """Give the columns of ``transfers`` on the answers to requests that an application noted."""
    times = sorted(row["response_time_ms"] for row in responses if "response_time_ms" in row)
    if not responses:
        return {}
    late = {}
    if deadline_ns is not None:
        in_time = sum(time <= deadline_ns / 1e6 for time in times)
        late = {"deadline_ms": deadline_ns / 1e6, "late_share": 1 - in_time / len(responses)}
    if not times:
        return late
    return late | {
        "responses": len(times),
        "response_time_ms_mean": sum(times) / len(times),
        "response_time_ms_median": _quantile(times, 0.5),
        "response_time_ms_p95": _quantile(times, 0.95),
        "response_time_ms_max": times[-1],
    }


def _quantile(ordered: list[float], part: float) -> float:
    """Give the least value that so large a part of all does not exceed."""
    return ordered[max(math.ceil(part * len(ordered)), 1) - 1]


def _diagnostics(job: Job, captured: _core.Tables, ended: dict[str, Any]) -> _core.Table:
    """Give the remarks of the analysis and on the way, and whether the emulator was in time."""
    rows = [*captured.rows("diagnostics"), *remarks.remarks(job.plan, captured)]
    links, ports = ended["emulator"]["links"], ended["emulator"]["ports"].values()
    late = {
        name: link["lateness"]["p99_ns"]
        for name, link in links.items()
        if link["lateness"]["count"] >= ENOUGH_WAKE_UPS and link["lateness"]["p99_ns"] > LATE_NS
    }
    if late:
        name = max(late, key=lambda name: late[name])
        message = (
            f"this machine was busy: in 1 % of the cases, link {name} delivered packets "
            f"{late[name] / 1e6:.1f} ms or more later than set"
        )
        rows.append({"diagnostic": "emulator_late", "message": message})
    lost = sum(ended["dropped"].values()) + sum(port["missed"] or 0 for port in ports)
    if lost:
        message = (
            f"{lost} packets were lost between the hosts and the links, and look like losses on "
            "the path: this machine was busy"
        )
        rows.append({"diagnostic": "emulator_drops", "count": lost, "message": message})
    rows += beyond_window(_files(job, "counters"))
    rows += repaired(ended["controllers"])
    if ended["acks"] and (count := ended["acks"]["lost"]):
        message = f"{count} ACKs are not in state: this machine was busy"
        rows.append({"diagnostic": "acks_not_recorded", "count": count, "message": message})
    return _core.rows("diagnostics", json.dumps(rows))


def beyond_window(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Say at which host Linux threw data away that lay beyond the connection's window."""
    return [
        {
            "diagnostic": "beyond_window",
            "count": after - before,
            "message": (
                f"Linux at the {host} discarded {after - before} segments beyond the connection's "
                f"window ({BEYOND_WINDOW}) after their subflow had acknowledged them: only the "
                "connection's timer sends them again, and the transfer may have stalled until then"
            ),
        }
        for host, counter, before, after in _counted(files)
        if counter == BEYOND_WINDOW and after > before
    ]


def repaired(controllers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Say how often a controller mended what the kernel took for its answer."""
    counts = {
        about["linux"]: sum(sum(of.values()) for of in (about["repairs"] or {}).values())
        for about in controllers.values()
    }
    return [
        {
            "diagnostic": "controller_repaired",
            "count": count,
            "message": (
                f"{name} mended {count} thresholds or windows that this kernel had made up where "
                "it had not run the program: until then a subflow may have sent too much"
            ),
        }
        for name, count in counts.items()
        if count
    ]


def _counted(files: Iterable[Path]) -> Iterator[tuple[str, str, int, int]]:
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row["host"], row["counter"], row["before"], row["after"]


def _files(job: Job, key: str) -> list[Path]:
    return [Path(agent.job[key]) for agent in _watchers(job) if key in agent.job]


def _acks(job: Job, ended: dict[str, Any]) -> Iterable[Row]:
    return [] if job.acks is None else acks.rows(Path(job.acks), ended["acks"])


def _samples(job: Job) -> list[Path]:
    """Give the files of samples, which with QUIC are its program's, if it had a connection."""
    own = [agent.job for agent in _watchers(job) if "samples" in agent.job]
    files = [one["samples"] or one["quic"]["job"].get("samples") for one in own]
    return [Path(file) for file in files if file and Path(file).exists()]


def _decisions(job: Job) -> list[Path]:
    """Give the file of the guard's, if there was one."""
    guards = [agent.job["guard"] for agent in _watchers(job) if "guard" in agent.job]
    return [Path(guard["decisions"]) for guard in guards]


def _watchers(job: Job) -> list[Agent]:
    """Give the agents that see the connections over the paths: the ends, or at converters."""
    names = ("client", "client converter", "server", "server converter")
    return [job.agents[name] for name in names if name in job.agents]


def _private(plan: _core.Plan) -> dict[str, str]:
    """Give the client's own address for each by which the server may know it."""

    def own(path: str, public: str) -> str:
        """Give that of the same version of IP, where a NAT64 did not change that, too."""
        every = plan.addresses[path]
        return next((one for one in every if (":" in one) == (":" in public)), every[0])

    return {address: own(path, address) for address, path in plan.public_addresses}
