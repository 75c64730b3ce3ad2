"""Converters at the ends of the paths."""

from __future__ import annotations

from experiments.engines.case import Case, Path, bulk, mptcp

TWO = (Path(20, 20, 100), Path(10, 50, 100))


def _case(name: str, transfer: str, converter: str = 'protocol = "convert"') -> Case:
    text = mptcp("cubic-linux", transfer, TWO, more=f"[converter]\n{converter}")
    return Case(name, "converters", text, is_multipath=True)


CASES = (
    _case("200 kB between two converters", bulk("200 kB")),
    _case("20 MB between two converters", bulk("20 MB")),
    _case("20 MB up between two converters", bulk("20 MB", "upload")),
    _case("20 MB between transparent converters", bulk("20 MB"), 'protocol = "transparent"'),
    _case("20 MB behind a converter of the client's", bulk("20 MB"), 'at = "client"'),
)
