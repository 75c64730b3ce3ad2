"""What an import writes: texts by the names of their files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from mptcplab.scenario.long import written
from mptcplab.scenario.scenario import load
from mptcplab.surroundings import radio_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mptcplab.recordings.path import ImportedLink
    from mptcplab.recordings.recording import Sample
    from mptcplab.recordings.timeline import Window

SCENARIO = "scenario.toml"
RADIO = "radio.csv"
POSITIONS = "positions.gpx"
DIRECTIONS = ("uplink", "downlink")
# Longer transfers take long to simulate.
MOST_TRANSFER_S = 60
SECOND = 10**9
GPX = '<gpx version="1.1" creator="mptcplab" xmlns="http://www.topografix.com/GPX/1/1">'
# Elements of a track point, in the order that GPX 1.1 asks for, and what it has in extensions.
ELEMENTS = {"altitude_m": "ele"}
EXTENSIONS = {"speed_mps": "speed", "course_deg": "course"}


def texts(links: Sequence[ImportedLink], window: Window) -> dict[str, str]:
    """Give the text of every file."""
    files = {SCENARIO: _scenario(links, window)}
    for link in links:
        files[f"{link.name}.toml"] = _link(link, window)
        files |= link.traces
    radio = [row for link in links for row in _radio(link, window)]
    if radio:
        files[RADIO] = "\n".join([",".join(radio_log.COLUMNS), *radio]) + "\n"
    # Paths that are driven together have one position: the first that has any gives it.
    track = next((points for link in links if (points := list(_track(link, window)))), [])
    if track:
        files[POSITIONS] = (
            "\n".join([GPX, "<trk><trkseg>", *track, "</trkseg></trk>", "</gpx>"]) + "\n"
        )
    return files


def check(files: Mapping[str, str], trial: Path) -> None:
    """Read the scenario back as ``run`` reads it, before anything is written to ``out``."""
    for name, text in files.items():
        (trial / name).write_text(text, "utf-8")
    load(trial / SCENARIO)


def _scenario(links: Sequence[ImportedLink], window: Window) -> str:
    length_s = window.length_ns / SECOND
    lines = [
        "schema = 1",
        f"title = {written('imported: ' + ', '.join(one.name for one in links))}",
        f"# Written by mptcplab links import: {window.label}.",
    ]
    if len(links) > 1:
        # Rows of one file have one clock, whatever its origin.
        together = (
            window.aligned or len({source.path for one in links for source in one.sources}) == 1
        )
        fade = "fade together" if together else "do not fade together: they are of no common clock"
        lines.append(f"# The paths {fade}.")
    if length_s > MOST_TRANSFER_S:
        lines.append(f"# The traces last {length_s:g} s: a longer transfer sees more of them.")
    lines += ["", "[transfer]", 'direction = "download"']
    lines.append(f'duration = "{min(length_s, MOST_TRANSFER_S):g} s"')
    for one in links:
        lines += ["", f"[path.{one.name}]", f"profile = {written(f'{one.name}.toml')}"]
    return "\n".join(lines) + "\n"


def _link(link: ImportedLink, window: Window) -> str:
    names = ", ".join(source.path.name for source in link.sources)
    lines = [f"title = {written(f'{link.name}: imported from {names}')}"]
    lines.append(f"# Written by mptcplab links import: {window.label}.")
    lines += _comments("Measured", link.measured)
    lines += _comments("Assumed, measured nowhere", link.assumed)
    lines += _comments("Odd in the files", link.odd)
    lines += [f"{name} = {written(link.elements[name], apart=True)}" for name in DIRECTIONS]
    for name, draw in link.draw.items():
        lines += ["", f"[draw.{name}]", *(f"{key} = {written(draw[key])}" for key in draw)]
    rates = dict.fromkeys(
        source.recording.rates for source in link.sources if source.recording.rates
    )
    origin = {
        "kind": "imported",
        "source": "; ".join(
            [*(f"{one.path.name} ({one.format})" for one in link.sources), *map(str, rates)]
        ),
        "licence": "; ".join(dict.fromkeys(one.licence for one in link.sources)),
        "sha256": ", ".join(one.sha256 for one in link.sources),
    }
    lines += ["", "[origin]", *(f"{key} = {written(value)}" for key, value in origin.items())]
    return "\n".join(lines) + "\n"


def _comments(label: str, notes: Sequence[str]) -> list[str]:
    """Write notes as comments, without unprintable characters."""
    return [
        f"# {label}: {''.join(one if one.isprintable() else '?' for one in line)}."
        for line in notes
    ]


def _samples_within(link: ImportedLink, window: Window) -> Iterator[tuple[Sample, int]]:
    """Give the samples of the window with their times, of the clock or from the start."""
    for source in link.sources:
        if source.recording.samples:
            origin = window.origin_ns(source.recording)
            for sample in sorted(source.recording.samples, key=lambda one: one.at_ns):
                at = sample.at_ns - origin
                if 0 <= at < window.length_ns:
                    yield sample, at + window.start_ns


def _radio(link: ImportedLink, window: Window) -> Iterator[str]:
    for sample, at_ns in _samples_within(link, window):
        if sample.radio:
            cells = {radio_log.TIME: _seconds(at_ns), radio_log.PATH: link.name, **sample.radio}
            yield ",".join(_cell(cells.get(name, "")) for name in radio_log.COLUMNS)


def _cell(value: object) -> str:
    text = str(value)
    return '"{}"'.format(text.replace('"', '""')) if set(text) & set(',"\n\r') else text


def _seconds(at_ns: int) -> str:
    return f"{at_ns // SECOND}.{at_ns % SECOND:09d}"


def _track(link: ImportedLink, window: Window) -> Iterator[str]:
    """Give a track point for each sample with a position."""
    for sample, at_ns in _samples_within(link, window):
        position = sample.position
        if not {"latitude_deg", "longitude_deg"} <= position.keys():
            continue
        at = datetime.fromtimestamp(at_ns // SECOND, UTC)
        more = "".join(
            f"<{tag}>{position[key]}</{tag}>" for key, tag in ELEMENTS.items() if key in position
        )
        time = f"<time>{at:%Y-%m-%dT%H:%M:%S}.{at_ns % SECOND // 10**6:03d}Z</time>"
        beyond = "".join(
            f"<{tag}>{position[key]:g}</{tag}>"
            for key, tag in EXTENSIONS.items()
            if key in position
        )
        extensions = f"<extensions>{beyond}</extensions>" if beyond else ""
        yield (
            f'<trkpt lat="{position["latitude_deg"]}" lon="{position["longitude_deg"]}">'
            f"{more}{time}{extensions}</trkpt>"
        )
