"""What the papers tell of six carriers' networks, on the study's links of these networks.

Time-outs: UM-CS-2012-022, table VI. Proxies: there, section IV-C.1: at port 21 of all carriers, at
port 80 of AT&T's, which keeps answers. MSS: "On Uplink Measurement", section 3.2.

    python -m experiments.probe.carriers [SILENT|BOXES:CARRIER ...]

Each carrier is probed twice: for its time-out, of which a minute is two seconds here, and for the
rest. With REAL_TIME=1 a minute is one, and it takes up to 67 of them. All at once. What came is kept in ``carriers.json`` beside this file, and
the table is written into docs/probe.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from experiments.probe.run import MPTCPLAB, line_of, of_first_path, probed
from mptcplab.measurements import printed
from mptcplab.scenario import library

KEPT = Path(__file__).with_name("carriers.json")
PAGE = Path(__file__).parents[2] / "docs/probe.md"
BEGIN, END = "<!-- carriers: experiments/probe/carriers.py -->\n", "<!-- end of carriers -->\n"
FIRST = 7444
# Those that the papers tried beside: FTP's data, SSH, POP.
UNSPLIT = (20, 22, 110)
HEADERS_BYTES = 40
SERVER = "10.9.0.1"
MINUTE_SECONDS = 60 if os.environ.get("REAL_TIME") else 2
# Silence beyond a time-out of so many minutes.
BEYOND = {3: 5, 30: 40, 60: 66}


@dataclass(frozen=True)
class Carrier:
    """One, and the link that the study has of it."""

    name: str
    title: str
    link: str
    #: Of the uploads, where an MSS was printed.
    uplink: str = ""
    mss: str = ""
    caches: bool = False

    @property
    def minutes(self) -> int:
        """Its time-out."""
        return int(printed(f"carrier_timeouts_minutes:{self.name}"))

    @property
    def proxied(self) -> tuple[int, ...]:
        """Ports at which it splits connections."""
        return (21, 80) if self.caches else (21,)

    @property
    def most_mss(self) -> int | None:
        """The largest MSS with which uploads go."""
        return int(printed(self.mss)) if self.mss else None

    def silent(self) -> str:
        """Write the scenario with its time-out."""
        table = library.table("links", self.link)
        idle = {"element": "firewall", "idle": f"{self.minutes * MINUTE_SECONDS} s"}
        return _scenario(table["uplink"], table["downlink"], idle)

    def boxes(self) -> str:
        """Write that with the rest; the proxies are the server's."""
        table = library.table("links", self.uplink or self.link)
        up = list(table["uplink"])
        if self.most_mss:
            size = f"{self.most_mss + HEADERS_BYTES} B"
            up.append({"element": "mtu", "bytes": size, "answer": "silent"})
        return _scenario(up, table["downlink"])


def _scenario(up: list[Any], down: list[Any], *shared: dict[str, Any]) -> str:
    lists = {"uplink": up, "downlink": down, "middleboxes": list(shared)}
    head = 'schema = 1\n\n[transfer]\ndirection = "download"\nsize = "1 MB"\n\n[link.carrier]\n'
    lines = [f"{name} = {_toml(elements)}\n" for name, elements in lists.items() if elements]
    # Samples of a hundred silent connections, for an hour, are nobody's.
    rest = '\n[path.wifi]\nlink = "carrier"\n\n[run]\nsample = "0 s"\n'
    return head + "".join(lines) + rest


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


