"""The small bundle that comes with a report to kernel maintainers."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab._core import Error
from mptcplab.analysis import measure
from mptcplab.anonymising import anonymise
from mptcplab.engines import named
from mptcplab.results.comparison import Comparison
from mptcplab.results.opening import opened
from mptcplab.results.run import Run
from mptcplab.writing import beside, write_whole

CAPTURES = ("client.pcapng", "server.pcapng")
# What is copied of the file `run.json`: nothing that names a person, a host or a directory.
KEYS = ("mptcplab", "engine", "run", "seed", "mptcp", "direction", "outcome", "policies", "kernel")
# The earliest date that a zip can hold: the same run gives the same bytes but for new addresses.
DATE = (1980, 1, 1, 0, 0, 0)

README = """\
A run of mptcplab {version}, with {what}.

{files}

Addresses and keys in the captures are not the original ones, and payload is left out; MPTCP in
them is valid. Times and lengths are what they were.
"""
MEANINGS = {
    "scenario.toml": "for mptcplab run scenario.toml --seed {seed} --engine {engine}",
    "run.json": "how it ended; release, settings and configuration of a kernel",
    "client.pcapng": "every packet at the client, headers alone",
    "server.pcapng": "every packet at the server, headers alone",
    "state.csv": "what the senders knew: congestion window, round-trip time, back-off and more",
    "summary.json": "what was measured: connections, subflows, events, findings",
}


def bundle(source: str | PathLike[str] | Run | Comparison, out: Path | None = None) -> Path:
    """Write the bundle, as :func:`mptcplab.write_issue` says."""
    found = source if isinstance(source, Run | Comparison) else opened(source)
    run = found.mptcp if isinstance(found, Comparison) else found
    if not isinstance(run, Run):
        raise Error(f"{source} is not a run: a bundle for an issue is of one run")
    target = out or beside(run.directory, "-issue.zip")
    captures = [run.directory / name for name in CAPTURES if (run.directory / name).exists()]
    if not captures:
        raise Error(f"{run.directory} has no captures, which a bundle for an issue is about")
    files = dict(_files(run, captures))
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [("README.txt", _readme(run, files)), *files.items()]:
            archive.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED)
    write_whole(target, packed.getvalue())
    return target


def _files(run: Run, captures: list[Path]) -> Iterator[tuple[str, bytes]]:
    # The scenario of a run over real networks names hosts.
    if not named(run.about["engine"]).visits:
        yield "scenario.toml", run.scenario_text.encode()
    about = {key: run.about[key] for key in KEYS if key in run.about}
    about["build"] = run.about["identity"]["build"]
    yield "run.json", _json(about)
    if not run.state.is_empty():
        yield "state.csv", run.state.write_csv().encode()
    with tempfile.TemporaryDirectory() as directory:
        done = anonymise(captures, Path(directory, "captures"))
        for one in done:
            yield one.file.name, one.file.read_bytes()
        yield "summary.json", measure([one.file for one in done], samples=False).json().encode()


def _readme(run: Run, files: dict[str, bytes]) -> bytes:
    about = run.about
    kernel = about.get("kernel")
    what = f"Linux {kernel['release']}" if kernel else f"the engine {about['engine']}"
    lines = [f"{name:15}{MEANINGS[name].format(**about)}" for name in files]
    return README.format(version=_core.VERSION, what=what, files="\n".join(lines)).encode()


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
