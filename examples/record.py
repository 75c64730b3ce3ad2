#!/usr/bin/env python3
"""Records MPTCP v1 transfers between two network namespaces, the kernel at both ends.

An example is named after its table in facts.toml; `bulk` and `short` are raw material for tests
and benchmarks. Needs root, iproute2, ethtool, util-linux and dumpcap (wireshark-common). Nothing
is left behind on the machine, also when this is killed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from typing import Any

from recorder import network
from recorder.capture import Capture
from recorder.forwarder import forward
from recorder.path import Path
from recorder.transfer import REQUEST_BYTES

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
    if os.geteuid() != 0:
        sys.exit("needs root: run it with sudo")
    network.isolate()
    options.directory.mkdir(parents=True, exist_ok=True)
    if options.what == "bulk":
        recording = _material([options.bytes], options.loss)
    elif options.what == "short":
        choice = random.Random(1)
        sizes = [choice.choice(SHORT_SIZES) for _ in range(options.count)]
        recording = _material(sizes, options.loss)
    else:
        recording = _example(FACTS[options.what])
    record(recording, options.directory)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    where = "written to; without it, the example that comes with the project is replaced"
    for name, facts in FACTS.items():
        command = commands.add_parser(name, help=facts["about"])
        command.add_argument(
            "directory", type=pathlib.Path, nargs="?", default=HERE / name, help=where
        )
    bulk = commands.add_parser("bulk", help="one download at 400 and 200 Mbit/s without delay")
    bulk.add_argument("bytes", type=int)
    short = commands.add_parser("short", help="downloads of 200 to 60,000 bytes, 16 at a time")
    short.add_argument("count", type=int)
    for command in (bulk, short):
        command.add_argument("directory", type=pathlib.Path)
        lossy = "lose frames, twice as many on the second path, at a tenth of the rate"
        command.add_argument("--loss", type=float, metavar="PERCENT", help=lossy)
    return parser.parse_args()


def _example(facts: dict[str, Any]) -> Recording:
    paths = [Path(name, **described) for name, described in facts["path"].items()]
    keep = tuple(facts.get("keep", Recording.keep))
    return Recording(paths, [facts["bytes_down"]], facts["seed"], keep, compress=True)


def _material(sizes: list[int], loss_percent: float | None) -> Recording:
    if loss_percent is None:
        paths = [Path("wifi", None, 400, 400, 400_000), Path("lte", None, 200, 200, 400_000)]
    else:
        # Only the forwarder loses frames, and it keeps up with some thousands of them a second.
        paths = [
            Path("wifi", 4, 40, 40, 400_000, loss_percent),
            Path("lte", 10, 20, 20, 400_000, 2 * loss_percent),
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
    captures = {host: Capture(host, names, network.SCRATCH) for host in recording.keep}
    for capture in captures.values():
        capture.wait_until_open()
    _transfer(recording.sizes, start)
    for host, capture in captures.items():
        _publish(capture.stop(), directory / f"{host}.pcapng", recording.compress)
    if not recording.compress:
        # Of the examples, facts.toml tells it.
        sent = {"bytes_up": REQUEST_BYTES, "bytes_down": recording.sizes}
        (directory / "sent.json").write_text(json.dumps(sent))


def _transfer(sizes: list[int], start: float) -> None:
    program = f"{sys.executable} {HERE / 'recorder' / 'transfer.py'}"
    command = f"ip netns exec server {program} server {len(sizes)}"
    server = subprocess.Popen(command.split(), stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()
    wanted = " ".join(map(str, sizes))
    network.on("client", f"{program} client {network.SERVER_ADDRESS} {start} {wanted}")
    if server.wait():
        sys.exit("the server failed")


def _publish(content: bytes, file: pathlib.Path, compress: bool) -> None:
    if compress:
        file = file.with_name(file.name + ".gz")
        content = gzip.compress(content, 9, mtime=0)
    file.write_bytes(content)
    print(file)


if __name__ == "__main__":
    main()
