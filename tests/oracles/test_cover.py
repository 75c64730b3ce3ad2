"""Of captures that stop first or begin last: what tshark finds sent and never arrived is lost."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable

import pytest

import mptcplab
from oracles.simulated import SimulatedRun
from requirements import need_tool

# Of which end's packets which part is there.
CUTS = {
    "whole": ("client", 0.0, 1.0),
    "client stops": ("client", 0.0, 0.5),
    "server stops": ("server", 0.0, 0.6),
    "client begins late": ("client", 0.4, 1.0),
    "server begins late": ("server", 0.3, 1.0),
}
FIELDS = ("ip.dst", "ip.id", "tcp.seq_raw", "tcp.options.timestamp.tsval")
Key = tuple[str, ...]


def keys(capture: pathlib.Path) -> list[Key]:
    """What tells each data packet of the server's, in order; its destination first."""
    command = ["tshark", "-r", str(capture), "-Y", "tcp.len>0 && tcp.srcport==8080"]
    command += ["-T", "fields", *(part for field in FIELDS for part in ("-e", field))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def lost(run: SimulatedRun, client: list[Key], server: list[Key]) -> dict[str, int]:
    """Count what was sent and never arrived, from the first packet in both captures to the last."""
    arrived, sent = set(keys(run.client)), keys(run.server)
    shown = set(client) & set(server)
    counts = {}
    for path in sorted({key[0] for key in sent}):
        on_path = [key for key in sent if key[0] == path]
        both = [number for number, key in enumerate(on_path) if key in shown]
        part = on_path[both[0] : both[-1] + 1] if both else []
        counts[path] = sum(key not in arrived for key in part)
    return counts


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("kind", ["two-paths", "three-paths"])
def test_losses_are_those_of_what_both_captures_cover(
    simulated_run: Callable[[str], SimulatedRun], tmp_path: pathlib.Path, kind: str, name: str
) -> None:
    need_tool("tshark", "editcap")
    run = simulated_run(kind)
    end, start, stop = CUTS[name]
    files = {"client": run.client, "server": run.server}
    count = len(
        subprocess.check_output(["tshark", "-r", files[end], "-T", "fields", "-e", "ip.id"]).split()
    )
    part = tmp_path / f"{end}-part.pcapng"
    packets = f"{int(start * count) + 1}-{int(stop * count)}"
    subprocess.run(["editcap", "-r", files[end], part, packets], check=True)
    cut = {**files, end: part}
    found = mptcplab.analyze([cut["client"], cut["server"]])
    ours = {
        subflow["client_address"]: flow["lost_packets"]
        for subflow in found.subflows.iter_rows(named=True)
        for flow in found.flows.iter_rows(named=True)
        if flow["connection"] == subflow["connection"] == 0
        and flow["subflow"] == subflow["subflow"]
        and flow["direction"] == "down"
    }
    theirs = lost(run, keys(cut["client"]), keys(cut["server"]))
    assert {path: ours[path] for path in theirs} == theirs
    said = found.diagnostics.filter(found.diagnostics["diagnostic"] == "capture_partial")
    assert [pathlib.Path(row).name for row in said["capture"]] == (
        [] if name == "whole" else [part.name]
    )
    # What the whole capture knows is told.
    whole = mptcplab.analyze([run.client, run.server])
    assert found.transfers["bytes"].to_list()[:2] == whole.transfers["bytes"].to_list()
