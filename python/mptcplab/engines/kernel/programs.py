"""Programs at both ends of a scenario, over its paths, into a run directory."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from mptcplab._core import Error
from mptcplab.controllers.acks import Recorder
from mptcplab.engines.engine import Measured, Programs, Target, Trial
from mptcplab.engines.kernel import emulate, ends, measured
from mptcplab.engines.kernel.emulate import RAW
from mptcplab.engines.kernel.features import Features
from mptcplab.engines.kernel.job import LISTS, Wanted
from mptcplab.engines.kernel.namespace import FORCED
from mptcplab.engines.kernel.network import Job
from mptcplab.engines.kernel.sandbox import Sandbox
from mptcplab.engines.kernel.settings import FALLBACK
from mptcplab.machine import congestion, preload
from mptcplab.machine.machine import Machine
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.plan import addresses, reached_addresses, server_addresses
from mptcplab.scenario.scenario import Scenario

ENDS = ("client", "server")
# In the run directory: the output of the server's program.
SERVED = "server.log"
# The line of /etc/nsswitch.conf on how hosts are looked up.
HOSTS_LINE = re.compile(r"^hosts:.*$", re.MULTILINE)
# glibc's own labels of addresses (RFC 6724) but for that of fc00::/7: the clients' addresses stand
# for global ones, and IPv4 would go before what DNS64 gives them.
LABELS = """label ::1/128 0
label ::/0 1
label 2002::/16 2
label ::/96 3
label ::ffff:0:0/96 4
"""
# The keys of a transfer agent's job that watching agents are given, too.
SHARED_KEYS = ("host", "sample_ns", "guard", *LISTS)


def run_programs(
    trial: Trial,
    target: Target,
    programs: Programs,
    *,
    name: str,
    begin: Callable[[list[str]], None],
) -> tuple[Measured, int]:
    """Run programs in a scenario; returns the exit status of the client's, too.

    ``begin`` is called with notes for the user once all is ready, before the client's program is
    started.
    """
    _check_mptcpize(programs)
    lab, directory = target.session, target.directory
    # Programs choose their own protocol.
    transfer = trial.scenario.transfer.model_copy(update={"protocol": "tcp"})
    scenario = replace(trial.scenario, transfer=transfer)
    wanted = Wanted(scenario, trial.seed, None, Features.here())
    if wanted.ours is not None:
        raise ScenarioError(f"[{wanted.ours}] stack: programs need Linux's at both ends")
    if wanted.converters is not None:
        raise ScenarioError("[converter]: programs run at the ends of the paths: leave it out")
    greeting = partial(begin, [*_warnings(wanted), *_of_root(bounded=lab.is_bounded)])
    raw = directory / RAW
    raw.mkdir()
    job = _job(wanted, directory, raw, target.captures)
    with (
        closing(lab.run(job.as_json())) as reports,
        closing(Namespaces(lab.supervisor, next(reports)["hosts"])) as hosts,
    ):
        where = {end: environment(name, trial.scenario, end) for end in ENDS}
        with _recording(hosts, job) as acks:
            status = _run(hosts, lab, programs, directory, where, greeting)
            ended = next(reports)["ended"]
        ended["acks"] = acks or None
    for file in (*directory.glob("*.pcapng"), *directory.glob(SERVED)):
        # What programs send and print is for the user who ran them.
        file.chmod(0o600)
    tables = measured.tables(job, ended)
    shutil.rmtree(raw)
    more = {"programs": asdict(programs) | {"status": status}}
    outcome = _outcome(wanted, programs, ended, status)
    return Measured(tables, outcome, emulate.circumstances(job, ended) | more), status


@contextmanager
def _recording(hosts: Namespaces, job: Job) -> Iterator[dict[str, Any]]:
    """Record ACKs, if that is wanted: the lab may not, since its root is not the machine's."""
    report: dict[str, Any] = {}
    if job.acks is None:
        yield report
        return
    recorder = Recorder({end: hosts.networks[end] for end in ENDS}, Path(job.acks))
    try:
        yield report
    finally:
        report |= recorder.close()


def _check_mptcpize(programs: Programs) -> None:
    for option, wanted, check in (
        ("--mptcpize", programs.mptcpize, preload.check),
        ("--mptcpize-all", programs.mptcpize_all, preload.check_all),
    ):
        if wanted and (given := check(Machine())).verdict != "fine":
            raise Error(f"{option} cannot be done here: {given.line()}")


def environment(name: str, scenario: Scenario, end: str) -> dict[str, str]:
    """Give the environment that describes the scenario to the program at an end."""
    servers = (reached_addresses if end == "client" else server_addresses)(scenario)
    return {
        "MPTCPLAB_HOST": end,
        "MPTCPLAB_SCENARIO": name,
        "MPTCPLAB_PATHS": " ".join(scenario.paths),
        "MPTCPLAB_SERVER": servers[0],
        "MPTCPLAB_SERVERS": " ".join(servers),
    }


