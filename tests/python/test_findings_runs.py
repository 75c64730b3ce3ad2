"""Findings that need what only a run has: plain TCP beside it, counters, the sender's state."""

from __future__ import annotations

from typing import Any

import pytest


def test_the_three_rules_of_runs_look_at_the_connection_of_the_transfer() -> None:
    """What another connection, or the other direction, lost is no explanation."""
    from mptcplab.results.findings import path_unused, send_buffer, slower

    comparison = _comparison()
    (finding,) = slower.find(comparison, [])
    assert finding["kind"] == "slower_than_single"
    assert finding["cost_s"] == pytest.approx(5.0)
    explained = {"kind": "path_dead", "cost_s": 2.0, "confidence": 0.9, "subflow": 0}
    (less,) = slower.find(comparison, [explained])
    assert less["cost_s"] == pytest.approx(3.0)
    assert less["message"].endswith("; the finding “dead path” explains 2.00 s of 5.00 s")
    # A small window may be the main cause, whatever it cost; a long queue is none.
    window = explained | {"kind": "receive_window", "cost_s": None}
    unknown = [explained | {"kind": "bufferbloat", "cost_s": None}, window]
    (finding,) = slower.find(comparison, unknown)
    assert finding["message"].endswith("lone; see the finding “small receive window”")
    # It fills while data waits for a slow path.
    waited = explained | {"kind": "head_of_line", "cost_s": None, "confidence": 0.6}
    (finding,) = slower.find(comparison, [*unknown, waited])
    assert finding["message"].endswith("lone; see the finding “head-of-line blocking”")
    (finding,) = slower.find(comparison, [explained, *unknown])
    assert finding["message"].endswith(
        "explains 2.00 s of 5.00 s; see the finding “small receive window”"
    )
    (finding,) = slower.find(comparison, [explained | {"cost_s": 4.0}, *unknown])
    assert finding["message"].endswith("explains 4.00 s of 5.00 s")
    # That the scheduler left it idle tells less: this has its cost.
    idle = {"kind": "capacity_unused", "cost_s": None, "confidence": 0.6, "subflow": 1}
    (unused,) = path_unused.find(comparison, [idle])
    assert unused["cost_s"] == pytest.approx(5.0)
    assert unused["message"].startswith("lte carried 0.10 Mbit/s, but plain TCP over it alone")
    assert path_unused.find(comparison, [explained | {"subflow": 1}]) == []
    # A window is shared, and who has no more to send needs no further path.
    # What arrived twice came over the other first: that has its cost.
    for kind in ("receive_window", "application", "reinjection_waste"):
        assert path_unused.find(comparison, [explained | {"kind": kind, "subflow": None}]) == []
    comparison.mptcp.scenario = {"transfer": {"application": "constant-bit-rate"}}
    assert path_unused.find(comparison, []) == []
    (buffer,) = send_buffer.find(comparison, [])
    assert buffer["evidence"].startswith(
        "the kernel counted 400 ms of waiting for the buffer in 1000"
    )
    assert send_buffer.find(comparison, [explained | {"kind": "receive_window"}]) == []


@pytest.mark.parametrize(("mbps", "carried"), [(7.0, None), (0.2, "0.30")])
def test_a_path_that_was_joined_again_is_unused_only_with_all_its_subflows(
    mbps: float, carried: str | None
) -> None:
    """One that was there for a second carried little."""
    from mptcplab.results.findings import path_unused

    comparison = _comparison()
    again = {"subflow": 2, "path": "lte", "join_time_ms": 2_000.0}
    tables = {name: list(comparison.mptcp.tables.rows(name)) for name in ("subflows", "flows")}
    tables["subflows"].append(tables["subflows"][1] | again)
    tables["flows"].append(tables["flows"][1] | {"subflow": 2, "throughput_mbps": mbps})
    comparison.mptcp.tables.rows = lambda name, connection=None: tables[name]
    findings = path_unused.find(comparison, [])
    assert len(findings) == (carried is not None)
    assert all(f"lte carried {carried} Mbit/s" in row["message"] for row in findings)
    # What explains one of them explains the path.
    dead = {"kind": "path_dead", "cost_s": 2.0, "confidence": 0.9, "subflow": 2}
    assert path_unused.find(comparison, [dead]) == []


