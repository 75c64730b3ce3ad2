"""Radio: the standards' tables, closed forms of path loss, routes, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log2, log10, pi
from typing import TYPE_CHECKING, Any

import pytest

from mptcplab import Error, ScenarioError, quantity, radio
from mptcplab.radio import cqi, hspa, lte, named, nr, wifi, wimax
from mptcplab.radio.path_loss import free_space_db, log_distance_db
from mptcplab.radio.route import received_dbm
from mptcplab.scenario import library, long
from mptcplab.scenario.scenario import Scenario, load, read_scenario
from mptcplab.scenario.settings import set_value
from mptcplab.scenario.source import Source
from mptcplab.study.radio import of_papers

if TYPE_CHECKING:
    from pathlib import Path

    from command import Run

TEXT = """\
schema = 1
[transfer]
direction = "download"
duration = "60 s"
[link.a.radio]
technology = "802.11g"
signal = "-60 dBm"
[path.a]
link = "a"
"""
SIGNAL = 'signal = "-60 dBm"'
DIRECTIONS = ("uplink", "downlink")


def read(text: str, *settings: str) -> Scenario:
    source = Source.of_text(text, "mine.toml")
    for setting in settings:
        set_value(source, setting)
    return read_scenario(source)


def rate(scenario: Scenario, direction: str = "uplink") -> int:
    """Give the rate of the first element that has one."""
    elements = getattr(scenario.links["a"], direction)
    return next(int(one["rate"]) for one in elements if "rate" in one)


def test_efficiencies_of_lte_and_nr_are_modulation_times_code_rate() -> None:
    # TS 36.213 table 7.2.3-1 and TS 38.214 table 5.2.2.1-3: bits per symbol and code rate x 1024.
    lte_rows = [(2, r) for r in (78, 120, 193, 308, 449, 602)]
    lte_rows += [(4, r) for r in (378, 490, 616)] + [(6, r) for r in (466, 567, 666, 772, 873, 948)]
    nr_rows = [(2, r) for r in (78, 193, 449)] + [(4, r) for r in (378, 490, 616)]
    nr_rows += [(6, r) for r in (466, 567, 666, 772, 873)] + [(8, r) for r in (711, 797, 885, 948)]
    for table, rows in ((lte.CQI, lte_rows), (nr.CQI, nr_rows)):
        assert len(table) == len(rows) == 15
        for (_, efficiency), (bits, code) in zip(table, rows, strict=True):
            assert efficiency == pytest.approx(bits * code / 1024, abs=5e-5)


def test_a_scheme_needs_the_signal_at_which_the_gap_to_shannon_carries_it() -> None:
    for scheme in lte.LTE.schemes("10 MHz"):
        carried = log2(1 + 10 ** (scheme.needs / 10) / cqi.GAP)
        assert carried == pytest.approx(scheme.efficiency, rel=2e-3)


def test_the_fastest_5g_is_as_ts_38_306_reckons() -> None:
    # TS 38.306 §4.1.2: 4 streams, 256-QAM, 948/1024, 273 blocks of 30 kHz, overhead 0.14.
    reckoned = 4 * 8 * 948 / 1024 * 273 * 12 / (1e-3 / (14 * 2)) * (1 - 0.14)
    down, _ = nr.NR.rates(40, "100 MHz", 4)
    assert down == pytest.approx(reckoned * nr.TIME[0], rel=1e-5)
    assert reckoned == pytest.approx(2.337e9, rel=1e-3)


def test_wimax_carries_what_its_forum_reckons() -> None:
    # WiMAX Forum, Mobile WiMAX part I (2006), table 4: 10 MHz, Mbit/s downwards with all symbols.
    forum = {"QPSK 1/2": 6.34, "QPSK 3/4": 9.50, "16-QAM 1/2": 12.67, "16-QAM 3/4": 19.01}
    forum |= {"64-QAM 1/2": 19.01, "64-QAM 2/3": 25.34, "64-QAM 3/4": 28.51}
    for scheme in wimax.PROFILES:
        down, _ = wimax.WIMAX.rates(scheme.needs, "10 MHz", 1)
        assert down / wimax.TIME[0] / 1e6 == pytest.approx(forum[scheme.name], abs=0.01)


def test_hspa_has_the_blocks_that_its_channel_can_carry() -> None:
    # TS 25.321 §9.2.3.1: the sizes of a transport block of HS-DSCH.
    sizes = [125 + 12 * k if k < 40 else floor(296 * Fraction(2085, 2048) ** k) for k in range(255)]
    assert sizes[-1] == 27952
    assert set(hspa.BLOCKS) <= set(sizes[1:])
    # What a receiver that has one of the lists of TS 25.214 tells, from a simulator of others:
    # floor(SNR/1.02 + 16.62) between -16 and 14 dB, 30 above.
    assert hspa.needs(1) > -16
    assert hspa.needs(30) < 14
    # Uploads of 5.74 Mbit/s: what tutorials print of E-DCH category 6.
    assert pytest.approx(5.74e6, abs=5e3) == hspa.UPLINK


def test_hspa_has_the_blocks_of_its_categories() -> None:
    # TS 25.306 table 5.1a: the most bits of a block.
    most = {"category 6": 7298, "category 8": 14411, "category 9": 20251, "category 10": 27952}
    for category, bits in most.items():
        blocks = [scheme.efficiency for scheme in hspa.HSPA.schemes(category)]
        assert blocks == sorted(set(blocks))
        assert bits * 0.85 < blocks[-1] <= bits
    for indicator in range(1, 31):
        assert hspa.needs(indicator) / 1.02 + 16.62 == pytest.approx(indicator, abs=0.01)


@pytest.mark.parametrize(
    ("technology", "channel", "slowest", "fastest"),
    # IEEE 802.11-2016 tables 17-4, 19-27, 19-31 and 21-29 to 21-54, long guard interval; IEEE
    # 802.11ax-2021 §27.5, short: rates of one stream in Mbit/s.
    [
        (wifi.WIFI_G, "20 MHz", 6, 54),
        (wifi.WIFI_N, "20 MHz", 6.5, 65),
        (wifi.WIFI_N, "40 MHz", 13.5, 135),
        (wifi.WIFI_AC, "80 MHz", 29.3, 390),
        (wifi.WIFI_AC, "160 MHz", 58.5, 780),
        (wifi.WIFI_AX, "20 MHz", 8.6, 143.4),
        (wifi.WIFI_AX, "80 MHz", 36.0, 600.5),
    ],
)
def test_wifi_has_the_slowest_and_fastest_rates_of_its_tables(
    technology: wifi.Wifi, channel: str, slowest: float, fastest: float
) -> None:
    schemes = technology.schemes(channel)
    for scheme, printed in ((schemes[0], slowest), (schemes[-1], fastest)):
        air = technology.air_mbps(scheme, channel, 1)
        assert air == pytest.approx(printed, abs=0.06)
        assert 0 < technology.rates(scheme.needs, channel, 1)[0] < air * 1e6


def test_wifi_5_has_every_rate_and_need_of_its_tables() -> None:
    # IEEE 802.11-2016 §21.5 (long guard interval, one stream), as Wi-Fi vendors reprint it: there
    # is no MCS 9 in 20 MHz. Table 21-25, as drivers have it (rssiMcsTbl of Qualcomm's).
    rates = {
        "20 MHz": (6.5, 13, 19.5, 26, 39, 52, 58.5, 65, 78),
        "40 MHz": (13.5, 27, 40.5, 54, 81, 108, 121.5, 135, 162, 180),
        "80 MHz": (29.3, 58.5, 87.8, 117, 175.5, 234, 263.3, 292.5, 351, 390),
        "160 MHz": (58.5, 117, 175.5, 234, 351, 468, 526.5, 585, 702, 780),
    }
    needs = {
        "20 MHz": (-82, -79, -77, -74, -70, -66, -65, -64, -59),
        "40 MHz": (-79, -76, -74, -71, -67, -63, -62, -61, -56, -54),
        "80 MHz": (-76, -73, -71, -68, -64, -60, -59, -58, -53, -51),
    }
    for channel, printed in rates.items():
        schemes = wifi.WIFI_AC.schemes(channel)
        air = [wifi.WIFI_AC.air_mbps(scheme, channel, 1) for scheme in schemes]
        assert air == pytest.approx(printed, abs=0.06)
    for channel, powers in needs.items():
        assert tuple(scheme.needs for scheme in wifi.WIFI_AC.schemes(channel)) == powers


def test_wifi_needs_what_its_tables_ask_of_receivers() -> None:
    # IEEE 802.11-2016 table 17-18 and 802.11ax-2021 table 27-51, as simulators have them.
    g = (-82, -81, -79, -77, -74, -70, -66, -65)
    ax = (-82, -79, -77, -74, -70, -66, -65, -64, -59, -57, -54, -52)
    for technology, powers in ((wifi.WIFI_G, g), (wifi.WIFI_N, ax[:8]), (wifi.WIFI_AX, ax)):
        assert tuple(scheme.needs for scheme in technology.schemes("20 MHz")) == powers
    assert wifi.WIFI_AX.schemes("160 MHz")[-1].needs == -52 + 9


def test_wifi_of_2003_takes_the_time_that_its_standard_reckons() -> None:
    # IEEE 802.11-2016 §17.4.3: preamble, then whole symbols of 4 us for 16 + 6 bits, 36 bytes of
    # headers and the packet. §10.3: DIFS, mean of the first back-off, SIFS, an ACK at 24 Mbit/s.
    bits = 16 + 6 + 8 * (36 + 1500)
    acknowledged_us = 16 + 20 + 4 * ceil((16 + 6 + 8 * 14) / 96)
    for scheme in wifi.WIFI_G.schemes("20 MHz"):
        symbols = ceil(bits / (48 * scheme.efficiency))
        taken_us = 34 + 7.5 * 9 + 20 + 4 * symbols + acknowledged_us
        rate, _ = wifi.WIFI_G.rates(scheme.needs, "20 MHz", 1)
        assert rate == pytest.approx(8 * 1500 / taken_us * 1e6, rel=0.015)


def test_newer_wifi_loses_less_around_its_packets() -> None:
    left = []
    for technology in (wifi.WIFI_G, wifi.WIFI_N, wifi.WIFI_AC, wifi.WIFI_AX):
        channel = list(technology.channels)[-1]
        scheme = technology.schemes(channel)[-1]
        air = technology.air_mbps(scheme, channel, 1) * 1e6
        left.append(technology.rates(scheme.needs, channel, 1)[0] / air)
    assert left[0] < 0.6
    assert all(0.75 < one < 1500 / 1540 for one in left[1:])


def test_wimax_has_about_the_slots_that_others_count() -> None:
    # So-In, Jain and Tamimi, "Capacity Evaluation for IEEE 802.16e Mobile WiMAX" (2010), table 4:
    # 420 slots of 48 carriers downwards and 175 upwards in a frame of 5 ms, less what is said of
    # the frame in it; the Forum counts 44 symbols in both directions, they 28 and 15.
    down, up = (blocks * part for blocks, part in zip((30, 35), wimax.WIMAX.symbols, strict=True))
    assert down / 200 / 48 == pytest.approx(420, rel=0.05)
    assert up / 200 / 48 == pytest.approx(175, rel=0.15)


@pytest.mark.parametrize(
    ("technology", "measure", "least", "most"),
    # 3GPP TS 38.133 §10.1.6, §10.1.11 and §10.1.16; TS 36.133 §9.1.4 and TS 25.133 §9.1.1 as
    # Android's radio interface has them (SignalMeasurementType.aidl).
    [
        ("nr", "rsrp", -156, -31),
        ("nr", "rsrq", -43, 20),
        ("nr", "sinr", -23, 40),
        ("lte", "rsrp", -140, -44),
        ("lte", "rsrq", -19.5, -3),
        ("hspa", "rscp", -120, -25),
    ],
)
def test_receivers_report_what_standards_let_them(
    technology: str, measure: str, least: float, most: float
) -> None:
    found = named(technology).measures[measure]
    assert (found.least, found.most) == (least, most)


@pytest.mark.parametrize("technology", radio.technologies(), ids=lambda one: one.name)
def test_more_signal_never_gives_less(technology: Any) -> None:
    for channel in technology.channels:
        needs = [scheme.needs for scheme in technology.schemes(channel)]
        assert needs == sorted(needs)
        assert technology.rates(needs[0] - 0.01, channel, 1)[0] == 0
        last = (0.0, 0.0)
        for signal in (needs[0] + step for step in range(50)):
            now = technology.rates(signal, channel, 1)
            assert now[0] >= last[0]
            assert now[1] >= last[1]
            last = now


def test_path_loss_has_its_closed_form() -> None:
    # 28 GHz at 1 m: 61.4 dB (Akdeniz et al., IEEE JSAC 32(6), 2014, table I, alpha in sight).
    assert free_space_db(1, 28e9) == pytest.approx(61.4, abs=0.05)
    for metres in (1, 7, 250):
        friis = 20 * log10(4 * pi * metres * 2.4e9 / 299_792_458)
        assert log_distance_db(metres, 2.4e9, 2) == pytest.approx(friis)
    for exponent in (2, 3, 4.2):
        tenfold = log_distance_db(50, 2e9, exponent) - log_distance_db(5, 2e9, exponent)
        assert tenfold == pytest.approx(10 * exponent)
    assert log_distance_db(0.1, 2e9, 3) == log_distance_db(1, 2e9, 3)


def test_an_lte_carrier_has_its_part_of_the_power() -> None:
    whole = 61 - log_distance_db(500, 1.8e9, 3.5)
    heard = received_dbm(lte.LTE, "20 MHz", 500)
    assert heard == pytest.approx(whole - 10 * log10(1200), abs=0.01)


def test_what_the_papers_printed_is_used_where_it_can_have_been() -> None:
    judged = {(one.where, one.technology, one.measure): one for one in of_papers()}
    for modem in ("ppp0", "ppp1"):
        rsrq = judged[f"ctu-lte {modem}", "lte", "rsrq"]
        assert rsrq.ceiling is None
        assert "outside -19.5 to -3 dB" in rsrq.refused
        assert judged[f"ctu-lte {modem}", "lte", "rsrp"].ceiling is not None
    # The power of WiMAX alone gives the ratio that was measured beside it.
    for site, cinr, uploaded in (("A", 16, 1.1), ("B", 10, 0.18)):
        by_power = judged[f"naist/{site}/wimax", "wimax", "rssi"].ceiling
        by_ratio = judged[f"naist/{site}/wimax", "wimax", "cinr"].ceiling
        assert by_power is not None
        assert by_ratio is not None
        assert by_power.effective == pytest.approx(cinr, abs=0.5)
        assert by_ratio.uplink_bits_per_second > uploaded * 1e6
    assert judged["naist/A/wimax", "802.11g", "rssi"].ceiling.scheme is None  # type: ignore[union-attr]


def test_a_signal_becomes_elements() -> None:
    scenario = read(TEXT)
    up, down = scenario.links["a"].uplink or [], scenario.links["a"].downlink or []
    assert [one.get("element") for one in up] == ["rate", "arq", "delay"]
    assert down[0] == {"shared": "air"}
    assert up[0]["rate"] == radio.ceiling("802.11g", "-60 dBm").uplink_bits_per_second
    assert read(long.write(scenario)) == scenario
    assert "radio" not in long.write(scenario)
    assert rate(read(TEXT, "link.a.radio.share=50%")) == pytest.approx(up[0]["rate"] / 2, rel=1e-3)


ROUTE = """route = [
  { distance = "10 m" },
  { distance = "90 m", speed = "8 m/s" },
  { at = "20 s", distance = "90 m", obstruction = "80 dB" },
  { at = "30 s", distance = "90 m" },
]"""


def test_a_route_becomes_events_where_rates_change() -> None:
    scenario = read(TEXT.replace(SIGNAL, ROUTE))
    wifi_g = wifi.WIFI_G

    def expected(metres: float, lost: float = 0) -> int:
        heard = received_dbm(wifi_g, "20 MHz", metres) - lost
        return round(float(f"{wifi_g.rates(round(heard, 2), '20 MHz', 1)[0]:.4g}"))

    assert rate(scenario) == expected(10)
    seen = {0: rate(scenario)}
    for event in scenario.timeline:
        assert (event.verb, event.path) == ("profile", "a")
        seen[event.at // 10**9] = event.uplink[0]["rate"]
    # It runs from 10 to 90 m in 10 s, then stands; between events the rate is the one before.
    now = 0
    for second in range(31):
        now = seen.get(second, now)
        metres = min(10 + 8 * second, 90)
        assert now == expected(metres, 80 if 20 <= second < 30 else 0), second
    changes = list(seen.values())
    assert all(one != other for one, other in pairwise(changes))
    assert seen[20] == 0
    assert read(long.write(scenario)) == scenario


def test_what_lies_behind_the_end_is_left_out() -> None:
    scenario = read(TEXT.replace(SIGNAL, ROUTE), "transfer.duration=15s")
    assert scenario.timeline
    assert all(event.at < 15 * 10**9 for event in scenario.timeline)


def test_radio_is_a_ceiling_to_elements_and_a_calibrated_link_is_left_alone() -> None:
    weak = TEXT.replace(SIGNAL, 'signal = "-80 dBm"')
    most = radio.ceiling("802.11g", "-80 dBm").downlink_bits_per_second
    limited = read(weak, "link.a.profile=wifi-home").links["a"]
    means = [one["mean"] for one in limited.downlink or [] if "mean" in one]
    assert means == [most]
    strong = read(TEXT, "link.a.profile=wimax").links["a"]
    assert [one["mean"] for one in strong.downlink or [] if "mean" in one] == [3_000_000]
    calibrated = next(
        name
        for name in library.names("links")
        if library.table("links", name)["origin"].get("kind") == "calibrated"
    )
    with_radio = read(weak, f"link.a.profile={calibrated}").links["a"]
    without = read(weak.replace("[link.a.radio]", "[link.b.radio]"), f"path.a.profile={calibrated}")
    assert with_radio == without.links["a"]


def test_a_radio_that_a_calibrated_link_overrides_is_told(tmp_path: Path, mptcplab: Run) -> None:
    calibrated = 'origin = { kind = "calibrated", row = "mine" }\n[link.a.radio]'
    file = tmp_path / "walk.toml"
    elements = "".join(
        f'{direction} = [{{ element = "rate", rate = "9 Mbit/s" }}]\n' for direction in DIRECTIONS
    )
    file.write_text(TEXT.replace("[link.a.radio]", f"[link.a]\n{elements}{calibrated}"))
    command = ["run", str(file), "--no-baselines", "--no-report", "--out", str(tmp_path / "out")]
    done = mptcplab(*command)
    assert done.returncode == 0, done.stderr
    line = file.read_text().splitlines().index("[link.a.radio]") + 1
    assert f"mptcplab: {file}:{line}:1: link.a.radio is not used: the link is calib" in done.stderr
    file.write_text(file.read_text().replace("calibrated", "assumed").replace("row", "source"))
    assert "not used" not in mptcplab(*command, "--force").stderr


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("802.11g", "802.11q", '"802.11q" is not known; did you mean 802.11'),
        ("-60 dBm", "-60", '"-60" is not a signal such as "-95 dBm"'),
        (
            "-60 dBm",
            "12 dB",
            "no rate of 802.11g follows from a signal in dB: give the RSSI in dBm",
        ),
        (SIGNAL, f"{SIGNAL}\nstreams = 2", "802.11g has one stream, not 2"),
        ("-60 dBm", "-300 dBm", "-300 dBm is out of range: the RSSI of 802.11g is from -110 to 0"),
        (SIGNAL, "", "needs either signal or route"),
        (SIGNAL, f"{SIGNAL}\nbandwidth = '40 MHz'", '802.11g has no bandwidth "40 MHz"'),
        (SIGNAL, f"{SIGNAL}\nbandwidth = ''", '802.11g has no bandwidth ""'),
        (SIGNAL, f'{SIGNAL}\nbandwidth = "20\\n"', '802.11g has no bandwidth "20\\n"'),
        (SIGNAL, f"{SIGNAL}\nstep = '1 ms'", "step: must be at least 100 ms"),
        (SIGNAL, f"{SIGNAL}\nexponent = 0.5", "exponent: must be at least 1"),
        (SIGNAL, "route = [{ distance = '3 m' }]", "route: needs two points or more"),
        (SIGNAL, "route = [{ distance = '3' }]", '"3" is not a distance such as "80 m"'),
        (SIGNAL, "route = [{ at = '1 s', distance = '3 m' }]", "is the first point"),
        (SIGNAL, "route = [{ }]", "route.0: needs either distance or signal"),
        (
            SIGNAL,
            "route = [{ distance = '3 m' }, { distance = '4 m' }]",
            "route.1: needs either at or speed",
        ),
        (
            SIGNAL,
            "route = [{ distance = '3 m' }, { at = '0 s', distance = '4 m' }]",
            "route.1: is not after the point before it",
        ),
        (
            SIGNAL,
            "route = [{ distance = '3 m' }, { at = '1 s', signal = '-50 dBm' }]",
            "route.1: a route has either distances or signals, not both",
        ),
        ("802.11g", "hspa", "no rate of hspa follows from a signal in dBm: give the SINR in dB"),
    ],
)
def test_what_cannot_be_gets_one_line_with_its_place(old: str, new: str, complaint: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(TEXT.replace(old, new))
    message = str(error.value)
    assert complaint in message
    assert message.startswith("mine.toml:")
    assert "link.a.radio" in message
    assert "\n" not in message


def test_a_path_on_a_route_gets_no_other_link() -> None:
    event = '\n[[timeline]]\nat = "1 s"\npath = "a"\nverb = "profile"\nprofile = "lte"\n'
    with pytest.raises(ScenarioError, match="a follows a route: its link cannot be another"):
        read(TEXT.replace(SIGNAL, ROUTE) + event)


def test_a_trace_cannot_be_limited() -> None:
    lists = "\n".join(
        f'{direction} = [{{ element = "trace", trace = [1, 2] }}]'
        for direction in ("uplink", "downlink")
    )
    with pytest.raises(ScenarioError, match="a trace has no rate that radio could limit"):
        read(TEXT.replace("[link.a.radio]", f"[link.a]\n{lists}\n[link.a.radio]"))


def test_quantities_of_radio_read_back() -> None:
    for kind, text in [
        (quantity.SIGNAL, "-95.5 dBm"),
        (quantity.SIGNAL, "12 dB"),
        (quantity.DISTANCE, "80 m"),
        (quantity.SPEED, "1.4 m/s"),
        (quantity.DECIBEL, "6 dB"),
    ]:
        assert kind.show(kind.parse(text)) == text
    assert quantity.SPEED.parse("36 km/h") == pytest.approx(10)
    with pytest.raises(ValueError, match="is not a number of decibels"):
        quantity.DECIBEL.parse("-6 dB")


def test_python_refuses_in_one_line() -> None:
    with pytest.raises(Error, match="did you mean lte"):
        radio.ceiling("lt", "-90 dBm")
    with pytest.raises(Error, match="is not a signal"):
        radio.ceiling("lte", "strong")


def test_the_walk_leaves_wifi_and_comes_back() -> None:
    _, scenario = load("walk")
    rates = [event.uplink[0]["rate"] for event in scenario.timeline]
    assert 0 in rates
    assert rates[: rates.index(0)] == sorted(rates[: rates.index(0)], reverse=True)
    assert rates[rates.index(0) :] == sorted(rates[rates.index(0) :])


def test_the_command_shows_tables_and_ceilings(mptcplab: Run) -> None:
    listed = json.loads(mptcplab("radio", "--json").stdout)
    assert {"lte", "wimax", "hspa", "nr", "802.11ac"} <= {one["name"] for one in listed}
    assert "CQI 15 (64-QAM)" in mptcplab("radio", "lte").stdout
    table = json.loads(mptcplab("radio", "wimax", "--json").stdout)
    assert table["schemes"][0]["needs_db"] == 5
    one = json.loads(mptcplab("radio", "lte", "--signal", "-95 dBm", "--json").stdout)
    assert one["downlink_bits_per_second"] == 34_990_000
    assert "shown, not used" in mptcplab("radio", "--papers").stdout
    for arguments in (
        ("radio", "lte", "--signal", "-200 dBm"),
        ("radio", "nothing"),
        ("radio", "--signal", "-95 dBm"),
        ("radio", "lte", "--bandwidth", "7 MHz"),
        ("radio", "--bandwidth", "7 MHz"),
        ("radio", "lte", "--noise-rise", "3 dB"),
        ("radio", "802.11n", "--streams", "5"),
    ):
        failed = mptcplab(*arguments)
        assert failed.returncode == 2
        assert failed.stdout == ""
        assert failed.stderr.count("\n") == 1
