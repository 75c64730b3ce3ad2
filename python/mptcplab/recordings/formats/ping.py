"""What ping of iputils prints, with ``-D`` or without; also as NUWiNS has it, with local time."""

from __future__ import annotations

import re

from mptcplab.recordings.clock import MILLI, SECOND, Clock, unix
from mptcplab.recordings.file import File, Options
from mptcplab.recordings.recording import NONE, STATED, Recording, Sample

START = re.compile(r"^(?:\[[^\]]+\] )?PING \S+", re.MULTILINE)
ANSWER = re.compile(
    r"^(?:\[(?P<stamp>[^\]]+)\] )?\d+ bytes from .*?icmp_[rs]eq=(?P<seq>\d+) "
    r".*?time[=<](?P<ms>\S+) ms(?P<dup> \(DUP!\))?$"
)
SENT = re.compile(r"^(?:\[[^\]]+\] )?(\d+) packets transmitted")
# NUWiNS: milliseconds of Unix time, of the years 2001 to 2286, beside dates of local time.
BEGAN = re.compile(r"^Start time: (\d{13})$", re.MULTILINE)
QUARTER = 900 * SECOND
# icmp_seq has 16 bits.
WRAP = 1 << 16
# Four months of one a second.
MOST_PROBES = 10**7
MOST_DIGITS = 12


class Ping:
    """A series of pings."""

    name = "ping"
    title = "output of ping (iputils; with -D it has times), NUWiNS multi-carrier's too"
    reads = "time= → rtt_ms; numbers that never came → lost"
    empty = "rates, which direction lost or delayed, radio, positions"
    licence = "not stated (CC0 1.0 for NUWiNS multi-carrier)"

    def matches(self, file: File) -> bool:
        """Say whether ping began somewhere near the top."""
        return START.search(file.text[:2000]) is not None

    def read(self, file: File, options: Options) -> list[Recording]:
        clock = Clock(options.zone)
        found: dict[int, tuple[int, int | None, float]] = {}
        notes, sent, before, round_ = [], 0, 0, 0
        for line, text in enumerate(file.text.splitlines(), 1):
            if " bytes from " in text:
                answer = ANSWER.match(text.strip())
                if answer is None:
                    raise ValueError(
                        "is not an answer as ping prints it (… icmp_seq=1 ttl=52 "
                        "time=59.2 ms): the line is cut "
                        "off or changed; remove it, and its probe counts as lost",
                        line,
                    )
                if answer["dup"]:
                    notes.append(f"answer {_shortened(answer['seq'])} came twice")
                    continue
                number = _count(answer["seq"])
                if number is None or number >= WRAP:
                    said = _shortened(answer["seq"])
                    raise ValueError(f"icmp_seq is {said}: ping counts to {WRAP - 1}", line)
                if number + WRAP // 2 < before:
                    round_ += 1
                before = number
                number += round_ * WRAP
                if number > MOST_PROBES:
                    raise ValueError(
                        f"icmp_seq began anew {round_} times: that is more than {MOST_PROBES} "
                        "packets",
                        line,
                    )
                try:
                    found[number] = (line, _at(answer["stamp"], clock), _ms(answer["ms"]))
                except ValueError as error:
                    raise ValueError(str(error), line) from error
            elif counted := SENT.match(text):
                count = _count(counted[1])
                if count is None or count > MOST_PROBES:
                    said = _shortened(counted[1])
                    raise ValueError(f"{said} packets are more than {MOST_PROBES}", line)
                sent = count
        if not found:
            raise ValueError("has no answer: a path of which nothing is known makes no link", 1)
        recording = Recording(clock=NONE, notes=clock.notes + notes)
        if all(at is not None for _, at, _ in found.values()):
            recording.clock = clock.state
        ahead = _ahead(file.text, found, recording)
        recording.samples = _samples(
            found, max(sent, max(found)), ahead, timed=recording.clock != NONE
        )
        return [recording]


def _at(stamp: str | None, clock: Clock) -> int | None:
    if stamp is None:
        return None
    return unix(stamp, SECOND) if re.fullmatch(r"\d+\.\d+", stamp) else clock.read(stamp)


def _count(digits: str) -> int | None:
    """Read a count; None where it has more digits than all that may be."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= MOST_DIGITS else None


def _shortened(digits: str) -> str:
    digits = digits.lstrip("0") or "0"
    return digits if len(digits) <= MOST_DIGITS else f"{digits[:MOST_DIGITS]}…"


def _ms(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"time is {text!r}: it must be a number of milliseconds") from None


def _ahead(text: str, found: dict[int, tuple[int, int | None, float]], recording: Recording) -> int:
    """Give by how much local times are ahead of UTC where the file says when it began."""
    began = BEGAN.search(text)
    if began is None or recording.clock in (NONE, STATED):
        return 0
    first = next(at for _, at, _ in found.values() if at is not None)
    ahead = round((first - int(began[1]) * MILLI) / QUARTER) * QUARTER
    recording.clock = STATED
    recording.notes = [
        f"its times are of UTC{ahead / 4 / QUARTER:+g} h, by the line Start time",
        *(note for note in recording.notes if "name no zone" not in note),
    ]
    return ahead


def _samples(
    found: dict[int, tuple[int, int | None, float]], last: int, ahead: int, *, timed: bool
) -> list[Sample]:
    """Give a sample for each probe; what never came back was sent between its neighbours."""
    numbers = sorted(found)
    times = {
        number: (found[number][1] or 0) - ahead if timed else (number - numbers[0]) * SECOND
        for number in numbers
    }
    step = (times[numbers[-1]] - times[numbers[0]]) // max(numbers[-1] - numbers[0], 1) or SECOND
    samples = []
    line, known = 1, numbers[0]
    for number in range(numbers[0], last + 1):
        if number in found:
            line, _, ms = found[number]
            known = number
            samples.append(Sample(line, times[number], {"rtt_ms": ms, "lost": 0.0}))
        else:
            samples.append(Sample(line, times[known] + (number - known) * step, {"lost": 1.0}))
    return samples


FORMAT = Ping()
