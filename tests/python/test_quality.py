"""How applications are served that have to be in time: laws in closed form, held to simulations."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest

import mptcplab
from mptcplab import _core
from mptcplab.cli.main import run
from mptcplab.labels import quality, text
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.plan import plan
from mptcplab.scenario.scenario import checked, load
from mptcplab.scenario.source import Source

SEGMENT_S = 4
CALL = {
    "application": "constant-bit-rate",
    "rate": "64 kbit/s",
    "message": "160 B",
    "duration": "10 s",
    "deadline": "150 ms",
    "codec": "g711",
}
VIDEO = {"application": "video", "duration": "160 s", "segment": f"{SEGMENT_S} s"}


def scenario(transfer: dict[str, Any], **path: Any) -> dict[str, Any]:
    """Give a scenario of plain TCP over a path without loss or jitter."""
    usual = {"rate": "20 Mbit/s", "delay": "50 ms", "queue": "200 kB"}
    return {
        "schema": 1,
        "transfer": transfer,
        "path": {"lte": usual | path},
        "mptcp": {"enabled": False},
    }


def simulated(table: dict[str, Any]) -> _core.Tables:
    loaded = checked(Source("mine.toml", table))
    return _core.simulate(plan(loaded, 1))


def down(tables: _core.Tables) -> dict[str, Any]:
    (row,) = [row for row in tables.rows("transfers") if row["direction"] == "down"]
    return row


def delay_impairment(ms: float) -> float:
    """Give ``Id`` of ITU-T G.107 §7.4 with the default values, once more and by itself."""
    noise = sum(10 ** (db / 10) for db in (-70, -75.744, -83.3573, -62))
    no = 10 * math.log10(noise)
    terv = 65 - 40 * math.log10((1 + ms / 10) / (1 + ms / 150)) + 6 * math.exp(-0.3 * ms**2)
    roe, re = -1.5 * (no - 2), 80 + 2.5 * (terv - 14)
    talker = (roe - re) / 2 + math.sqrt((roe - re) ** 2 / 4 + 100) - 1
    ro, rle = 15 - 1.5 * (8 + no), 10.5 * 117 * (2 * ms + 1) ** -0.25
    listener = (ro - rle) / 2 + math.sqrt((ro - rle) ** 2 / 4 + 169)
    x = math.log2(ms / 100) if ms > 100 else 0
    delay = 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)
    return float(talker * (1 - math.exp(-ms)) + listener + delay)


@pytest.mark.parametrize("deadline_ms", [80, 150, 400])
def test_a_call_over_a_constant_delay_has_the_opinion_of_the_formula(deadline_ms: int) -> None:
    row = down(simulated(scenario(CALL | {"deadline": f"{deadline_ms} ms"})))
    assert (row["messages"], row["deadline_ms"], row["late_share"]) == (500, deadline_ms, 0)
    # 50 ms, what the host takes, and 212 bytes at 20 Mbit/s.
    assert 50 <= row["message_delay_ms_mean"] < 51
    assert row["message_delay_ms_max"] < 52
    # Ro - Is = 93.355; a frame takes 20 ms to be spoken.
    r = 93.355 - delay_impairment(deadline_ms + 20)
    assert row["r_factor"] == pytest.approx(r, abs=0.02)
    assert row["mos"] == pytest.approx(1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6, abs=0.001)


def test_all_is_late_that_must_come_before_it_can() -> None:
    row = down(simulated(scenario(CALL | {"deadline": "49 ms"})))
    assert row["late_share"] == 1
    # Ie,eff is 95 · 100 / (100 + 25.1) then, and no more.
    r = 93.355 - delay_impairment(69) - 95 * 100 / 125.1
    assert row["r_factor"] == pytest.approx(r, abs=0.02)


def test_messages_without_a_deadline_have_delays_alone() -> None:
    transfer = {key: CALL[key] for key in ("application", "rate", "message", "duration")}
    row = down(simulated(scenario(transfer)))
    assert row["message_delay_ms_mean"] > 50
    assert [row[key] for key in ("deadline_ms", "late_share", "mos")] == [None] * 3


@pytest.mark.parametrize(("deadline", "share"), [("99 ms", 1), ("300 ms", 0)])
def test_answers_have_a_deadline(deadline: str, share: float) -> None:
    asked = {"request": "1 kB", "response": "5 kB", "requests": 8, "deadline": deadline}
    row = down(simulated(scenario({"application": "request-response", **asked})))
    assert row["late_share"] == share


def test_a_video_settles_beside_the_rate_of_its_link() -> None:
    """Between 2 and 4 Mbit/s lie 3: after its buffer has filled, a player has these two."""
    tables = simulated(scenario(VIDEO, rate="3.2 Mbit/s"))
    row = down(tables)
    assert (row["video_segments"], row["stalls"], row["stall_s"]) == (40, 0, 0)
    mbps = [one["response_bytes"] * 8e-6 / SEGMENT_S for one in tables.rows("responses")]
    assert set(mbps[20:]) == {2, 4}
    # Headers take 5 %.
    settled = sum(mbps[20:]) / 20
    assert 2.5 < settled < 3.2
    assert row["video_mbps_mean"] == pytest.approx(sum(mbps) / 40)
    changes = sum(one != other for one, other in pairwise(mbps))
    assert row["bitrate_switches"] == changes > 0


def test_an_outage_stalls_for_what_the_buffer_does_not_bridge() -> None:
    """A path that holds all back for ``T`` with ``B`` in the buffer stalls for ``T - B``."""
    transfer = VIDEO | {"duration": "80 s", "bitrates": 1, "buffer": "12 s"}
    goes_s, comes_s = 20, 50
    table = scenario(transfer)
    table["timeline"] = [
        {"at": f"{goes_s} s", "path": "lte", "verb": "hold"},
        {"at": f"{comes_s} s", "path": "lte", "verb": "restore"},
    ]
    tables = simulated(table)
    row = down(tables)
    ends_s = [one["at_s"] + one["response_time_ms"] / 1e3 for one in tables.rows("responses")]
    came = sum(end_s < goes_s for end_s in ends_s)
    buffer_s = row["startup_ms"] / 1e3 + came * SEGMENT_S - goes_s
    assert 4 < buffer_s <= 12
    assert row["stalls"] == 1
    # What was held comes at once; the rest of a segment takes a few round trips, and TCP's timer.
    assert row["stall_s"] == pytest.approx(comes_s - goes_s - buffer_s, abs=1.5)
    assert row["stall_s"] >= comes_s - goes_s - buffer_s


REFUSED = [
    (CALL | {"deadline": "0 s"}, "transfer.deadline: must be above 0"),
    ({k: v for k, v in CALL.items() if k != "deadline"}, "a codec needs a deadline"),
    (CALL | {"codec": "opus"}, '"opus" is not known here'),
    (VIDEO | {"duration": "10 s"}, "must be a multiple of the duration of its segments"),
    (VIDEO | {"buffer": "6 s"}, "the buffer must hold the startup and one more segment"),
    (VIDEO | {"direction": "upload"}, "a video can only be downloaded"),
    (VIDEO | {"bitrates": 11}, "transfer.bitrates: must be at most 10"),
]


@pytest.mark.parametrize(("transfer", "complaint"), REFUSED)
def test_what_no_transfer_can_be_is_refused_in_one_line(
    transfer: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ScenarioError) as raised:
        checked(Source("mine.toml", scenario(transfer)))
    line = str(raised.value)
    assert complaint in line
    assert "transfer" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("name", "expected"),
    [("voice", "late at 150 ms"), ("video", "video starts after")],
)
def test_summaries_say_how_it_was(
    name: str, expected: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", name, "--no-baselines", "--out", str(tmp_path / "run")]) == 0
    # Lines are broken where the terminal ends.
    assert expected in " ".join(capsys.readouterr().out.split())


def test_a_call_is_compared_by_its_own_measure(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over LTE alone nothing is late; MPTCP waits for what was on Wi-Fi, and says so."""
    arguments = ["--set", "transfer.duration=15s", "--out", str(tmp_path / "run")]
    assert run(["run", "voice", *arguments]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "best single path: lte with 0 % late" in said
    assert "which is worse" in said
    assert "(not below the 0.5 % of calls with Skype)" in said
    assert "and the data on it arrived over another" in said
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "MPTCP served the application worse than TCP over lte alone" in page
    shares = [
        mptcplab.open_run(tmp_path / "run" / name).transfers.filter(direction="down")["late_share"]
        for name in ("mptcp", "tcp-lte")
    ]
    assert shares[0].item() >= 0.005 > shares[1].item()


def answers(late: int, of: int) -> dict[str, Any]:
    """Give the row of a transfer with so many late responses."""
    return {
        "connection": 0,
        "responses": of,
        "late_share": late / of,
        "mos": None,
        "stall_s": None,
        "longest_gap_ms": None,
    }


def test_what_chance_explains_is_no_difference() -> None:
    """Fisher's test has closed forms: all of n late and none of n are one of (2n choose n) ways."""
    for n in (4, 5, 40):
        assert quality.chance(answers(0, n), answers(n, n)) == pytest.approx(
            1 / math.comb(2 * n, n)
        )
    assert quality.chance(answers(3, 20), answers(0, 20)) == pytest.approx(1)
    for few, many, of, better in [(2, 3, 20, False), (0, 4, 4, False), (0, 5, 5, True)]:
        assert quality.is_better(answers(few, of), answers(many, of)) is better
        assert not quality.is_better(answers(many, of), answers(few, of))


def test_a_client_that_thinks_makes_no_answer_late() -> None:
    """Nor is evidence listed that there is not."""
    from types import SimpleNamespace

    from mptcplab.results.findings import served_worse

    def rows_for(late: int, *others: str) -> list[dict[str, Any]]:
        runs = [SimpleNamespace(transfer=answers(count, 20)) for count in (late, 2)]
        comparison: Any = SimpleNamespace(mptcp=runs[0], baselines={"wifi": runs[1]})
        rows = [{"kind": kind, "cost_s": 5.0, "confidence": 0.9} for kind in others]
        return served_worse.find(comparison, rows)

    assert rows_for(3, "application") == []
    (row,) = rows_for(15, "application")
    assert "application;" not in row["message"]
    assert "see" not in row["message"]
    assert "MPTCP: late share 0.75; TCP over wifi: late share 0.1" in row["evidence"]
    assert "mos" not in row["evidence"]
    assert "stall_s" not in row["evidence"]
    (row,) = rows_for(15, "application", "path_dead")
    assert row["message"].endswith("; see the finding “dead path”")


def test_a_scenario_says_what_captures_from_elsewhere_are_of(
    tmp_path: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """The same packets, analysed with the scenario and without it."""
    captures = [str(tmp_path / name) for name in ("client.pcapng", "server.pcapng")]
    loaded = checked(Source("mine.toml", scenario(CALL)))
    sent = down(
        _core.simulate(plan(loaded, 1), client_capture=captures[0], server_capture=captures[1])
    )
    (tmp_path / "call.toml").write_text(
        "schema = 1\n[transfer]\n"
        + "".join(f"{key} = {value!r}\n" for key, value in CALL.items())
        + "[path.any]\nrate = '1 Mbit/s'\ndelay = '1 ms'\n"
    )
    transfers = []
    for arguments in ([], ["--scenario", str(tmp_path / "call.toml")]):
        assert run(["analyze", "--json", *arguments, *captures]) == 0
        (connection,) = json.loads(capfd.readouterr().out)["connections"]
        transfers.append(connection["transfers"]["down"])
    assert transfers[0]["late_share"] is None
    for column in ("late_share", "mos", "messages", "message_delay_ms_mean"):
        # Captures from elsewhere have clocks of their own, whose offset is reckoned.
        assert transfers[1][column] == pytest.approx(sent[column], abs=0.1)
    in_python = mptcplab.analyze(captures, scenario=tmp_path / "call.toml").transfers
    assert in_python.filter(direction="down")["mos"].item() == transfers[1]["mos"]
    with pytest.raises(ScenarioError, match="neither a file nor a scenario"):
        run(["analyze", "--scenario", "nowhere", *captures])


def test_videos_are_compared_by_stalls_and_then_by_bitrate() -> None:
    usual = {"video_segments": 20, "stalls": 0, "stall_s": 0.0, "video_mbps_mean": 2.0}
    stalled = usual | {"stalls": 1, "stall_s": 3.0, "video_mbps_mean": 4.0}
    assert quality.is_better(usual, stalled)
    assert not quality.is_better(stalled, usual)
    assert quality.is_better(usual | {"video_mbps_mean": 2.3}, usual)
    assert not quality.is_better(usual | {"video_mbps_mean": 2.1}, usual)
    assert quality.measure(stalled) == "1 stall of 3.00 s at 4.00 Mbit/s"


def test_shipped_scenarios_show_what_they_are_for() -> None:
    """With both paths there is no stall, over Wi-Fi alone there is."""
    _, video = load("video", [])
    both, wifi = (down(_core.simulate(plan(video, 1, path))) for path in (None, "wifi"))
    assert both["stalls"] == 0
    assert wifi["stall_s"] > 1


def test_pages_have_the_numbers_of_the_tables(tmp_path: Any) -> None:
    """Less is late at a longer deadline, and the page says what the tables say."""
    runs = []
    for deadline in ("100 ms", "400 ms"):
        out = tmp_path / deadline.replace(" ", "")
        arguments = ["--set", f"transfer.deadline={deadline}", "--set", "transfer.duration=15s"]
        assert run(["run", "voice", "--no-baselines", "--out", str(out), *arguments]) == 0
        runs.append(mptcplab.open_run(out / "mptcp"))
    shares = [one.transfers.filter(direction="down")["late_share"].item() for one in runs]
    assert shares[0] > shares[1]
    page = (tmp_path / "100ms" / "report.html").read_text("utf-8")
    assert f"{text.percent(100 * shares[0])} late at 100 ms" in page