CARRIERS = (
    Carrier(
        "verizon-lte",
        "Verizon, LTE",
        "umass-tr-ii-amherst-verizon-lte",
        "umass-up-1-verizon-lte",
        "umass-up/1/verizon-lte:max_uplink_mss",
    ),
    Carrier(
        "verizon-ehrpd",
        "Verizon, eHRPD",
        "umass-tr-ii-sunderland-verizon-ehrpd",
        "umass-up-1-verizon-ehrpd",
        "umass-up/1/verizon-ehrpd:max_uplink_mss",
    ),
    Carrier("att-lte", "AT&T, LTE", "umass-tr-ii-boston-att-lte", caches=True),
    Carrier(
        "att-hspa",
        "AT&T, HSPA+",
        "umass-tr-ii-amherst-att-hspa",
        "umass-up-1-att-hspa",
        "umass-up/1/att-hspa:max_uplink_mss",
        caches=True,
    ),
    Carrier("sprint-wimax", "Sprint, WiMAX", "umass-tr-ii-boston-sprint-wimax"),
    Carrier("sprint-evdo", "Sprint, EVDO", "umass-tr-ii-amherst-sprint-evdo"),
)


def silent(carrier: Carrier, directory: Path) -> list[str]:
    """Prepare the probe for its time-out; gives the words of ``mptcplab``."""
    return line_of(
        directory, carrier.silent(), idle_seconds=BEYOND[carrier.minutes] * MINUTE_SECONDS
    )


def boxes(carrier: Carrier, directory: Path) -> list[str]:
    """Prepare the probe for the rest."""
    ports = (*carrier.proxied, *(port for port in (*UNSPLIT, 80) if port not in carrier.proxied))
    served = " ".join(f"--probe-port {port}" for port in (FIRST, *ports))
    caches = " --caches 80" if carrier.caches else ""
    behind = " ".join(map(str, carrier.proxied))
    # As a file: a module would need the project's directory.
    proxy = Path(__file__).with_name("proxy.py")
    serve = (
        f"{sys.executable} {proxy} {SERVER} {behind}{caches} -- {MPTCPLAB} serve --name {SERVER} "
        f"--state state {served}"
    )
    return line_of(directory, carrier.boxes(), idle_seconds=0, serve=serve)


PARTS = {"silent": silent, "boxes": boxes}


def find(carrier: Carrier, part: str) -> list[dict[str, Any]]:
    """Probe a carrier."""
    with tempfile.TemporaryDirectory() as directory:
        arguments = PARTS[part](carrier, Path(directory))
        return of_first_path(
            probed(arguments, directory, BEYOND[carrier.minutes] * MINUTE_SECONDS + 600)
        )


def wrong(
    carrier: Carrier,
    part: str,
    rows: list[dict[str, Any]],
    minute_seconds: int = MINUTE_SECONDS,
) -> list[str]:
    """Give what was not found of what stands there, and what was found beside it."""
    due: dict[str, str] = {}
    if part == "silent":
        due = {"idle, server speaks": "forgotten", "idle, client speaks": "forgotten"}
    else:
        for port in carrier.proxied:
            due |= {f"port {port}": "", f"withheld ACKs, port {port}": "somebody else"}
        if carrier.caches:
            due["HTTP, port 80"] = "a cache answered"
        if carrier.most_mss:
            due["large packets up"] = f"MSS {carrier.most_mss},"
    found = {row["probe"]: row for row in rows if row["verdict"] in ("altered", "blocked")}
    if part == "silent":
        # The answer comes a round trip after the silence, or the firewall looks a little later.
        for probe in due.keys() & found.keys():
            first, last = bracket(found[probe])
            if not first <= carrier.minutes * minute_seconds <= last:
                due[probe] = f"{carrier.minutes} min, not {first:g} to {last:g} s"
    missed = [
        f"{carrier.name}: {probe}: {evidence}"
        for probe, evidence in due.items()
        if probe not in found
        or evidence not in found[probe]["evidence"] + " " + found[probe]["arrived"]
    ]
    beside = [
        f"{carrier.name}: {probe}: {row['verdict']} {row['evidence']}"
        for probe, row in found.items()
        if probe not in due
    ]
    return missed + beside


class Found(NamedTuple):
    """What a try found, and for how many seconds a minute stood."""

    probes: list[dict[str, Any]]
    minute_seconds: int


