"""Every scenario that ships, cut short, before Linux: it runs, or is refused by name."""

from __future__ import annotations

import tomllib

import pytest

from engine.machines import Machine
from mptcplab.results.run import Run
from mptcplab.scenario import library

# What makes each a matter of seconds, events of its timeline included.
SHORT: dict[str, list[str]] = {
    "bbr": ["transfer.size=2MB"],
    "boston": ["transfer.size=1MB"],
    "data-plan": ["transfer.size=3MB", "path.lte.budget=200kB"],
    "metered": ["transfer.size=3MB", "path.lte.cost_per_mb=5"],
    "driving": [
        "transfer.duration=3s",
        *("timeline.0.at=500ms", "timeline.1.at=1s", "timeline.1.takes=500ms"),
    ],
    "era-2012": ["transfer.size=2MB"],
    # Less than a receive buffer in the second without Wi-Fi: where memory is full while a path is
    # lost, Linux 6.18 now and then delivers nothing any more, with a guard or without.
    "guard": [
        *("transfer.rate=1Mbit/s", "transfer.duration=4s"),
        *("timeline.0.at=1s", "timeline.1.at=2s"),
    ],
    "handover": [
        "transfer.duration=5s",
        *("timeline.0.at=1s", "timeline.1.at=3s", "timeline.2.at=3s", "timeline.3.at=4s"),
    ],
    "ipv6-only": ["transfer.size=1MB"],
    "lte-to-3g": [
        "transfer.duration=3s",
        *("timeline.0.at=1s", "timeline.1.at=1.5s", "timeline.2.at=1.5s"),
    ],
    # Each of the others is tried once.
    "maps": [
        *("transfer.duration=9s", "timeline.0.at=2s"),
        *(f"mptcp.path_manager_parameters.{one}" for one in ("spacing=1s", "probe=1s", "worse=1")),
    ],
    "marks": ["transfer.size=2MB"],
    "middleboxes": ["transfer.size=1MB"],
    "ndiffports": ["transfer.size=2MB"],
    "offload": [
        "transfer.size=3MB",
        "mptcp.path_manager_parameters.size=3MB",
        "mptcp.path_manager_parameters.tolerance=1s",
    ],
    "on-demand": ["transfer.requests=1"],
    "path-lost": ["transfer.duration=4s", "timeline.0.at=1s", "timeline.1.at=2s"],
    "radio-wakes": ["transfer.response=50kB", "transfer.requests=2", "transfer.think=100ms"],
    "shared-bottleneck": ["transfer.duration=2s"],
    # A join that is refused before the key is seen belongs to nobody.
    "simultaneous-syn": ["path.lte.delay=150ms"],
    "signal": [
        *("transfer.duration=5s", "timeline.1.at=500ms", "timeline.2.at=1s"),
        *("timeline.3.at=2s", "timeline.4.at=3s"),
    ],
    "video": ["transfer.duration=8s", "timeline.0.at=500ms", "timeline.1.at=1s"],
    "voice": ["transfer.duration=3s", "timeline.0.at=1s", "timeline.1.at=2s"],
    "walk": ["transfer.size=1MB"],
    "wifi-lte": ["transfer.size=2MB"],
    "wifi-lte-upload": ["transfer.size=2MB"],
}
ERA = '[tcp] appropriate_byte_counting, of era "2012": Linux cannot have false'
MANAGER = "[mptcp] path_manager: Linux cannot have"
LINUXS = "--set mptcp.path_manager=linux, or --set client.stack=mptcplab"
# What Linux is told to have that it has not, and what runs; the endpoint of simulations has it.
REFUSED = {
    "boston": (ERA, "--set mptcp.era=current --set tcp.initial_ssthresh=off"),
    "era-2012": (ERA, "--set mptcp.era=current"),
    "handover": (f'{MANAGER} "handover"', LINUXS),
    "ndiffports": (f'{MANAGER} "ndiffports"', LINUXS),
    "simultaneous-syn": (
        '[mptcp] join: Linux cannot have "simultaneous"',
        "--set mptcp.join=specified, or --set client.stack=mptcplab",
    ),
}
# What is not for Linux at either end.
SIMULATED = {
    "cache": ("link lte: the kernel engine has no proxy", "--engine simulation"),
    "proxy": ("link lte: the kernel engine has no proxy", "--engine simulation"),
    "version-0": ("[mptcp] version: Linux cannot have 0", "--set mptcp.version=1"),
}


def given(name: str, *more: str) -> list[str]:
    return [word for setting in [*SHORT[name], *more] for word in ("--set", setting)]


@pytest.mark.parametrize("name", sorted(set(library.names("scenarios")) - set(SIMULATED)))
def test_what_ships_runs_before_linux(host: Machine, name: str) -> None:
    ours = ["client.stack=mptcplab"] if name in REFUSED else []
    out = host.directory / "out"
    arguments = ["--engine", "kernel", "--no-baselines", "--no-report", "--out", out]
    done = host.run("run", name, *arguments, *given(name, *ours))
    assert done.returncode == 0, done.stderr

    run = Run(out / "mptcp")
    assert run.outcome["finished"] is True, run.outcome
    paths = tomllib.loads((run.directory / "scenario.toml").read_text())["path"]
    # A join that Linux refuses, as it knows of no connection yet, belongs to none at its end.
    assert set(run.subflows.filter(connection=0)["path"]) == set(paths), run.subflows


@pytest.mark.parametrize(("name", "messages"), (REFUSED | SIMULATED).items())
def test_what_linux_has_not_is_refused_with_what_runs(
    host: Machine, name: str, messages: tuple[str, str]
) -> None:
    done = host.run("run", name, "--engine", "kernel", "--out", host.directory / "out")
    assert done.returncode == 2
    refused, remedy = messages
    assert refused in done.stderr
    assert done.stderr.endswith(f" {remedy}\n")
    assert not (host.directory / "out").exists()
