"""Scenarios: what is refused and how, what is filled in, and that the long form says the same."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from scenarios import DELAY, TEXT, read

from mptcplab import _core
from mptcplab.scenario import endpoint, library, long
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import load

FULL = """\
schema = 1
title = "all that there is: \\"quoted\\", ünd\\u007f\\n"

[transfer]
direction = "upload"
application = "request-response"
request = "200 B"
response = "1.5 MB"
requests = 3
think = "1.000001 s"

[link.shared]
origin = "assumed"
uplink = [
  { shared = "air" },
  { element = "rate", rate = "1234567 bit/s", queue = { queue = "codel" } },
]
downlink = [
  { element = "loss", ratio = "0.2 %", shared = "air" },
  { element = "delay", delay = "1 ns" },
  { element = "loss", ratio = "0.1 %" },
  { element = "trace", trace = [0, 5, 7] },
]

[link.lte]
profile = "lte"

[path.wifi]
link = "shared"
ip = "both"
mtu = 1400

[path.lte]
link = "lte"
backup = true

[path.late]
uplink_rate = "1.5 Mbit/s"
downlink_rate = "3 Gbps"
delay = "0.5 ms"
jitter = "10 us"
loss = "0.07 %"
queue = "50 packets"
attached = false
ip = 6

[server]
addresses = 2
announce = false

[mptcp]
scheduler = "lowest-rtt"
max_subflows = 3
close_timeout = "1 min"

[tcp]
delayed_ack = "off"
initial_ssthresh = 64
receive_buffer = "880 KiB"

[[cross_traffic]]
link = "shared"
flows = 4
stop = "10 s"

[[cross_traffic]]
name = "voice"
kind = "udp"
link = "late"
rate = "64 kbit/s"
packet = "200 B"
direction = "upload"

[[timeline]]
at = "5 s"
path = "late"
verb = "attach"
takes = "4 s"

[[timeline]]
at = "6 s"
path = "lte"
verb = "profile"
profile = "hspa"

[[timeline]]
at = "7 s"
path = "lte"
verb = "profile"
link = "late"

[[timeline]]
at = "8 s"
path = "wifi"
verb = "rebind"

