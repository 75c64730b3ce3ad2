"""What does MPTCP give over networks that were measured side by side, but each alone?

``python -m experiments.predictions.run DRIVES DIR``: DRIVES is the folder of Satellite-vs-Cellular with ``NAME_udp_down.csv`` of each network. Links are
made of it, a part of the drive each, and MPTCP runs over all pairs of them in simulation, plain TCP over each alone. What was
not recorded is drawn anew for each seed. The figures go to ``results.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import mptcplab
from mptcplab.engines import DEFAULT

RESULTS = Path(__file__).parent / "results.json"
# As the files are called: three carriers, and Starlink's two dishes, Roam and Mobility. MPTCP begins over the first of a pair.
NETWORKS = ("tm", "vz", "att", "rm", "mob")
PAIRS = tuple(combinations(NETWORKS, 2))
# Where parts begin, in seconds from the moment that all five recordings have in common, and for how long they last.
PARTS_S = (10, 110, 210, 310)
LASTS_S = 30
# No recording has them. Lognormal, with these means and coefficients of variation.
DELAY, DELAY_VARIES = "25 ms", 0.4
QUEUE, QUEUE_VARIES = "200 ms", 0.7
UPLINK = "20 Mbit/s"
DRAWN = {
    "delay": {"of": ["downlink.1.delay", "uplink.1.delay"], "spread": DELAY_VARIES},
    "queue": {"of": ["downlink.0.queue.delay"], "spread": QUEUE_VARIES},
}
# Receive buffers at most: those of many Linux kernels, and larger ones.
HOSTS: dict[str, dict[str, Any]] = {
    "6 MB": {},
    "64 MB": {"max_receive_buffer": "64 MB", "send_buffer": "64 MB"},
}


def main() -> None:
    """Run what is not there already, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("drives", type=Path, help="the folder of the recordings")
    parser.add_argument("directory", type=Path, help="where runs are kept")
    parser.add_argument("--repetitions", type=int, default=5, help="how many draws")
    parser.add_argument("--host", choices=HOSTS, help="only of this one; those of the other stay")
    given = parser.parse_args()
    links = {part: _links(given.drives, given.directory, part) for part in PARTS_S}
    hosts = [given.host] if given.host else list(HOSTS)
    kept = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    rows = [row for row in kept if row["host"] not in hosts]
    for host in hosts:
        for names in (*((name,) for name in NETWORKS), *PAIRS):
            where = given.directory / "-".join((*names, host.replace(" ", "-")))
            table = _campaign(names, links, HOSTS[host], given.repetitions)
            campaign = mptcplab.sweep(table, out=where, jobs=1)
            rows += [{"host": host, "over": list(names), **row} for row in _figures(campaign)]
            print(where, flush=True)
    rows.sort(key=lambda row: (list(HOSTS).index(row["host"]), len(row["over"])))
    lines = ",\n".join(json.dumps(row) for row in rows)
    about = {"engine": DEFAULT.name, "version": mptcplab.__version__}
    RESULTS.write_text(f'{{"about": {json.dumps(about)}, "rows": [\n{lines}\n]}}\n')


def _links(drives: Path, directory: Path, part: int) -> Path:
    """Make the links of a part of the drive."""
    out = directory / f"links-{part}"
    if not out.exists():
        files = [f"{name}={drives / f'{name}_udp_down.csv'}" for name in NETWORKS]
        mptcplab.import_links(
            files,
            out=out,
            start_s=part,
            end_s=part + LASTS_S,
            rate=UPLINK,
            delay=DELAY,
            queue=QUEUE,
        )
    return out


def _campaign(
    names: tuple[str, ...], links: dict[int, Path], tcp: dict[str, Any], repetitions: int
) -> dict[str, Any]:
    """Run over these networks, in each part of the drive; plain TCP where it is one."""
    first = links[PARTS_S[0]]
    parts = {
        str(part): {f"link.{name}.profile": str(there / f"{name}.toml") for name in names}
        for part, there in links.items()
    }
    return {
        "schema": 1,
        "title": " and ".join(names),
        "scenario": {
            "schema": 1,
            "transfer": {"direction": "download", "duration": f"{LASTS_S} s"},
            "link": {
                name: {"profile": str(first / f"{name}.toml"), "draw": DRAWN} for name in names
            },
            "path": {name: {"link": name} for name in names},
            "mptcp": {"enabled": len(names) > 1},
            "tcp": tcp,
            "run": {"sample": "0 s"},
        },
        "repetitions": repetitions,
        "baselines": False,
        "axis": {"part": {"points": parts}},
    }


def _figures(campaign: Any) -> list[dict[str, Any]]:
    """Give what each run had, and the share of each path."""
    keys = ["run", "connection", "subflow"]
    flows = campaign.table("flows").filter(connection=0, direction="down").collect()
    paths = campaign.table("subflows").filter(connection=0).collect().select(*keys, "path")
    shares: dict[str, dict[str, float]] = {}
    for run, path, share in flows.join(paths, on=keys).select("run", "path", "share").iter_rows():
        # Plain TCP has but one path, and no shares.
        of_run = shares.setdefault(run, {})
        of_run[path] = round(of_run.get(path, 0) + (1 if share is None else share), 4)
    runs = campaign.runs.sort("part", "seed")
    return [
        {
            "part_s": int(row["part"]),
            "seed": row["seed"],
            # A connection that never began carried nothing.
            "mbps": round(row["throughput_mbps"] or 0, 2),
            "shares": shares.get(row["run"], {}),
        }
        for row in runs.iter_rows(named=True)
    ]


if __name__ == "__main__":
    main()
