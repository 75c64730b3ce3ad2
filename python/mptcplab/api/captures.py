"""Captures and files of other tools in, tables out."""

from __future__ import annotations

from os import PathLike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mptcplab.analysis import Analysis


def analyze(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    bin_seconds: float = 1.0,
    smoothing_seconds: float = 5.0,
    trim_seconds: float = 5.0,
    samples: bool = True,
    from_seconds: float = 0.0,
    to_seconds: float | None = None,
    scenario: str | PathLike[str] | dict[str, Any] | None = None,
    filter_by: str | None = None,
    connection: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Analysis:
    """Measure the connections in captures of one network, given together as one.

    Files of other tools are read beside them, each for itself: ``mptcplab analyze --sources`` lists
    which. What they do not tell is empty.

    Args:
        paths: One or more files, pcap or pcapng, also compressed by gzip or zstd. Give the
            captures of both ends of a transfer, or one per interface, together. ``"-"`` is
            standard input. Or files of other tools, known by their content.
        bin_seconds: Length of the bins of ``throughput``.
        smoothing_seconds: Window of the moving mean for the coefficient of variation.
        trim_seconds: Start of a transfer that the coefficient of variation leaves out.
        samples: Whether to fill ``segments``, ``rtt``, ``reordering``, ``responses`` and
            ``window``, which have a row per packet or sample and take memory accordingly.
        from_seconds: Start of the analysis, from the first packet of the captures.
        to_seconds: End of the analysis, from that packet; ``None``: the end of the captures.
        scenario: A file, the name of a scenario that ships, or one as a dictionary. Its
            ``transfer`` names the application, whose quality is then measured, too.
        filter_by: Only connections that match this filter, such as ``"port=443,protocol=mptcp"``.
        connection: Only this one.
        progress: Called from time to time with the bytes read and, if known, the total.

    Raises:
        CaptureError: A capture cannot be read, or a file is neither a capture nor of a tool that is
            known. A truncated capture is not an error: what precedes the cut is analysed,
            ``complete`` is false, and ``diagnostics`` says so.
        ScenarioError: The scenario cannot be; says where and why.
        Error: A file of another tool is damaged; an argument is invalid, the captures end before
            ``from_seconds``, no connection matches ``filter_by``, or there is no such connection.
        TypeError: ``paths`` is neither a path nor an iterable of paths.
        KeyboardInterrupt: Ctrl-C; also while standard input is silent.
    """
    from mptcplab.analysis import Analysis
    from mptcplab.results.chosen import Chosen
    from mptcplab.results.measured import measure

    transfer = None
    if scenario is not None:
        from mptcplab.scenario.plan import planned_transfer
        from mptcplab.scenario.scenario import load

        transfer = planned_transfer(load(scenario)[1].transfer)
    tables = measure(
        paths,
        bin_seconds=bin_seconds,
        smoothing_seconds=smoothing_seconds,
        trim_seconds=trim_seconds,
        samples=samples,
        from_seconds=from_seconds,
        to_seconds=to_seconds,
        transfer=transfer,
        progress=progress,
    )
    return Analysis(Chosen.narrowed(tables, filter_by, connection))