[run]
stop = "100 s"
sample = "0 s"
baselines = false
"""


def test_the_long_form_reads_back_as_the_same() -> None:
    scenario = read(FULL)
    text = long.write(scenario)
    again = read(text)
    assert again == scenario
    assert long.write(again) == text
    for seed, path in ((1, None), (2, "lte")):
        assert plan(again, seed, path).table() == plan(scenario, seed, path).table()


@pytest.mark.parametrize("name", library.names("scenarios"))
def test_what_ships_reads_and_reads_back(name: str) -> None:
    found, scenario = load(name)
    assert found == name
    assert scenario.title
    assert read(long.write(scenario)) == scenario


@pytest.mark.parametrize("name", library.names("links"))
def test_links_say_what_they_are_and_where_their_figures_come_from(name: str) -> None:
    table = library.table("links", name)
    assert table["title"]
    assert table["origin"]
    text = re.sub(r'profile = "lte"', f'profile = "{name}"', FULL)
    assert read(text).links["lte"].origin == table["origin"]


def test_a_file_may_leave_out_its_schema_and_the_direction() -> None:
    rest = 'size = "1 MB"\n[path.wifi]\nrate = "1 Mbit/s"\ndelay = "1 ms"\n'
    short = read("[transfer]\n" + rest)
    assert short == read('schema = 1\n[transfer]\ndirection = "download"\n' + rest)
    assert long.write(short).startswith("schema = 1\n")
    assert 'direction = "download"' in long.write(short)


def test_the_long_form_holds_neither_short_forms_nor_profiles() -> None:
    text = long.write(read(FULL))
    assert "profile =" not in text
    assert "uplink_rate" not in text
    assert '{ element = "rate", rate = "1.5 Mbit/s", queue = { queue = "drop-tail", ' in text
    assert '{ element = "loss", ratio = "0.07 %" }' in text
    assert 'delayed_ack = "off"' in text
    assert 'receive_buffer = "901.12 kB"' in text
    assert text.count("profile") == 2


def test_every_setting_of_the_endpoint_can_be_set() -> None:
    theirs = _core.transport_defaults()
    assert endpoint.config(read(TEXT).mptcp, read(TEXT).tcp) == theirs

    def pointers(table: dict[str, Any], above: str = "") -> set[str]:
        there = {f"{above}/{key}": value for key, value in table.items()}
        within = [
            pointers(value, at) for at, value in there.items() if value and type(value) is dict
        ]
        return {
            at for at, value in there.items() if not isinstance(value, dict) or not value
        }.union(*within)

    named = {one["at"] for section in ("mptcp", "tcp") for one in _core.settings()[section]}
    # Whoever makes the endpoint knows its addresses.
    assert pointers(theirs) - named == {"/mptcp/path_manager/endpoints"}
    assert named <= pointers(theirs)


def test_an_era_is_a_set_of_defaults() -> None:
    scenario = read(TEXT, "mptcp.era=2012")
    assert scenario.mptcp.era == "2012"
    # UM-CS-2012-022: the receive buffer of a client with 2 GB, cached thresholds, coupled increase.
    assert scenario.tcp.mss == 1400
    assert scenario.tcp.ssthresh_cache
    assert scenario.tcp.max_receive_buffer == 880_000
    assert not any((scenario.tcp.rack, scenario.tcp.tail_loss_probe, scenario.tcp.pacing))
    assert scenario.mptcp.checksum
    assert scenario.mptcp.congestion_control == scenario.tcp.congestion_control == "lia"
    assert scenario.mptcp.receive_buffer == "shared"
    # The long form says all of it, and it is the same.
    assert read(long.write(scenario)) == scenario
    assert '\nmss = "1.4 kB"\n' in long.write(scenario)


def test_what_is_set_beside_an_era_holds() -> None:
    settings = ("mptcp.era=2012", "tcp.mss=off", "mptcp.scheduler=linux", "tcp.max_backoff=3")
    scenario = read(TEXT, *settings)
    assert scenario.tcp.mss is None
    assert scenario.mptcp.scheduler == "linux"
    assert scenario.tcp.max_backoff == 3
    assert scenario.mptcp.checksum
    # It goes with the schedulers of the out-of-tree kernel.
    assert not scenario.mptcp.penalisation


def test_the_current_era_is_what_the_kernel_does() -> None:
    scenario = read(TEXT, "mptcp.era=current")
    assert scenario.mptcp.scheduler == "linux"
    assert scenario.mptcp.max_subflows == 2
    assert scenario.mptcp.max_add_addr_accepted == 0
    assert scenario.kernel == read(TEXT).kernel
    # TCP's own defaults are of it anyway.
    ours = endpoint.config(scenario.mptcp, scenario.tcp)
    assert ours["tcp"] == endpoint.defaults()["tcp"]
    assert read(TEXT, "mptcp.era=2012").kernel.scheduler == "lowest-rtt"


def test_the_plan_is_in_base_units() -> None:
    planned = plan(read(FULL), 7, "lte").table()
    assert planned["seed"] == 7
    assert planned["run"] == {"kind": "tcp", "path": "lte"}
    assert planned["transfer"] == {
        "application": "request-response",
        "direction": "up",
        "request_bytes": 200,
        "response_bytes": 1_500_000,
        "requests": 3,
        "think_ns": 1_000_001_000,
        "deadline_ns": None,
    }
    tcp = planned["transport"]["client"]["tcp"]
    assert tcp["delayed_ack_ns"] is None
    assert tcp["initial_ssthresh_packets"] == 64
    assert tcp["receive_buffer_bytes"] == 901_120
    assert not planned["transport"]["server"]["mptcp"]["enabled"]
    attach, profile, other, rebind = planned["timeline"]
    assert attach == {"at_ns": 5 * 10**9, "path": "late", "verb": "attach", "takes_ns": 4 * 10**9}
    assert profile["link"]["uplink"][0]["element"] == "rate-process"
    assert other["link"] == planned["links"]["late"]
    assert rebind["address"] == "10.0.1.99"
    assert planned["cross_traffic"][0]["name"] == "cross-1"
    assert planned["cross_traffic"][1]["packet_bytes"] == 200
    assert planned["settings"]["stop_ns"] == 100 * 10**9
    assert planned["settings"]["sample_ns"] == 0


def test_a_plan_says_which_value_is_at_fault() -> None:
    table = plan(read(FULL), 1).table()
    table["links"]["lte"]["downlink"][0]["queue"] = {"queue": "pie", "alpha": 1e308}
    with pytest.raises(_core.PlanError, match="link lte, downlink, element 1") as error:
        _core.Plan(table).check()
    assert error.value.key == ("link", "lte", "downlink", 0, "queue", "alpha")
    assert error.value.message == "must be from 0 to 1000"
    with pytest.raises(_core.PlanError, match="unknown field `nothing`") as error:
        _core.Plan(table | {"nothing": 1})
    assert error.value.key == ()


def test_a_plan_is_kept_as_its_table() -> None:
    one = plan(read(FULL), 1)
    other = one.with_seed(2)
    assert other.table() == one.table() | {"seed": 2}
    assert pickle.loads(pickle.dumps(other)).table() == other.table()


def test_traces_are_found_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n5\n9\n")
    text = TEXT.replace(DELAY, '{ element = "trace", trace = "up.trace" }')
    (tmp_path / "mine.toml").write_text(text)
    _, scenario = load(tmp_path / "mine.toml")
    assert scenario.links["home"].downlink is not None
    assert scenario.links["home"].downlink[1]["trace"] == [1, 5, 9]


def test_lines_are_found_in_all_of_toml() -> None:
    text = """\
a.b = 1 # c = 2
"quoted key" = \"\"\"
x = 1
[not.a.table]
\"\"\"
list = [ # comment ]
  [1, 2],
  { x = '}', y = [3,
    4] },
]

[[t]]
x = 1
[t.sub]
y = "#"
[[t]]
'x' = 2
[[t.deep]]
z = 1
"""
    offsets = _core.toml_offsets(text)
    lines = {key: 1 + text[:offset].count("\n") for key, offset in offsets.items()}
    assert lines["a", "b"] == 1
    assert lines["quoted key",] == 2
    assert lines["list",] == 6
    assert lines["list", 0, 1] == 7
    assert lines["list", 1, "x"] == 8
    assert lines["list", 1, "y", 1] == 9
    assert lines["t", 0, "sub", "y"] == 15
    assert lines["t", 1] == 16
    assert lines["t", 1, "x"] == 17
    assert lines["t", 1, "deep", 0, "z"] == 19
    assert not any("not" in key_path for key_path in lines)