def table(kept: dict[str, dict[str, Found]]) -> str:
    """Draw a row for each carrier: what was printed of it, and what the probes said."""
    lines = [
        "| network | time-out | silence: answered, forgotten | a minute took | split at | ACKs withheld: somebody acknowledged at | cache at | one answer for two requests at | MSS up | largest that got through up |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for carrier in CARRIERS:
        if kept.get(carrier.name, {}).keys() != PARTS.keys():
            continue
        rows = {row["probe"]: row for part in kept[carrier.name].values() for row in part.probes}
        minute = kept[carrier.name]["silent"].minute_seconds
        silence = {_between(rows[f"idle, {end} speaks"], minute) for end in ("server", "client")}
        cells = (
            carrier.title,
            f"{carrier.minutes} min",
            "; ".join(sorted(silence)),
            f"{minute} s",
            _ports(carrier.proxied),
            _ports(_altered(rows, "withheld ACKs, port ")),
            "80" if carrier.caches else "",
            _ports(_altered(rows, "HTTP, port ")),
            str(carrier.most_mss or ""),
            _mss(rows["large packets up"]),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _between(row: dict[str, Any], minute_seconds: int) -> str:
    if row["verdict"] != "blocked":
        return str(row["verdict"])
    first, last = bracket(row)
    return f"{first / minute_seconds:g} min, {last / minute_seconds:g} min"


def bracket(row: dict[str, Any]) -> tuple[float, float]:
    """Give between which silences connections were forgotten, in seconds."""
    first, last = (float(word) for word in row["evidence"].split() if word.isdecimal())
    return first, last


def _altered(rows: dict[str, dict[str, Any]], probe: str) -> tuple[int, ...]:
    found = (name for name, row in rows.items() if row["verdict"] == "altered")
    return tuple(sorted(int(name.removeprefix(probe)) for name in found if name.startswith(probe)))


def _ports(ports: tuple[int, ...]) -> str:
    return ", ".join(map(str, ports))


def _mss(row: dict[str, Any]) -> str:
    if row["verdict"] == "clear":
        return "all"
    return str(row["arrived"]).split()[1].rstrip(",") if row["arrived"] else str(row["verdict"])


def write(kept: dict[str, dict[str, Found]]) -> None:
    """Keep what was found, without its time, and put the table into the page."""
    lines = []
    for carrier in CARRIERS:
        for part in PARTS:
            if found := kept.get(carrier.name, {}).get(part):
                bare = [{key: row[key] for key in row if key != "at_ns"} for row in found.probes]
                about = {"carrier": carrier.name, "part": part}
                took = {"minute_seconds": found.minute_seconds}
                lines.append(json.dumps({**about, **took, "probes": bare}))
    KEPT.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}{table(kept)}{END}{tail}", "utf-8")


def read() -> dict[str, dict[str, Found]]:
    """Give what was found."""
    kept: dict[str, dict[str, Found]] = {}
    for one in json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else []:
        found = Found(one["probes"], one["minute_seconds"])
        kept.setdefault(one["carrier"], {})[one["part"]] = found
    return kept


def main() -> None:
    """Probe the carriers that are named, or all, and write the table."""
    all_ = [(carrier, part) for carrier in CARRIERS for part in PARTS]
    wanted = [
        (carrier, part)
        for carrier, part in all_
        if not sys.argv[1:] or f"{part}:{carrier.name}" in sys.argv[1:]
    ]
    kept = read()
    with ThreadPoolExecutor(len(all_)) as pool:
        tries = [(carrier, part, pool.submit(find, carrier, part)) for carrier, part in wanted]
        for carrier, part, one in tries:
            try:
                rows = one.result()
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                # What others found after an hour is kept.
                print(carrier.name, part, error, flush=True)
                continue
            print(carrier.name, part, wrong(carrier, part, rows) or "as printed", flush=True)
            kept.setdefault(carrier.name, {})[part] = Found(rows, MINUTE_SECONDS)
            write(kept)


if __name__ == "__main__":
    main()
