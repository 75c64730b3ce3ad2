"""That the peers are understood: their figures follow from the rules, and from what was sent."""

from __future__ import annotations

import pathlib
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from kernel import KINDS, KernelCapture
from oracles import tcptrace, tcptrace_rules, tshark
from oracles.ranges import Ranges
from requirements import need_tool

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
FACTS = tomllib.loads((EXAMPLES / "facts.toml").read_text())
SHIPPED = [file for file in sorted(EXAMPLES.glob("*/*.pcapng.gz")) if file.parent.name in FACTS]
SHARED = [
    "kernel-v1-two-subflows-lossy.pcap",
    "pymptcpanalyzer_client_1_tcp_only.pcap",
    "pymptcpanalyzer_client_2.pcap",
    "tcpdump_mptcp-v0.pcap",
    "tcpdump_mptcp-v1.pcap",
]
COUNTS = [
    "packets",
    "data_packets",
    "data_bytes",
    "unique_bytes",
    "rexmt_packets",
    "rexmt_bytes",
    "outoforder_packets",
    "zero_window_probes",
    "zero_window_probe_bytes",
    "post_loss_acks",
    "ambiguous_acks",
    "cumulatively_acked",
]


@pytest.mark.parametrize("capture", SHIPPED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_rules_give_tcptraces_figures_of_examples(capture: pathlib.Path) -> None:
    check_rules(capture)


@pytest.mark.parametrize("name", SHARED)
def test_rules_give_tcptraces_figures_of_others_captures(
    name: str, shared_capture: Callable[[str], pathlib.Path]
) -> None:
    check_rules(shared_capture(name))


@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.parametrize("kind", KINDS)
def test_rules_give_tcptraces_figures_of_the_kernel(
    kind: str, end: str, kernel_capture: Callable[[str], KernelCapture]
) -> None:
    check_rules(getattr(kernel_capture(kind), end))


def check_rules(capture: pathlib.Path) -> None:
    need_tool("tcptrace", "tshark")
    theirs = tcptrace.by_four_tuple(tcptrace.read(capture))
    ours: dict[tcptrace.FourTuple, int] = Counter()
    for key, up, down in tcptrace_rules.flows(tshark.read(capture)):
        flow = theirs[key][ours[key]]
        ours[key] += 1
        ends = (flow.a, flow.b) if flow.four_tuple == key else (flow.b, flow.a)
        for figures, model in zip(ends, (up, down), strict=True):
            for name in COUNTS:
                assert (key, name, getattr(figures, name)) == (key, name, getattr(model, name))
            samples = [time for _, time in model.rtt_samples]
            assert figures.rtt_samples == len(samples)
            # tcptrace divides by a little more than the count and prints tenths.
            assert (
                f"{figures.rtt_mean_ms:.1f}" == f"{sum(samples) / (len(samples) + 1e-4) / 1e3:.1f}"
            )
            assert f"{figures.rtt_max_ms:.1f}" == f"{max(samples, default=0) / 1e3:.1f}"
    assert ours == {key: len(flows) for key, flows in theirs.items() if key in ours}
    assert sum(ours.values()) == len({id(flow) for flows in theirs.values() for flow in flows})


@pytest.mark.parametrize("capture", SHIPPED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_tshark_sees_what_the_application_sent(capture: pathlib.Path) -> None:
    need_tool("tshark")
    facts = FACTS[capture.parent.name]
    (connection,) = tshark.connections(tshark.read(capture))
    assert connection.up.dsn_bytes == facts["bytes_up"]
    assert connection.down.dsn_bytes == facts["bytes_down"]
    assert len(connection.subflows) == len(facts["path"])


@pytest.mark.parametrize("kind", KINDS)
def test_tshark_sees_what_the_kernels_application_sent(
    kind: str, kernel_capture: Callable[[str], KernelCapture]
) -> None:
    need_tool("tshark")
    recorded = kernel_capture(kind)
    found = tshark.connections(tshark.read(recorded.client))
    assert Counter(c.down.dsn_bytes for c in found) == Counter(recorded.bytes_down)
    assert {c.up.dsn_bytes for c in found} == {recorded.bytes_up}


def test_what_follows_data_fin_on_its_subflow_has_its_own_mapping() -> None:
    need_tool("tshark")
    packets = tshark.read(EXAMPLES / "download" / "client.pcapng.gz")
    (connection,) = tshark.connections(packets)
    assert connection.server_idsn is not None
    down = [p for p in packets if p.four_tuple[1] == 8080]
    fin = next(p for p in down if p.data_fin is not None and p.length and p.mapping)
    assert fin.mapping is not None
    dsn, sequence, length = fin.mapping
    whole = replace(fin, length=length, dsn=connection.server_idsn + dsn)
    again = replace(
        whole,
        sequence=(fin.sequence + length) % 2**32,
        length=68,
        mapping=(1001, sequence + length, 68),
        data_fin=None,
        dsn=connection.server_idsn + dsn + length,
    )
    _, found = tshark.past_data_fin([whole, again])
    assert found.dsn == connection.server_idsn + 1001


def test_bytes_sent_anew_are_those_beyond_the_different_ones() -> None:
    # Every byte under a new subflow sequence number is an original, a reinjection or a repetition.
    need_tool("tshark")
    for capture in SHIPPED:
        (connection,) = tshark.connections(tshark.read(capture))
        down = connection.down
        assert down.no_dsn_bytes == 0
        anew = down.reinjected_bytes + down.repeated_bytes
        assert down.sequence_bytes == down.dsn_bytes + anew


def test_ranges_remember_who_sent_what() -> None:
    ranges = Ranges()
    assert ranges.add(10, 20, 1) == [(10, 20, frozenset())]
    assert ranges.add(15, 25, 2) == [(15, 20, frozenset({1})), (20, 25, frozenset())]
    assert ranges.add(5, 30, 1) == [
        (5, 10, frozenset()),
        (10, 15, frozenset({1})),
        (15, 20, frozenset({1, 2})),
        (20, 25, frozenset({2})),
        (25, 30, frozenset()),
    ]
    assert ranges.count() == 25