def _job(wanted: Wanted, new: Path, raw: Path, captures: str) -> Job:
    """Give the job of a run, with agents at both ends that watch instead of transferring."""
    job = wanted.job(new, raw, captures=captures)
    for end in ENDS:
        own = job.agents[end].job
        watching: dict[str, Any] = {"transfer": {"application": "watching"}}
        job.agents[end].job = watching | {key: own[key] for key in SHARED_KEYS if key in own}
    # In a shell root may have changed endpoints meanwhile.
    for lines in (*job.attach.values(), *job.detach.values()):
        lines[:] = [FORCED + line if line.startswith("mptcp ") else line for line in lines]
    names = raw / "names"
    names.mkdir()
    for file, content in _names(wanted.scenario).items():
        (names / file).write_text(content, "utf-8")
    job.names = str(names)
    return job


def _warnings(wanted: Wanted) -> list[str]:
    """Say what programs do not get that a run does: its sockets choose for themselves."""
    name = wanted.congestion_control
    if name is None:
        return []
    machine = Features.here()
    opens = congestion.allow(Machine(), machine.congestion_controls)
    return [
        f"at the server, subflows that join may use {FALLBACK} instead of {name} (state shows "
        f"which): they do once the program has set any option of its socket; to fix it: {opens}"
    ]


def _of_root(*, bounded: bool) -> list[str]:
    """Say what programs may do because we may: what root owns is theirs in any namespace."""
    if os.geteuid() != 0:
        return []
    rights = "may write to all files of root" if bounded else "have all rights over this machine"
    return [f"you are root: the programs {rights}; those of an ordinary user may not"]


def _names(scenario: Scenario) -> dict[str, str]:
    """Give files of /etc: the names that this machine has, those of a scenario's hosts, no others.

    No name server can be reached: a query would time out.
    """
    known = {
        name: (ends.ETC / name).read_text("utf-8", "replace")
        for name in ("hosts", "nsswitch.conf", "resolv.conf", "gai.conf")
        if (ends.ETC / name).is_file()
    }
    servers = dict.fromkeys((*server_addresses(scenario), *reached_addresses(scenario)))
    lines = [f"{address} server" for address in servers]
    for number, (name, path) in enumerate(scenario.paths.items(), 1):
        lines += [f"{address} client client-{name}" for address in addresses(number, path)]
    files = {
        "hosts": "\n".join([*lines, known.get("hosts", "")]),
        "nsswitch.conf": HOSTS_LINE.sub("hosts: files", known.get("nsswitch.conf", "")),
        "resolv.conf": "",
        "gai.conf": LABELS,
    }
    return {name: files[name] for name in ("hosts", *known)}


def _run(
    hosts: Namespaces,
    lab: Sandbox,
    programs: Programs,
    new: Path,
    environments: Mapping[str, Mapping[str, str]],
    begin: Callable[[], None],
) -> int:
    """Start the server's program, then the client's; returns its exit status when both ended."""
    server = None
    with (new / SERVED).open("wb") as output:
        if programs.serve is not None:
            command = _command(programs, "sh", "-c", programs.serve)
            environment = environments["server"]
            server = hosts.start("server", command, environment, output=output.fileno())
            hosts.wait_until_listening("server", server)
            if server.poll():
                raise Error(
                    f"the server's program ended with status {server.returncode} before the "
                    f"client's began: {_last(new / SERVED)}"
                )
        lab.send(ends.GO)
        begin()
        try:
            with terminal_lent():
                command = _command(programs, *programs.command)
                client = hosts.start("client", command, environments["client"])
                try:
                    status = client.wait()
                except KeyboardInterrupt as interrupt:
                    # The terminal sends Ctrl-C to the program itself: this is SIGTERM or SIGHUP.
                    (number,) = interrupt.args or (signal.SIGINT,)
                    dismiss(client, number)
                    status = 128 + number
        finally:
            if server is not None:
                end(server)
    if server is None:
        (new / SERVED).unlink()
    lab.send(ends.END)
    return status


def _command(programs: Programs, *arguments: str) -> list[str]:
    """Give the command that starts a program."""
    if programs.mptcpize_all:
        return [*preload.prefix_of_all(), *arguments]
    return [*(preload.prefix(Machine()) if programs.mptcpize else ()), *arguments]


