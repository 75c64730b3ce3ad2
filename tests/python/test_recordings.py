"""Links of recordings: what each format becomes, what fades together, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import DATED, PING, RECORDED, Recorded, iperf3, monroe

import mptcplab as lab
from mptcplab import Error
from mptcplab.cli.main import main
from mptcplab.recordings.formats import formats
from mptcplab.recordings.importing import Imported
from mptcplab.scenario.resolved import Scenario
from mptcplab.scenario.scenario import load
from requirements import SHARED_TRACES, need_tool
from serving import free_port

DRIVE = "time,throughput,speed,latitude,longtitu\n"
DISH = (
    "when,mbps\n2026-11-25T16:30:01+01:00,50\n2026-11-25T16:30:02+01:00,0\n"
    "2026-11-25T16:30:03+01:00,70\n"
)


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run the command here: its exit status, and what it prints on both streams."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def scenario_of(made: Imported) -> Scenario:
    """Read the scenario as runs do."""
    return load(made.scenario)[1]


def downlink(scenario: Scenario, link: str) -> list[Any]:
    """Give its elements as a plan has them."""
    elements = scenario.links[link].downlink
    assert elements is not None
    return elements


def drive(first: int, *mbps: float) -> str:
    """Write a drive of Satellite-vs-Cellular that begins at 15:30 UTC and so many seconds."""
    rows = (
        f"2026-11-25 10:30:{first + n:02} EST,{rate},30,44.9,-93.2\n" for n, rate in enumerate(mbps)
    )
    return DRIVE + "".join(rows)


def put(directory: Path, **texts: str) -> list[str]:
    """Write files and give their paths by name, as the command takes them."""
    for name, text in texts.items():
        (directory / f"{name}.csv").write_text(text)
    return [f"{name}={directory / name}.csv" for name in texts]


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one.format)
def test_a_format_becomes_links(one: Recorded, command: Command, tmp_path: Path) -> None:
    (tmp_path / one.name).write_text(one.text)
    status, output, wrong = command("links", "import", one.name, "--out", "made", *one.options)
    assert (status, wrong) == (0, "")
    made = {file.name: file.read_text() for file in (tmp_path / "made").iterdir()}
    assert {name: made[name] for name in one.traces} == one.traces
    links = "".join(
        text for name, text in made.items() if name.endswith(".toml") and name != "scenario.toml"
    )
    for part in (*one.link, f"({one.format})", 'kind = "imported"', "sha256"):
        assert part in links
        # What stands in the link's comments the terminal says, too.
        assert f"# {part}" not in links or part in output
    rows = made.get("radio.csv", "").splitlines()[1:]
    assert [row[: len(start)] for row, start in zip(rows, one.radio, strict=False)] == list(
        one.radio
    )


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one.format)
def test_a_malformed_file_is_one_line_and_nothing_is_written(
    one: Recorded, command: Command, tmp_path: Path
) -> None:
    assert one.breaks[0] in one.text
    (tmp_path / one.name).write_text(one.text.replace(*one.breaks, 1))
    options = ("--as", one.format, *one.options)
    status, output, wrong = command("links", "import", one.name, "--out", "made", *options)
    assert (status, output) == (2, "")
    (line,) = wrong.splitlines()
    assert line.startswith(f"mptcplab: {one.name}, line ")
    assert one.said in line
    assert [file.name for file in tmp_path.iterdir()] == [one.name]


@pytest.mark.parametrize(
    ("of", "number", "instead", "said"),
    [
        (
            "iperf3",
            '"timesecs": 1700000000',
            '"timesecs": NaN',
            "line 1: holds what iperf3 -J does",
        ),
        ("iperf3", "30000", "9" * 400, "line 1: holds what iperf3 -J does not write there"),
        ("errant", "54000", "1e20", "download_kbps is '1e20': it must be a number"),
        ("errant", "54000", "1e19", "down_mbps is 1e+16: it must be from 0 to 1e+06"),
        ("5gophers", "TCP,8,1", "TCP,8,1e308", "seq_num is '1e308': it must be a number"),
        ("5gophers", "TCP,8,1", "TCP,8,1e9", "its time is more than 1000000 s from the first"),
        ("ping", "icmp_seq=4", "icmp_seq=9999999999", "line 4: icmp_seq is 9999999999: ping coun"),
        ("ping", "5 packets", "9999999999 packets", "line 7: 9999999999 packets are more than"),
    ],
)
def test_numbers_that_cannot_be_are_refused(
    of: str, number: str, instead: str, said: str, tmp_path: Path
) -> None:
    one = next(one for one in RECORDED if one.format == of)
    assert number in one.text
    (tmp_path / one.name).write_text(one.text.replace(number, instead, 1))
    with pytest.raises(Error) as refused:
        lab.import_links(
            tmp_path / one.name,
            out=tmp_path / "made",
            format=of,
            where={"operator": "telia", "country": "sweden", "rat": "4G"} if of == "errant" else {},
        )
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "made").exists()


def test_every_format_is_tested_and_listed(command: Command) -> None:
    assert sorted(one.format for one in RECORDED) == sorted(formats())
    listed = command("links", "import", "--formats")[1]
    assert all(f"{one.name}: {one.title}" in listed for one in formats().values())
    rows = json.loads(command("links", "import", "--formats", "--json")[1])
    assert [row["name"] for row in rows] == list(formats())


def test_recordings_of_one_clock_fade_together(tmp_path: Path) -> None:
    files = put(tmp_path, att=drive(0, 10, 20, 30, 40), vz=drive(1, 5, 6, 7), dish=DISH)
    made = lab.import_links(
        files[:2], out=tmp_path / "two", start_s=1, rate="5 Mbit/s", delay="30 ms"
    )
    assert made.window.label == "2 s from 2026-11-25 15:30:02 to 2026-11-25 15:30:04 UTC"
    rates = {path.name: path.traces[f"{path.name}-down-rate.csv"] for path in made.paths}
    assert rates == {"att": "ms,mbps\n0,30\n1000,40\n", "vz": "ms,mbps\n0,6\n1000,7\n"}
    scenario = scenario_of(made)
    # 10:30 in New York is 16:30 in Paris.
    columns = {"time": "when", "down_mbps": "mbps"}
    dish = lab.import_links(files[2], out=tmp_path / "dish", columns=columns)
    assert dish.window.label == "3 s from 2026-11-25 15:30:01 to 2026-11-25 15:30:04 UTC"
    downlinks = {name: downlink(scenario, name) for name in ("att", "vz")}
    assert [one[0]["period"] for one in downlinks.values()] == [2 * 10**9] * 2
    assert downlinks["vz"][0]["trace"] == [[0, 6], [1000, 7]]
    assert downlinks["att"][1]["delay"] == 30_000_000


def test_the_files_of_a_path_are_one_link(tmp_path: Path) -> None:
    (tmp_path / "ping.txt").write_text(PING)
    (tmp_path / "rates.csv").write_text("t,d,u\n1700000000,10,1\n1700000004,20,2\n")
    made = lab.import_links(
        [f"dish={tmp_path / 'ping.txt'}", f"lte={tmp_path / 'ping.txt'}"], out=tmp_path / "a"
    )
    assert [path.name for path in made.paths] == ["dish", "lte"]
    columns = {"time": "t", "down_mbps": "d", "up_mbps": "u"}
    rates = lab.import_links(
        [f"dish={tmp_path / 'rates.csv'}"], out=tmp_path / "b", columns=columns
    )
    assert rates.paths[0].assumed == ["delay 20 ms each way (--delay)"]
    (tmp_path / "up.json").write_text(iperf3(reverse=0))
    (tmp_path / "down.json").write_text(iperf3(reverse=1))
    both = lab.import_links(
        [f"dish={tmp_path / name}" for name in ("down.json", "up.json")], out=tmp_path / "c"
    )
    link = scenario_of(both).links["dish"]
    for elements in (link.downlink, link.uplink):
        assert elements is not None
        assert [row[1] for row in elements[0]["trace"]] == [10, 20, 30]
    with pytest.raises(Error, match="both say down_mbps of path dish: name one of them otherwise"):
        lab.import_links([f"dish={tmp_path / 'down.json'}"] * 2, out=tmp_path / "d")


def test_a_trace_with_a_number_of_hundreds_of_digits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.down").write_text(f"0\n1{'0' * 400}\n")
    with pytest.raises(Error, match=r"line 2: 10{39} ms is no time of a trace: mend or remove it$"):
        lab.import_links(tmp_path / "a.down", out=tmp_path / "made")


@pytest.mark.parametrize(("was", "line"), [("icmp_seq=4", 4), ("5 packets transmitted", 7)])
def test_a_ping_with_a_number_of_thousands_of_digits_is_refused(
    was: str, line: int, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text(PING.replace(was, re.sub(r"\d+", "9" * 5000, was)))
    with pytest.raises(Error, match=f"a.txt, line {line}: (icmp_seq is )?9{{12}}…"):
        lab.import_links(tmp_path / "a.txt", out=tmp_path / "made")


def test_a_ping_whose_numbers_began_anew_too_often_is_refused(tmp_path: Path) -> None:
    """Each time stands for 65 536 probes, most of them lost."""
    answer = "64 bytes from 192.0.2.1: icmp_seq={} ttl=63 time=40.0 ms\n"
    once = answer.format(65000) + answer.format(1)
    (tmp_path / "a.txt").write_text(
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n" + once * 200
    )
    with pytest.raises(
        Error, match=r"a.txt, line \d+: icmp_seq began anew 152 times: .* 10000000 "
    ):
        lab.import_links(tmp_path / "a.txt", out=tmp_path / "made")


@pytest.mark.parametrize("zeros", [15, 5000])
def test_zeros_before_a_number_of_a_ping_do_not_change_it(zeros: int, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PING)
    (tmp_path / "b.txt").write_text(
        PING.replace("icmp_seq=4", f"icmp_seq={'0' * zeros}4").replace(
            "5 packets", f"{'0' * zeros}5 packets"
        )
    )
    made = [
        lab.import_links(tmp_path / f"{name}.txt", out=tmp_path / name, format="ping")
        for name in "ab"
    ]
    assert downlink(scenario_of(made[0]), "a") == downlink(scenario_of(made[1]), "b")


def test_columns_with_the_names_of_quantities_need_no_option(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("time,down_kbps,note\n1700000000,10000,a\n1700000004,20000,b\n")
    made = lab.import_links(file, out=tmp_path / "own")
    columns = {"time": "time", "down_kbps": "down_kbps"}
    asked = lab.import_links(file, out=tmp_path / "asked", columns=columns)
    assert made.paths == asked.paths
    assert [row[1] for row in downlink(scenario_of(made), "mine")[0]["trace"]] == [10, 20]
    # Which of them is the time?
    file.write_text("time,seconds,down_mbps\n1700000000,0,10\n")
    with pytest.raises(Error, match="is of no format that is known"):
        lab.import_links(file, out=tmp_path / "two")
    file.write_text("time,down_mbps,down_mbps\n1700000000,10,20\n")
    with pytest.raises(Error, match="line 1: there are two columns 'down_mbps'"):
        lab.import_links(file, out=tmp_path / "twice")


def test_what_is_denser_than_the_step_becomes_its_mean(tmp_path: Path) -> None:
    rows = "".join(f"{n / 10},{n}\n" for n in range(20))
    (tmp_path / "a.csv").write_text(f"t,d\n{rows}")
    columns = {"seconds": "t", "down_mbps": "d"}
    trace = {}
    for step in (1, 0.5, 0.1):
        made = lab.import_links(
            tmp_path / "a.csv", out=tmp_path / "m", columns=columns, step_s=step
        )
        trace[step] = downlink(scenario_of(made), "a")[0]["trace"]
    assert trace[1] == [[0, 4.5], [1000, 14.5]]
    assert trace[0.5] == [[0, 2], [500, 7], [1000, 12], [1500, 17]]
    assert trace[0.1] == [[100 * n, n] for n in range(20)]


def test_a_dated_ping_tells_its_zone(tmp_path: Path) -> None:
    (tmp_path / "atnt-ping_1.out").write_text(DATED)
    made = lab.import_links(tmp_path / "atnt-ping_1.out", out=tmp_path / "m")
    assert made.paths[0].name == "atnt"
    assert made.window.label.startswith("2 s from 2023-08-08 14:09:08")
    assert "its times are of UTC-4 h" in made.paths[0].odd[0]


def test_operators_of_one_file_are_paths(tmp_path: Path) -> None:
    ping = {"DataId": "MONROE.EXP.PING", "Timestamp": 1e9, "Rtt": 40.0}
    (tmp_path / "n.json").write_text(
        monroe(
            *(
                ping | {"Iccid": str(card), "Operator": name, "Timestamp": 1e9 + card}
                for card, name in ((1, "Telia"), (2, "3"))
            )
        )
    )
    made = lab.import_links(tmp_path / "n.json", out=tmp_path / "m", unaligned=True)
    assert [path.name for path in made.paths] == ["telia", "path-3"]
    with pytest.raises(Error, match="holds 2 paths .Telia, 3., which cannot all be one"):
        lab.import_links(f"one={tmp_path / 'n.json'}", out=tmp_path / "m")


def test_one_of_paths_that_are_columns_is_chosen(tmp_path: Path) -> None:
    car = tmp_path / "car.csv"
    rows = "TCP,8,0,15,124\nTCP,8,1,31,114\n"
    car.write_text(
        f"protocol,num_tcp_conn,seq_num,Sprint_throughput_mbps,Verizon_throughput_mbps\n{rows}"
    )
    with pytest.raises(Error, match="choose one with --where or --column"):
        lab.import_links(f"one={car}", out=tmp_path / "m")
    columns = {"seconds": "seq_num", "down_mbps": "Verizon_throughput_mbps"}
    made = lab.import_links(f"one={car}", out=tmp_path / "m", columns=columns)
    assert [path.name for path in made.paths] == ["one"]


def test_radio_and_positions_are_joined_to_a_run(tmp_path: Path) -> None:
    ucc = next(one for one in RECORDED if one.format == "ucc")
    (tmp_path / ucc.name).write_text(ucc.text)
    made = lab.import_links(tmp_path / ucc.name, out=tmp_path / "m")
    assert made.radio is not None
    assert made.positions is not None
    run = lab.run(
        str(made.scenario),
        out=tmp_path / "run",
        settings=["transfer.duration=1 s"],
        baselines=False,
    )
    assert run.mptcp.throughput_mbps
    (joined,) = lab.annotate(
        tmp_path / "run", radio=made.radio, positions=made.positions, began=made.began
    )
    assert joined.rows == {"radio": 3, "positions": 3}
    radio = joined.run.radio
    assert radio["rsrp_dbm"].to_list() == [-96, -96, None]
    assert joined.run.positions["speed_mps"].to_list() == [10, 10, 10]


REFUSED = (
    (("b=b.csv", "--out", "m"), "cannot read b.csv: No such file or directory"),
    (("a.csv",), "links import takes files and --out DIR; --formats lists what is read"),
    (("a.csv", "--out", "a.csv"), "cannot write a.csv: a.csv is not a directory"),
    (("a.csv", "--out", "m", "--as", "cvs"), "there is no format 'cvs': did you mean csv?"),
    (("a.csv", "--out", "m", "--as", "ucc"), "a.csv, line 1: there is no column 'Timestamp'"),
    (("x.csv", "--out", "m"), "x.csv, line 1: is of no format that is known"),
    (("x.csv", "--out", "m", "--column", "time=s"), "has neither rate nor delay of path x"),
    (
        ("x.csv", "--out", "m", "--column", "tme=s"),
        "no quantity 'tme' for --column; did you mean time",
    ),
    (
        ("x.csv", "--out", "m", "--column", "time=when"),
        "x.csv, line 1: there is no column 'when' for --column: known: s, w",
    ),
    (("x.csv", "--out", "m", "--column", "down_mbps=s"), "say which column is the time: --column"),
    (
        ("a.csv", "--out", "m", "--where", "sped=1"),
        "no column 'sped' for --where: did you mean speed?",
    ),
    (
        ("a.csv", "--out", "m", "--where", "speed=1"),
        "line 1: no row counts: the file holds none, or",
    ),
    (
        ("a.csv", "--out", "m", "--from", "9"),
        "--from 9 leaves nothing: what the recordings have in",
    ),
    (("a.csv", "--out", "m", "--rate", "fast"), '--rate: "fast" is not a rate such as'),
    (("a.csv", "--out", "m", "--step", "7200"), "--step is 7200: it must be from 0.001 to 3600 s"),
    (("a.csv", "--out", "m", "--time-zone", "Mars"), "there is no time zone 'Mars'"),
    (("lo=a.csv", "--out", "m"), "'lo' cannot name a path: choose another name"),
    (
        ("a.csv", "c.csv", "--out", "m"),
        "no time in common; with --unaligned each begins at its start",
    ),
    (
        ("a.csv", "z.csv", "--out", "m"),
        "z.csv: its times name no zone, and those of others do: say",
    ),
    (
        ("b=a.csv", "--out", "m", "--column", "b/=tx"),
        "--column b/: no quantity after the /: write [PATH/]WHAT=COLUMN",
    ),
    (
        ("b=a.csv", "--out", "m", "--column", "/time=tx"),
        "--column /time: no path before the /: write [PATH/]WHAT=COLUMN",
    ),
    (("a.csv", "--out", "m", "--column", "time"), "argument --column: 'time' is not NAME=VALUE"),
)


@pytest.mark.parametrize(
    ("arguments", "said"), REFUSED, ids=lambda one: one[:50] if isinstance(one, str) else ""
)
def test_what_cannot_be_is_refused(
    arguments: tuple[str, ...], said: str, command: Command, tmp_path: Path
) -> None:
    put(
        tmp_path,
        a=drive(0, 1, 2),
        c=drive(30, 1, 2),
        z=drive(0, 1, 2).replace(" EST", ""),
        x="s,w\n1700000000,5\n",
    )
    status, _, wrong = command("links", "import", *arguments)
    assert status == 2
    (line,) = wrong.splitlines()
    assert said in line
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "file",
    sorted(SHARED_TRACES.glob("*/Verizon-LTE-short.up"))
    + sorted(SHARED_TRACES.glob("*/Verizon-LTE-short.down"))
    + sorted(SHARED_TRACES.glob("nuwins*/*")),
    ids=lambda file: file.name,
)
def test_real_files_are_read(file: Path, tmp_path: Path) -> None:
    made = lab.import_links(file, out=tmp_path / "m")
    assert made.paths[0].measured


def test_a_real_drive_of_five_networks(tmp_path: Path) -> None:
    folder = SHARED_TRACES / "satellite-vs-cellular"
    files = sorted(folder.glob("*.csv"))
    if not folder.exists():
        pytest.skip(f"needs the recordings of others in {folder}")
    made = lab.import_links(files, out=tmp_path / "m")
    assert [path.name for path in made.paths] == ["att", "mob", "rm", "tm", "vz"]
    assert made.window.label == "408 s from 2023-04-18 15:43:12 to 2023-04-18 15:50:00 UTC"
    for path, file in zip(made.paths, files, strict=True):
        # What awk and anybody's eye finds: the rows from 10:43:12 CDT on, second by second.
        lines = [line.split(",") for line in file.read_text().splitlines()[1:]]
        rates = [float(cells[1]) for cells in lines if cells[0] >= "2023-04-18 10:43:12"]
        rows = path.traces[f"{path.name}-down-rate.csv"].splitlines()[1:]
        assert [float(row.split(",")[1]) for row in rows] == rates


def test_real_5gophers(tmp_path: Path) -> None:
    folder = SHARED_TRACES / "5gophers" / "5Gophers-v1.0"
    if not folder.exists():
        pytest.skip(f"needs the recordings of others in {folder}")
    mobility = folder / "All-Carriers" / "03-User-Mobility"
    made = lab.import_links(mobility / "car-driving-trace-1.csv", out=tmp_path / "m")
    assert [path.name for path in made.paths] == ["sprint", "tmobile", "verizon"]
    assert all("1 gap, the longest of 6 s at 103 s" in path.odd[0] for path in made.paths)
    where = {"carrier": "VERIZON", "run_num": "120", "server_location": "US-West"}
    where |= {"num_tcp_conn": "8"}
    data = folder / "All-Carriers" / "01-Throughput" / "data.csv"
    with pytest.raises(Error, match="another run begins"):
        lab.import_links(data, out=tmp_path / "m")
    made = lab.import_links(data, out=tmp_path / "n", where=where)
    assert made.paths[0].name == "verizon"


def test_a_stream_of_iperf3_is_imported_and_several_tests_are_refused(tmp_path: Path) -> None:
    tools = Path(__file__).parents[2] / "examples" / "tools"
    made = lab.import_links(tools / "iperf3-stream.json", out=tmp_path / "out")
    (path,) = made.paths
    (rate,) = (line for line in path.measured if "Mbit/s" in line)
    assert rate.startswith("up: ")
    assert "which is not capacity" in rate
    with pytest.raises(Error, match="line 1: holds 4 tests: leave the one"):
        lab.import_links(tools / "iperf3-server.json", out=tmp_path / "other")


def test_iperf3_itself(tmp_path: Path) -> None:
    need_tool("iperf3")
    port = str(free_port())
    server = subprocess.Popen(["iperf3", "-s", "-p", port], stdout=subprocess.DEVNULL)
    try:
        arguments = ["iperf3", "-c", "127.0.0.1", "-p", port, "-t", "1", "-i", "0.5", "-J", "-R"]
        for _ in range(50):
            done = subprocess.run(
                [*arguments, "-b", "20M"], capture_output=True, text=True, check=False
            )
            # Its status is 0 where it cannot connect.
            if "error" not in json.loads(done.stdout):
                break
            time.sleep(0.1)
    finally:
        server.kill()
        server.wait()
    (tmp_path / "test.json").write_text(done.stdout)
    made = lab.import_links(tmp_path / "test.json", out=tmp_path / "m", step_s=0.5)
    rows = downlink(scenario_of(made), "test")[0]["trace"]
    intervals = json.loads(done.stdout)["intervals"]
    assert [row[1] for row in rows] == pytest.approx(
        [one["sum"]["bits_per_second"] / 1e6 for one in intervals], rel=1e-6
    )
