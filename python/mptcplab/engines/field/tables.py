"""The tables of a field run: of its captures where there are any, and of what both ends knew."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab import _core
from mptcplab.engines.field import clock
from mptcplab.engines.field.marks import Marked
from mptcplab.engines.kernel import measured
from mptcplab.engines.kernel.measured import Numbers
from mptcplab.surroundings.coverage import Span, span_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.engines.field.measure import Ended
    from mptcplab.engines.field.routes import Route

CAPTURES = ("client.pcapng", "server.pcapng")
HOSTS = ("client", "server")


def of_run(
    directory: Path, raw: Path, ended: Ended, routes: dict[str, Route], transfer: dict[str, Any]
) -> tuple[dict[str, _core.Table], Span]:
    """Measure a run, all of whose files are there; gives its time, too."""
    _to_one_clock(raw / "server.samples", clock.line(ended.clocks))
    names = [name for name in CAPTURES if (directory / name).exists()]
    samples = [path for host in HOSTS if (path := raw / f"{host}.samples").exists()]
    counters = [path for host in HOSTS if (path := raw / f"{host}.counters").exists()]
    if "client.pcapng" in names:
        captured = _core.analyze(names, directory=directory, transfer=transfer)
        run_tables = {name: captured.table(name) for name in captured.NAMES}
        connections = list(captured.rows("connections"))
        numbers, diagnostics = Numbers(captured), list(captured.rows("diagnostics"))
    else:
        marked = Marked(ended, routes, raw / "client.samples")
        run_tables = {name: marked.table(name) for name in _core.Tables.NAMES}
        connections = list(marked.rows("connections"))
        numbers, diagnostics = Numbers(marked), []
    remarks = [*diagnostics, *_remarks(ended)]
    ended_ns = ended.started_ns + ended.elapsed_ns
    span = span_of(connections) or Span(ended.started_ns, ended_ns)
    run_tables |= {
        "state": numbers.state(samples),
        "counters": measured.counters(counters),
        "diagnostics": _core.rows("diagnostics", json.dumps(remarks)),
        **ended.surroundings.tables(span),
    }
    return run_tables, span


def _to_one_clock(samples: Path, ahead: clock.Line) -> None:
    """Convert the times of the server's samples to our clock."""
    if not samples.exists():
        return
    lines = []
    for line in samples.read_text("utf-8").splitlines():
        row = json.loads(line)
        lines.append(json.dumps(row | {"at_ns": row["at_ns"] - ahead.ahead_ns(row["at_ns"])}))
    samples.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _remarks(ended: Ended) -> list[dict[str, Any]]:
    """Remark on ends that were not captured, unanswered echoes, and clocks that were set."""
    return _missing_captures(ended) + _missing_echoes(ended) + _set_clocks(ended)


def _set_clocks(ended: Ended) -> list[dict[str, Any]]:
    step_ns = clock.line(ended.clocks).step_ns
    if not step_ns:
        return []
    message = (
        f"somebody set a host's clock during the run: it jumped by {abs(step_ns) / 1e6:.0f} ms; "
        "captures have jumped, too, and what spans the jump is wrong by as much"
    )
    return [{"diagnostic": "clock_set", "message": message}]


def _missing_echoes(ended: Ended) -> list[dict[str, Any]]:
    if not ended.echoes or any(one for pair in ended.clocks.values() for one in pair):
        return []
    message = (
        "no UDP echo of the server came back, so the offset of its clock is unknown; open its "
        "port for UDP"
    )
    return [{"diagnostic": "no_echoes", "message": message}]


def _missing_captures(ended: Ended) -> list[dict[str, Any]]:
    return [
        {
            "diagnostic": "not_captured",
            "message": f"nothing was captured at the {end} ({about['why']}): "
            + (
                "figures come from the kernels' counters and the applications, and what only "
                "packets show is empty"
                if end == "client"
                else "what only its packets show is empty"
            ),
        }
        for end, about in ended.captured.items()
        if about["by"] is None
    ]
