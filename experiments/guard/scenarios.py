"""Scenarios of the experiments with the guard: ways to go bad, loads, and ways that are healthy."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from mptcplab.scenario.scenario import Scenario
from mptcplab.scenario.scenario import load as load_scenario

GOES_S, COMES_S, LASTS_S = 5, 9, 15
HEALTHY_LASTS_S = 8

MESSAGE = 'application = "constant-bit-rate"\nrate = "{rate} Mbit/s"\nmessage = "{bytes} B"'
# Of those whose oldest message has an age: Mbit/s, and the bytes of a message.
PACES = {
    "paced download": (4, 1000),
    "paced upload": (2, 1000),
    "bursty download": (4, 250_000),
    "bursty upload": (2, 125_000),
}
LOADS = {
    **{
        name: f'direction = "{name.split()[1]}"\n' + MESSAGE.format(rate=rate, bytes=size)
        for name, (rate, size) in PACES.items()
    },
    "greedy download": 'direction = "download"',
    "greedy upload": 'direction = "upload"',
    "requests": 'direction = "download"\napplication = "request-response"\nrequests = 30\nrequest = "1 kB"\n'
    'response = "50 kB"\nthink = "400 ms"',
    "idle": 'direction = "download"\napplication = "request-response"\nrequests = 4\nrequest = "1 kB"\n'
    'response = "200 kB"\nthink = "4 s"',
}
REQUESTS = ("requests", "idle")

HOME = """\
uplink = [{more}{{ element = "loss", ratio = "{up}" }}, {{ element = "delay", delay = "10 ms" }}, {{ element = "rate", rate = "{rate}", queue = {{ queue = "drop-tail", bytes = "{queue}" }} }}]
downlink = [{more}{{ element = "loss", ratio = "{down}" }}, {{ element = "delay", delay = "10 ms" }}, {{ element = "rate", rate = "{rate}", queue = {{ queue = "drop-tail", bytes = "{queue}" }} }}]
"""
# The radio stands still for 30 to 80 ms, as at handovers.
STILL = '{ element = "handover", every = "2 s", shortest = "30 ms", longest = "80 ms" }, '


def home(
    up: str = "0 %",
    down: str = "0 %",
    *,
    rate: str = "20 Mbit/s",
    queue: str = "100 kB",
    more: str = "",
) -> str:
    """Write Wi-Fi's link: 100 kB of queue are 40 ms, 2.5 MB a second."""
    return HOME.format(up=up, down=down, rate=rate, queue=queue, more=more)


def _from_to(verb: str, end: str = "restore") -> list[tuple[float, str]]:
    return [(GOES_S, f'verb = "{verb}"\n'), (COMES_S, f'verb = "{end}"\n')]


def _links(*at: tuple[float, str]) -> list[tuple[float, str]]:
    return [(seconds, f'verb = "profile"\n{link}') for seconds, link in at]


# What becomes of Wi-Fi: when, and what.
FAULTS: dict[str, list[tuple[float, str]]] = {
    "blackout": _from_to("blackout"),
    "hold": _from_to("hold"),
    "uplink dead": _links((GOES_S, home("100 %")), (COMES_S, home())),
    "downlink dead": _links((GOES_S, home("0 %", "100 %")), (COMES_S, home())),
    "detach": _from_to("detach", "attach"),
    "fade": _links(
        (GOES_S, home("1 %", "1 %", rate="8 Mbit/s")),
        (GOES_S + 0.7, home("5 %", "5 %", rate="3 Mbit/s")),
        (GOES_S + 1.4, home("20 %", "20 %", rate="1 Mbit/s")),
        (GOES_S + 2.1, home("100 %", "100 %", rate="1 Mbit/s")),
        (COMES_S, home()),
    ),
    "flapping": [
        event
        for n in range(4)
        for event in (
            (GOES_S + n, 'verb = "blackout"\n'),
            (GOES_S + n + 0.5, 'verb = "restore"\n'),
        )
    ],
    "rebind": [(GOES_S, 'verb = "rebind"\n')],
    "bloat": _links(
        *((GOES_S + n, home(rate=f"{3 - n / 2} Mbit/s", queue="1 MB")) for n in range(4)),
        (COMES_S, home()),
    ),
    **{
        f"{rate} lost": _links((GOES_S, home(rate, rate)), (COMES_S, home()))
        for rate in ("5 %", "10 %", "20 %", "40 %", "60 %")
    },
}
# Those in which Wi-Fi carries nothing from when it goes to when it comes, and nobody is told.
DEADLY = ("blackout", "hold", "uplink dead", "downlink dead")
HEALTHY = {
    "clean": home(),
    "1 % loss": home("1 %", "1 %"),
    "5 % loss": home("5 %", "5 %"),
    "bloated": home(queue="2.5 MB"),
    "standing still": home(more=STILL),
}
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
{third}
[mptcp]
path_manager = "{manager}"
{limit}{then}
[run]
stop = "60 s"
"""
THIRD = """
[link.other]
profile = "5g-sub6"

[path.other]
link = "other"
"""
WITH = ("", "backup", "3 paths")
# Linux's own limit of 2 further subflows lets no third path join again.
LIMIT = "max_subflows = 8\n"


@dataclass(frozen=True)
class Case:
    """A scenario: what becomes of Wi-Fi, under what load, with what beside it."""

    way: str
    load: str
    beside: str = ""

    @property
    def name(self) -> str:
        """Name it, as a file may be named."""
        words = f"{self.way} {self.load} {self.beside}".replace("%", "percent").split()
        return "-".join(words)

    @property
    def direction(self) -> str:
        """Say where data goes."""
        return "up" if "upload" in self.load else "down"

    def text(self, manager: str) -> str:
        """Write it with a path manager; the guard may make backups."""
        name, _, then = manager.partition(" ")
        lasts_s = HEALTHY_LASTS_S if self.way in HEALTHY else LASTS_S
        lasts = "" if self.load in REQUESTS else f'\nduration = "{lasts_s} s"'
        written = SCENARIO.format(
            load=LOADS[self.load] + lasts,
            link=HEALTHY.get(self.way, HEALTHY["clean"]),
            backup=str(self.beside == "backup").lower(),
            third=THIRD if self.beside == "3 paths" else "",
            manager=name,
            limit=LIMIT if self.beside == "3 paths" else "",
            then=f'path_manager_parameters = {{ then = "{then}" }}\n' if then else "",
        )
        events = FAULTS.get(self.way, [])
        return written + "".join(
            f'\n[[timeline]]\nat = "{round(at_s * 1000)} ms"\npath = "wifi"\n{what}'
            for at_s, what in events
        )

    def read(self, manager: str) -> Scenario:
        """Give it as it is read."""
        _, scenario = load_scenario(tomllib.loads(self.text(manager)))
        return scenario


def matrix() -> list[Case]:
    """Give the cases in which something goes wrong."""
    loads = [load for load in LOADS if load != "idle"]
    return [
        *(Case(way, load) for way in FAULTS for load in loads),
        *(
            Case(way, load, "backup")
            for way in FAULTS
            for load in ("paced download", "paced upload")
        ),
        *(Case(way, load, "3 paths") for way in FAULTS for load in ("paced download", "requests")),
    ]


def as_backup(case: Case) -> bool:
    """Say whether it is also asked what it would be if bad paths became backups."""
    ways = ("blackout", "uplink dead", "downlink dead", "20 % lost", "40 % lost", "60 % lost")
    return case.way in ways and "paced" in case.load and not case.beside


def healthy() -> list[Case]:
    """Give those in which nothing does."""
    return [Case(way, load) for way in HEALTHY for load in LOADS]