def _last(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()
    return lines[-1] if lines else "it said nothing"


def _outcome(wanted: Wanted, programs: Programs, ended: Any, status: int) -> dict[str, Any]:
    """Say how it ended; bytes are counted by the tables alone."""
    what = Path(programs.command[0]).name
    return {
        "finished": status == 0,
        "reason": "complete" if status == 0 else f"{what} ended with status {status}",
        "began_ns": ended["started_ns"],
        "elapsed_ns": ended["elapsed_ns"],
        "packets": sum(port["sent"] for port in ended["emulator"]["ports"].values()),
        "cross_traffic": emulate.cross_traffic(wanted, ended),
    }


ENTRY = Path(__file__).with_name("entry.py")
# In the order in which they are entered: rights come with the first. Root may lack it.
SHARED = ("user", "mnt", "pid")
# States of a socket in /proc/net: TCP's that listen, UDP's that are not connected.
LISTENS = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
# The time for a server to listen, to end when its client is gone, and to end after a signal.
STARTS_SECONDS, ENDS_SECONDS, TERMINATES_SECONDS = 5.0, 0.5, 2.0
LOOK_SECONDS = 0.01


class Namespaces:
    """The namespaces of a lab, held open."""

    def __init__(self, supervisor: int, networks: Mapping[str, int]) -> None:
        """``supervisor`` is the parent of the lab's parent; ``networks`` the lab's open files."""
        lab = Path("/proc", str(_only_child(_only_child(supervisor))))
        own = Path("/proc/self/ns")
        self._shared = [
            os.open(lab / "ns" / kind, os.O_RDONLY)
            for kind in SHARED
            # A process may not enter the namespaces that it is in.
            if not (lab / "ns" / kind).samefile(own / kind)
        ]
        #: Open files, by host.
        self.networks = {
            host: os.open(lab / "fd" / str(number), os.O_RDONLY)
            for host, number in networks.items()
        }

    def close(self) -> None:
        """Let go of them."""
        for opened in (*self._shared, *self.networks.values()):
            os.close(opened)

    def start(
        self,
        host: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        output: int | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program; with ``output`` apart from the terminal."""
        namespaces = [*self._shared, self.networks[host]]
        entry = [sys.executable, "-I", "-S", str(ENTRY), ",".join(map(str, namespaces))]
        return subprocess.Popen(  # noqa: S603
            [*entry, *command],
            pass_fds=namespaces,
            env=os.environ | environment,
            stdin=None if output is None else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=output is not None,
        )

    def wait_until_listening(self, host: str, process: subprocess.Popen[bytes]) -> None:
        """Wait until a program listens in a host; one that never does is given a moment."""
        network = os.fstat(self.networks[host]).st_ino
        until = time.monotonic() + STARTS_SECONDS
        while process.poll() is None and time.monotonic() < until:
            with suppress(OSError):
                proc = Path("/proc", str(process.pid))
                if (proc / "ns/net").stat().st_ino == network and _is_listening(proc / "net"):
                    return
            time.sleep(LOOK_SECONDS)


def end(process: subprocess.Popen[bytes]) -> None:
    """Have a server end that was started apart from the terminal."""
    for number, seconds in ((None, ENDS_SECONDS), (signal.SIGTERM, TERMINATES_SECONDS)):
        if number is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def dismiss(process: subprocess.Popen[bytes], number: int) -> None:
    """Have the client's program end: as the signal asks it to, then whether it wants to or not."""
    for sent, seconds in ((number, TERMINATES_SECONDS), (signal.SIGKILL, None)):
        with suppress(Error, ProcessLookupError):
            os.kill(_only_child(process.pid), sent)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


@contextmanager
def terminal_lent() -> Iterator[None]:
    """Let others have the terminal and what is typed there, and take it back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        ours = os.tcgetpgrp(sys.__stdin__.fileno()) if sys.__stdin__ else None
    except (OSError, ValueError):
        ours = None
    for number, handler in handlers.items():
        # Programs start with the default, unless we were started to ignore the signal.
        if handler is not signal.SIG_IGN:
            signal.signal(number, _nothing)
    try:
        yield
    finally:
        if ours is not None and sys.__stdin__:
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            with suppress(OSError):
                os.tcsetpgrp(sys.__stdin__.fileno(), ours)
            signal.signal(signal.SIGTTOU, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _nothing(*_: object) -> None:
    pass


def _only_child(process: int) -> int:
    """Find the only child of a process."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                # "12 (name) S 11 ...": a name may hold anything.
                parent = (
                    (entry / "stat").read_text("utf-8", "replace").rpartition(") ")[2].split()[1]
                )
                if int(parent) == process:
                    return int(entry.name)
    raise Error("the lab of the kernel engine is gone")


def _is_listening(net: Path) -> bool:
    for protocol, state in LISTENS.items():
        with suppress(FileNotFoundError):
            lines = (net / protocol).read_text("ascii").splitlines()[1:]
            if any(line.split()[3] == state for line in lines):
                return True
    return False
