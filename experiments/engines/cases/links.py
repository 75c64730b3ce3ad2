"""Other links, applications and settings of TCP."""

from __future__ import annotations

from experiments.engines.case import HYSTART, Case, Path, bulk, mptcp, tcp

BURSTS = '{ element = "gilbert-elliott", p = "0.1 %", r = "20 %" }'
WANDERS = (
    '{ element = "rate-process", mean = "15 Mbit/s", deviation = "5 Mbit/s", correlation = "1 s", '
    'floor = "2 Mbit/s", queue = { queue = "drop-tail", bytes = "200 kB" } }'
)
STREAM = """application = "constant-bit-rate"
direction = "download"
rate = "4 Mbit/s"
message = "10 kB"
duration = "10 s\""""


def _link(rate: str, last: str = "") -> str:
    delay = '{ element = "delay", delay = "20 ms" }'
    plain = '{ element = "rate", rate = "20 Mbit/s" }'
    after = f",\n  {last}," if last else ","
    return f"""
[link.one]
uplink = [{plain}, {delay}]
downlink = [
  {rate},
  {delay}{after}
]
[path.one]
link = "one"
"""


def _marks(name: str, rate: str, delay: str) -> str:
    delayed = f'{{ element = "delay", delay = "{delay}" }}'
    down = f'{{ element = "rate", rate = "{rate}", queue = {{ queue = "fq-codel" }} }}'
    return f"""
[link.{name}]
uplink = [{{ element = "rate", rate = "{rate}" }}, {delayed}]
downlink = [{down}, {delayed}]
[path.{name}]
link = "{name}"
"""


def _queue(queue: str) -> str:
    return f'{{ element = "rate", rate = "20 Mbit/s", queue = {{ {queue} }} }}'


def _case(
    name: str,
    link: Path | str,
    size: str,
    settings: str = "",
    *,
    drawn: bool = False,
    direction: str = "download",
    cause: str = "",
) -> Case:
    text = tcp("cubic-linux", bulk(size, direction), link, settings)
    return Case(name, "links", text, is_drawn=drawn, cause=cause)


# In the figures of the kernel's runs, and in captures of the simulation with jitter.
ONE_BY_ONE = (
    f"{HYSTART}, and filled the queue. Without SACK each lost packet then takes a round trip. In the run with seed 8 the emulator was late by up to "
    "16 ms, 8.7 % of the packets were lost, and the delay is 438 ms; the other eight have 2.5 to 4.0 ms. With jitter of 0.5 ms the simulation "
    "has 77 to 374 ms in seven of 20 runs, and 69 ms on average"
)


PLAIN = Path(20, 40, 100)
ASKED = 'ecn = "request"'
MARKS = (_marks("one", "20 Mbit/s", "20 ms"), _marks("two", "10 Mbit/s", "40 ms"))
LOSSY = Path(20, 40, 100, 0.5)
CASES = (
    _case("CoDel", _link(_queue('queue = "codel", bytes = "500 kB"')), "20 MB"),
    _case("FQ-CoDel", _link(_queue('queue = "fq-codel"')), "20 MB"),
    _case("PIE", _link(_queue('queue = "pie", bytes = "500 kB"')), "20 MB", drawn=True),
    _case("FQ-CoDel that marks (ECN)", MARKS[0], "20 MB", ASKED),
    Case(
        "two paths, FQ-CoDel that marks (ECN)",
        "links",
        mptcp("cubic-linux", bulk("20 MB"), "".join(MARKS), tcp=ASKED),
        is_multipath=True,
    ),
    _case(
        "losses in bursts",
        _link(_queue('queue = "drop-tail", bytes = "100 kB"'), BURSTS),
        "10 MB",
        drawn=True,
    ),
    _case("a rate that wanders", _link(WANDERS), "16 MB", drawn=True),
    _case("upload, 5 Mbit/s, 60 ms", Path(5, 60, 100), "5 MB", direction="upload"),
    _case("upload, 0.5 % loss", LOSSY, "6 MB", direction="upload", drawn=True),
    _case("IPv6", Path(20, 40, 100, more="ip = 6"), "20 MB"),
    _case("without SACK, 0.5 % loss", LOSSY, "6 MB", "sack = false", drawn=True, cause=ONE_BY_ONE),
    _case("without timestamps, 0.5 % loss", LOSSY, "6 MB", "timestamps = false", drawn=True),
    _case("no delayed ACKs", PLAIN, "20 MB", 'delayed_ack = "off"'),
    _case("packets of 1280 bytes", Path(20, 40, 100, more="mtu = 1280"), "20 MB"),
    Case(
        "a stream of 4 Mbit/s over two paths",
        "links",
        mptcp("cubic-linux", STREAM, (Path(5, 25, 60), Path(4, 60, 80))),
        is_multipath=True,
    ),
)