@pytest.mark.parametrize(("ended_s", "found"), [(0.3, False), (3.0, True)])
def test_a_join_that_meets_its_connections_end_reached_no_limit(
    ended_s: float, found: bool
) -> None:
    """Linux counts both as rejected."""
    from types import SimpleNamespace

    from mptcplab.results.findings import join_limit

    tables = {
        "connections": [{"connection": 0, "start_s": 0.0, "duration_s": ended_s}],
        "subflows": [{"connection": 0, "kind": "join", "handshake": "refused", "start_s": 0.1}],
        "counters": [{"host": "server", "counter": join_limit.COUNTER, "before": 2, "after": 3}],
    }
    run = SimpleNamespace(tables=SimpleNamespace(rows=lambda name: tables[name]))
    findings = join_limit.find(SimpleNamespace(mptcp=run), [])  # type: ignore[arg-type]
    assert [row["kind"] for row in findings] == ["join_limit"] * found


# Of a subflow that joined, each 100 ms, by Linux 6.18 over 20 and 10 Mbit/s, 30 and 70 ms: busy,
# limited by the buffer, queued, in flight, window. The first two had 4 MB of buffer, and as much
# throughput with 64 MB; the third had 128 kB, and gained a quarter with 256 kB.
NEVER_ENDED = [
    *((8.0, 8.0, 8_704, 10, 10), (108.0, 108.0, 96, 17, 20), (208.0, 208.0, 5_648, 40, 40)),
    *((308.0, 308.0, 133_664, 87, 87), (408.0, 408.0, 162_192, 168, 168)),
]

OF_A_SHORT_TRANSFER = [(8.0, 8.0, 4_464, 10, 10), (108.0, 108.0, 96, 8, 20)]

LIMITED = [
    *((0.0, 0.0, 0, 0, 10), (96.0, 0.0, 22_736, 20, 20), (196.0, 0.0, 0, 16, 40)),
    *((296.0, 0.0, 0, 43, 59), (396.0, 0.0, 1_376, 53, 88), (496.0, 20.0, 0, 46, 91)),
    *((592.0, 116.0, 0, 46, 91), (696.0, 220.0, 1_376, 47, 91)),
    (796.0, 320.0, 1_376, 52, 91),
]


@pytest.mark.parametrize(
    ("samples", "found"),
    [(NEVER_ENDED, False), (OF_A_SHORT_TRANSFER, False), (LIMITED, True)],
)
def test_a_count_that_goes_on_beside_a_full_window_is_no_small_send_buffer(
    samples: list[tuple[float, float, int, int, int]], found: bool
) -> None:
    import polars as pl

    from mptcplab.results.findings import send_buffer

    names = ("busy_ms", "buffer_limited_ms", "queued_bytes", "in_flight_packets", "cwnd_packets")
    rows = [
        {"connection": 0, "subflow": 1, "host": "server", "at_ns": at * 100_000_000}
        | dict(zip(names, sample, strict=True))
        for at, sample in enumerate(samples, start=1)
    ]
    comparison = _comparison()
    comparison.mptcp.state = pl.DataFrame(rows)
    assert bool(send_buffer.find(comparison, [])) is found


def test_what_the_connection_has_written_decides_before_a_count() -> None:
    """Linux counted waits for the buffer on a path that lost 1 %, whose windows were full."""
    import polars as pl

    from mptcplab.results.findings import send_buffer

    names = ("busy_ms", "buffer_limited_ms", "queued_bytes", "in_flight_packets", "cwnd_packets")
    rows = [
        {"connection": 0, "subflow": 1, "host": "server", "at_ns": at * 100_000_000}
        | dict(zip(names, sample, strict=True))
        | {"unacknowledged_bytes": 300_000 + at, "peer_window_bytes": 3_000_000}
        for at, sample in enumerate(LIMITED, start=1)
    ]
    comparison = _comparison()
    comparison.mptcp.state = pl.DataFrame(rows).with_columns(queued_bytes=pl.lit(100_000))
    assert send_buffer.find(comparison, []) == []
    comparison.mptcp.state = comparison.mptcp.state.drop("unacknowledged_bytes")
    assert send_buffer.find(comparison, [])


