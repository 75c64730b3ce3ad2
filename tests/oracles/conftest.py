"""The captures that are compared: shipped ones, those of others, and fresh ones of the kernel."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from kernel import KINDS, KernelCapture
from oracles import simulated
from oracles.order import ordered
from oracles.simulated import SimulatedRun
from requirements import SHARED_CAPTURES, need_capture, need_tool

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
CASES = [
    *(f"{file.parent.name}-{file.name}" for file in sorted(EXAMPLES.glob("*/*.pcapng.gz"))),
    *(file.name for file in sorted(SHARED_CAPTURES.glob("*.pcap"))),
    *(f"kernel-{kind}-{end}.pcapng" for kind in KINDS for end in ("client", "server")),
    *(f"simulated-{kind}-{end}.pcapng" for kind in simulated.KINDS for end in ("client", "server")),
]


def timing_tells_the_end(name: str) -> bool:
    """Say whether a capture was taken at an end, and with a delay that shows at which."""
    has_no_delay = name.startswith("kernel-") and "lossy" not in name
    return not name.endswith(".pcap") and not has_no_delay


@dataclass(frozen=True)
class Case:
    """A capture, and the end at which it was taken, where that is known."""

    name: str
    capture: pathlib.Path
    end: str | None

    @property
    def is_simulated(self) -> bool:
        return self.name.startswith("simulated-")


@pytest.fixture(scope="session")
def simulated_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], SimulatedRun]:
    """Simulates one of simulated.KINDS, once per session."""
    made: dict[str, SimulatedRun] = {}

    def run(kind: str) -> SimulatedRun:
        if kind not in made:
            plan = simulated.planned(simulated.scenario(kind))
            made[kind] = simulated.simulate(kind, plan, tmp_path_factory.mktemp(kind))
        return made[kind]

    return run


@pytest.fixture(scope="session", params=CASES)
def case(
    request: pytest.FixtureRequest,
    kernel_capture: Callable[[str], KernelCapture],
    simulated_run: Callable[[str], SimulatedRun],
    tmp_path_factory: pytest.TempPathFactory,
) -> Case:
    """Every capture, in the order that the analysis goes by."""
    need_tool("tshark", "tcptrace", "editcap")
    name: str = request.param
    if name.endswith(".pcap"):
        capture, end = need_capture(name), None
    else:
        where, file = name.rsplit("-", 1)
        end = file.split(".")[0]
        if where.startswith("kernel-"):
            capture = getattr(kernel_capture(where.removeprefix("kernel-")), end)
        elif where.startswith("simulated-"):
            capture = getattr(simulated_run(where.removeprefix("simulated-")), end)
        else:
            capture = EXAMPLES / where / file
        if where.startswith("simulated-") or where == "tools":
            # libpcap, and so tcptrace, refuses a second interface of raw IP packets.
            written, capture = capture, tmp_path_factory.mktemp("plain") / f"{end}.pcap"
            subprocess.run(["editcap", "-F", "nsecpcap", written, capture], check=True)
    return Case(name, ordered(capture, tmp_path_factory.mktemp("ordered")), end)
