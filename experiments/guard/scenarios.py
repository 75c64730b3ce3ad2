"""Scenarios of the experiments with the guard: ways to go bad, loads, and ways that are healthy."""

from __future__ import annotations

import tomllib

from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.scenario import load as load_scenario

GOES_S, COMES_S, LASTS_S = 5, 9, 15
HEALTHY_LASTS_S = 8

RATES_MBPS = {"paced download": 4, "paced upload": 2}
LOADS = {
    "paced download": 'direction = "download"\napplication = "constant-bit-rate"\nrate = "4 Mbit/s"',
    "paced upload": 'direction = "upload"\napplication = "constant-bit-rate"\nrate = "2 Mbit/s"',
    "greedy download": 'direction = "download"',
    "greedy upload": 'direction = "upload"',
    "requests": 'direction = "download"\napplication = "request-response"\nrequests = 30\nrequest = "1 kB"\n'
    'response = "50 kB"\nthink = "400 ms"',
    "idle": 'direction = "download"\napplication = "request-response"\nrequests = 4\nrequest = "1 kB"\n'
    'response = "200 kB"\nthink = "4 s"',
}
# What becomes of Wi-Fi for 4 s: a verb of the timeline, or what the uplink and the downlink lose.
FAULTS: dict[str, str | tuple[str, str]] = {
    "blackout": "blackout",
    "hold": "hold",
    "uplink dead": ("100 %", "0 %"),
    "downlink dead": ("0 %", "100 %"),
    **{f"{rate} lost": (rate, rate) for rate in ("20 %", "40 %", "60 %")},
}
# What Wi-Fi loses each way, and its queue: 100 kB are 40 ms, 2.5 MB a second.
HEALTHY = {
    "clean": ("0 %", "100 kB"),
    "1 % loss": ("1 %", "100 kB"),
    "5 % loss": ("5 %", "100 kB"),
    "bloated": ("0 %", "2.5 MB"),
}
LINK = """\
uplink = [{{ element = "loss", ratio = "{up}" }}, {{ element = "delay", delay = "10 ms" }}, {{ element = "rate", rate = "20 Mbit/s", queue = {{ queue = "drop-tail", bytes = "{queue}" }} }}]
downlink = [{{ element = "loss", ratio = "{down}" }}, {{ element = "delay", delay = "10 ms" }}, {{ element = "rate", rate = "20 Mbit/s", queue = {{ queue = "drop-tail", bytes = "{queue}" }} }}]
"""
SCENARIO = """\
schema = 1

[transfer]
{load}

[link.home]
{link}
[link.carrier]
profile = "lte"

[path.wifi]
link = "home"

[path.lte]
link = "carrier"
backup = {backup}

[mptcp]
path_manager = "{manager}"

[run]
stop = "60 s"
"""


def text(way: str, load: str, manager: str, *, backup: bool) -> str:
    """Write one."""
    loss, queue = HEALTHY.get(way, HEALTHY["clean"])
    link = LINK.format(up=loss, down=loss, queue=queue)
    seconds = HEALTHY_LASTS_S if way in HEALTHY else LASTS_S
    lasts = "" if load in ("requests", "idle") else f'\nduration = "{seconds} s"'
    written = SCENARIO.format(
        load=LOADS[load] + lasts, link=link, backup=str(backup).lower(), manager=manager
    )
    fault = FAULTS.get(way)
    if fault is None:
        return written
    if isinstance(fault, str):
        return (
            written + _event(GOES_S, f'verb = "{fault}"\n') + _event(COMES_S, 'verb = "restore"\n')
        )
    up, down = fault
    lossy = LINK.format(up=up, down=down, queue=queue)
    gone, back = (f'verb = "profile"\n{one}' for one in (lossy, link))
    return written + _event(GOES_S, gone) + _event(COMES_S, back)


def read(way: str, load: str, manager: str, *, backup: bool) -> Scenario:
    """Give one that was read."""
    _, scenario = load_scenario(tomllib.loads(text(way, load, manager, backup=backup)))
    return scenario


def _event(at_s: int, what: str) -> str:
    return f'\n[[timeline]]\nat = "{at_s} s"\npath = "wifi"\n{what}'