def test_a_small_send_buffer_is_told_once() -> None:
    """It is the connection's, however many of its subflows count it."""
    import polars as pl

    from mptcplab.results.findings import send_buffer

    names = ("busy_ms", "buffer_limited_ms", "queued_bytes", "in_flight_packets", "cwnd_packets")
    rows = [
        {"connection": 0, "subflow": subflow, "host": "server", "at_ns": at * 100_000_000}
        | dict(zip(names, sample, strict=True))
        for subflow in (0, 1)
        for at, sample in enumerate(LIMITED, start=1)
    ]
    comparison = _comparison()
    comparison.mptcp.state = pl.DataFrame(rows)
    (finding,) = send_buffer.find(comparison, [])
    assert "subflow" not in finding
    assert "(subflow 0)" in finding["evidence"]
    assert "(subflow 1)" in finding["evidence"]


@pytest.mark.parametrize(
    ("flying", "queued", "window", "found"),
    [
        (40, 1300, None, True),
        (40, 1300, 200_000, True),
        (90, 0, None, False),
        (40, 9000, None, False),
        (40, 0, 60_000, False),
    ],
)
def test_samples_show_a_small_send_buffer_where_nothing_else_limits(
    flying: int, queued: int, window: int | None, found: bool
) -> None:
    """Room in the subflow's window of 90 packets and in the peer's, and nothing to send."""
    import polars as pl

    from mptcplab.results.findings import send_buffer

    rows = [
        {
            **{"connection": 0, "subflow": 0, "host": "server", "at_ns": at, "cwnd_packets": 90},
            **{"in_flight_packets": flying, "queued_bytes": queued, "peer_window_bytes": window},
            # Written, acknowledged, and at last nothing more.
            "unacknowledged_bytes": 59_000 + at % 2 if at < 10 else 59_000 - at,
        }
        for at in range(20)
    ]
    comparison = _comparison()
    comparison.mptcp.state = pl.DataFrame(rows)
    assert bool(send_buffer.find(comparison, [])) is found
    comparison.mptcp.scenario = {"transfer": {"application": "request-response"}}
    assert send_buffer.find(comparison, []) == []


def _comparison() -> Any:
    """A run that took 10 s where plain TCP over Wi-Fi takes 5 s, and hardly used LTE."""
    from types import SimpleNamespace

    import polars as pl

    def run(mbps: float) -> Any:
        tables = SimpleNamespace(rows=lambda _name: [])
        outcome = {"finished": True}
        return SimpleNamespace(throughput_mbps=mbps, outcome=outcome, transfer=None, tables=tables)

    tables = {
        "subflows": [
            {
                "connection": 0,
                "subflow": number,
                "path": path,
                "join_time_ms": 50.0,
                "handshake": "established",
                "backup": False,
            }
            for number, path in enumerate(("wifi", "lte"))
        ],
        "flows": [
            {"connection": 0, "subflow": 0, "direction": "down", "throughput_mbps": 7.9},
            {"connection": 0, "subflow": 1, "direction": "down", "throughput_mbps": 0.1},
            {"connection": 0, "subflow": 1, "direction": "up", "throughput_mbps": 9.0},
        ],
    }
    state = pl.DataFrame(
        [
            {
                "connection": 0,
                "subflow": 0,
                "host": "server",
                "at_ns": 1_000_000_000,
                "busy_ms": 1000.0,
                "buffer_limited_ms": 400.0,
                "queued_bytes": 0,
                "in_flight_packets": 20,
                "cwnd_packets": 40,
            }
        ]
    )
    mptcp = SimpleNamespace(
        throughput_mbps=8.0,
        transfer={"connection": 0, "direction": "down", "elapsed_s": 10.0, "bytes": 10_000_000},
        tables=SimpleNamespace(rows=lambda name, connection=None: tables[name]),
        state=state,
        scenario={},
        outcome={"finished": True},
    )
    beside = {"wifi": run(16.0), "lte": run(8.0)}
    return SimpleNamespace(mptcp=mptcp, baselines=beside, gain=-0.5, best_path="wifi")
