#!/usr/bin/env python3
"""Records MPTCP v1 transfers between two network namespaces, with this machine's kernel at both ends.

An example is named after its table in facts.toml; `bulk` and `short` are raw material for tests
and benchmarks. Needs root, iproute2, ethtool, util-linux and dumpcap (wireshark-common). Nothing is left behind
on the machine, also when this is killed.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, replace
from typing import Any

from recorder import network
from recorder.capture import Capture
from recorder.forwarder import forward
from recorder.order import order_by_time
from recorder.path import Path

HERE = pathlib.Path(__file__).resolve().parent
FACTS = tomllib.loads((HERE / "facts.toml").read_text())
SHORT_SIZES = [200, 2_000, 20_000, 60_000]


@dataclass(frozen=True)
class Recording:
    paths: list[Path]
    sizes: list[int]
    seed: int
    keep: tuple[str, ...] = ("client", "server")
    compress: bool = False
    second_server_address: bool = False


def main() -> None:
    options = _arguments()
    network.isolate()
    options.directory.mkdir(parents=True, exist_ok=True)
    if options.what == "bulk":
        recording = _material([options.number], options.loss)
    elif options.what == "short":
        choice = random.Random(1)
        recording = _material([choice.choice(SHORT_SIZES) for _ in range(options.number)], options.loss)
    else:
        recording = _example(FACTS[options.what])
    record(recording, options.directory)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    for name, facts in FACTS.items():
        command = commands.add_parser(name, help=facts["about"])
        command.add_argument("directory", type=pathlib.Path, nargs="?", default=HERE / name)
    for name, meaning in (("bulk", "one download of BYTES"), ("short", "COUNT downloads of 200 B to 60 kB")):
        command = commands.add_parser(name, help=f"{meaning} over 400 and 200 Mbit/s without delay")
        command.add_argument("number", type=int, metavar=meaning.split()[-1] if name == "bulk" else "COUNT")
        command.add_argument("directory", type=pathlib.Path)
        command.add_argument("--loss", type=float, metavar="PERCENT", help="lose frames, at a tenth of the rate")
    return parser.parse_args()


def _example(facts: dict[str, Any]) -> Recording:
    paths = [Path(name, **described) for name, described in facts["path"].items()]
    keep = tuple(facts.get("keep", Recording.keep))
    return Recording(paths, [facts["bytes_down"]], facts["seed"], keep, compress=True)


def _material(sizes: list[int], loss_percent: float | None) -> Recording:
    paths = [Path("wifi", None, 400, 400, 400_000), Path("lte", None, 200, 200, 400_000)]
    if loss_percent is not None:
        # Only the forwarder loses frames, and it keeps up with about 5000 of them a second.
        paths = [
            replace(path, rtt_ms=rtt, down_mbps=path.down_mbps / 10, up_mbps=path.up_mbps / 10, loss_percent=loss)
            for path, rtt, loss in zip(paths, (4, 10), (loss_percent, 2 * loss_percent), strict=True)
        ]
    return Recording(paths, sizes, seed=1, second_server_address=True)


def record(recording: Recording, directory: pathlib.Path) -> None:
    names = [path.name for path in recording.paths]
    network.build(recording.paths, recording.second_server_address)
    start = time.monotonic() + 2
    for path in recording.paths:
        if path.rtt_ms is not None:
            ends = network.far_end(path, "client"), network.far_end(path, "server")
            job = (path, *ends, recording.seed, start)
            multiprocessing.Process(target=forward, args=job, daemon=True).start()
    with tempfile.TemporaryDirectory(dir=directory) as unfinished:
        files = {host: pathlib.Path(unfinished, f"{host}.pcapng") for host in recording.keep}
        captures = [Capture(host, names, file) for host, file in files.items()]
        for capture in captures:
            capture.wait_until_open()
        _transfer(recording.sizes, start)
        for capture in captures:
            capture.stop()
        for file in files.values():
            _publish(file, directory, recording.compress)


def _transfer(sizes: list[int], start: float) -> None:
    program = [sys.executable, str(HERE / "recorder" / "transfer.py")]
    at_server = [*program, "server", network.SERVER_ADDRESS, str(len(sizes))]
    at_client = [*program, "client", network.SERVER_ADDRESS, str(start), *map(str, sizes)]
    server = subprocess.Popen(["ip", "netns", "exec", "server", *at_server])
    time.sleep(0.5)
    network.on("client", *at_client)
    if server.wait():
        sys.exit("the server failed")


def _publish(file: pathlib.Path, directory: pathlib.Path, compress: bool) -> None:
    order_by_time(file)
    if compress:
        packed = file.with_name(file.name + ".gz")
        packed.write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
        file = packed
    shutil.move(file, directory / file.name)
    print(directory / file.name)


if __name__ == "__main__":
    main()
