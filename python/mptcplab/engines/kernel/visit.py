"""Guests in a scenario: their programs at both ends, over its paths, into a run directory."""

from __future__ import annotations

import os
import re
import shutil
import signal
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.engine import Measured, Programs
from mptcplab.engines.kernel import guests, inhabitants, measured, outcomes
from mptcplab.engines.kernel.emulate import RAW
from mptcplab.engines.kernel.job import LISTS, Wanted
from mptcplab.engines.kernel.machine import Machine
from mptcplab.engines.kernel.settings import FALLBACK
from mptcplab.machine import congestion, preload
from mptcplab.machine.machine import Machine as Doctored
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.plan import addresses, server_addresses
from mptcplab.scenario.scenario import Scenario

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mptcplab.engines.kernel.network import Job
    from mptcplab.engines.kernel.sandbox import Sandbox

ENDS = ("client", "server")
# In the run directory: what the server's program said.
SERVED = "server.log"
# Where /etc/nsswitch.conf says who knows hosts.
HOSTS_LINE = re.compile(r"^hosts:.*$", re.MULTILINE)
# What watching agents are told of all that those of a transfer are.
KEPT = ("host", "sample_ns", *LISTS)


def visit(
    scenario: Scenario,
    directory: Path,
    programs: Programs,
    *,
    lab: Sandbox,
    name: str,
    seed: int,
    captures: str,
    begin: Callable[[list[str]], None],
) -> tuple[Measured, int]:
    """Run programs in a scenario; gives the exit status of the client's, too.

    ``begin`` is called when all is there, before the client's program is started, with what the
    user should know.
    """
    if programs.mptcpize and (given := preload.check(Doctored())).verdict != "fine":
        raise Error(f"--mptcpize cannot be done here: {given.line()}")
    wanted = Wanted(scenario, seed, None, Machine.here())
    if wanted.ours is not None:
        raise ScenarioError(f"[{wanted.ours}] stack: programs need Linux's at both ends")
    greeting = partial(begin, [*_warnings(wanted), *_of_root(bounded=lab.is_bounded)])
    raw = directory / RAW
    raw.mkdir()
    job = _job(wanted, directory, raw, captures)
    with (
        closing(lab.run(job.as_json())) as told,
        closing(inhabitants.Inhabited(lab.keeper, next(told)["hosts"])) as hosts,
    ):
        where = environment(name, scenario)
        status = _visited(hosts, lab, programs, directory, where, greeting)
        ended = next(told)["ended"]
    for file in (*directory.glob("*.pcapng"), *directory.glob(SERVED)):
        # What programs send and say is for whoever ran them.
        file.chmod(0o600)
    tables = measured.tables(job, ended)
    shutil.rmtree(raw)
    more = {"guest": asdict(programs) | {"status": status}}
    outcome = _outcome(wanted, programs, ended, status)
    return Measured(tables, outcome, outcomes.circumstances(job, ended) | more), status


def environment(name: str, scenario: Scenario) -> dict[str, str]:
    """Give what tells programs where they are."""
    servers = server_addresses(scenario)
    return {
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
        job.agents[end].job = watching | {key: own[key] for key in KEPT}
    names = raw / "names"
    names.mkdir()
    for file, content in _names(wanted.scenario).items():
        (names / file).write_text(content, "utf-8")
    job.names = str(names)
    return job


def _warnings(wanted: Wanted) -> list[str]:
    """Say what guests do not get that a run does: its sockets choose for themselves."""
    name = wanted.congestion_control
    if name is None:
        return []
    machine = Machine.here()
    opens = congestion.allow(Doctored(), machine.congestion_controls)
    return [
        f"at the server, subflows that join go by {FALLBACK} instead of {name}, unless the program "
        f"chooses for itself; to mend it: {opens}"
    ]


def _of_root(*, bounded: bool) -> list[str]:
    """Say what programs may do because we may: what root owns is theirs in any namespace."""
    if os.geteuid() != 0:
        return []
    rights = "may write to all files of root" if bounded else "have all rights over this machine"
    return [f"you are root: the programs {rights}; those of an ordinary user may not"]


def _names(scenario: Scenario) -> dict[str, str]:
    """Give files of /etc: the names that this machine has, those of a scenario's hosts, no others.

    No name server can be reached: whoever asked one would wait in vain.
    """
    known = {
        name: (guests.ETC / name).read_text("utf-8", "replace")
        for name in ("hosts", "nsswitch.conf", "resolv.conf")
        if (guests.ETC / name).is_file()
    }
    lines = [f"{address} server" for address in server_addresses(scenario)]
    for number, (name, path) in enumerate(scenario.paths.items(), 1):
        lines += [f"{address} client client-{name}" for address in addresses(number, path)]
    told = {
        "hosts": "\n".join([*lines, known.get("hosts", "")]),
        "nsswitch.conf": HOSTS_LINE.sub("hosts: files", known.get("nsswitch.conf", "")),
        "resolv.conf": "",
    }
    return {name: told[name] for name in ("hosts", *known)}


def _visited(
    hosts: inhabitants.Inhabited,
    lab: Sandbox,
    programs: Programs,
    new: Path,
    told: Mapping[str, str],
    begin: Callable[[], None],
) -> int:
    """Start the server's program, then the client's; gives its exit status when both have ended."""
    server = None
    with (new / SERVED).open("wb") as said:
        if programs.serve is not None:
            own = {**told, "MPTCPLAB_HOST": "server"}
            server = hosts.start(
                "server", _words(programs, "sh", "-c", programs.serve), own, output=said.fileno()
            )
            hosts.wait_until_listening("server", server)
            if server.poll():
                raise Error(
                    f"the server's program ended with status {server.returncode} before the "
                    f"client's began: {_last(new / SERVED)}"
                )
        lab.tell(guests.GO)
        begin()
        try:
            with inhabitants.terminal_lent():
                own = {**told, "MPTCPLAB_HOST": "client"}
                client = hosts.start("client", _words(programs, *programs.command), own)
                try:
                    status = client.wait()
                except KeyboardInterrupt as asked:
                    # Of what was typed the program knows itself: this is SIGTERM or SIGHUP.
                    (number,) = asked.args or (signal.SIGINT,)
                    inhabitants.dismiss(client, number)
                    status = 128 + number
        finally:
            if server is not None:
                inhabitants.end(server)
    if server is None:
        (new / SERVED).unlink()
    lab.tell(guests.END)
    return status


def _words(programs: Programs, *words: str) -> list[str]:
    """Give the words that start a program."""
    return [*(preload.prefix(Doctored()) if programs.mptcpize else ()), *words]


def _last(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").splitlines()
    return lines[-1] if lines else "it said nothing"


def _outcome(wanted: Wanted, programs: Programs, ended: Any, status: int) -> dict[str, Any]:
    """Say how it ended; bytes are counted by the tables alone."""
    what = Path(programs.command[0]).name
    return {
        "finished": status == 0,
        "reason": "complete" if status == 0 else f"{what} ended with status {status}",
        "elapsed_ns": ended["elapsed_ns"],
        "packets": sum(port["sent"] for port in ended["emulator"]["ports"].values()),
        "cross_traffic": outcomes.cross_traffic(wanted, ended),
    }
