"""Draws points and lines as SVG, alike on any machine: what a page shows of laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log10

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 16, 48
COLOURS = ("#3b6fb6", "#c2571a", "#2e8b57", "#8a4fa3", "#b08900", "#5c6670")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.grid{stroke:#8884;stroke-width:1}"
    "@media(prefers-color-scheme:dark){text{fill:#ccc}}"
)

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """Points that belong together: the law a line, what was measured dots, joined where there is no law."""

    name: str
    measured: tuple[Point, ...]
    law: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Axis:
    """What an axis says, and where its ticks are."""

    title: str
    ticks: tuple[float, ...]
    label: Callable[[float], str] = "{:g}".format
    is_logarithmic: bool = True

    def position(self, value: float) -> float:
        """Give where a value lies, from 0 to 1."""
        first, last, at = (self._scaled(one) for one in (self.ticks[0], self.ticks[-1], value))
        return (at - first) / (last - first)

    def _scaled(self, value: float) -> float:
        return log10(value) if self.is_logarithmic else value


def svg(x: Axis, y: Axis, series: Iterable[Series]) -> str:
    """Draw them."""

    def coordinates(point: Point) -> str:
        across, up = x.position(point[0]), y.position(point[1])
        return f"{LEFT + across * (WIDTH - LEFT - RIGHT):.1f},{HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM):.1f}"

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">',
        f"<style>{STYLE}</style>",
    ]
    for tick in x.ticks:
        at, bottom = coordinates((tick, y.ticks[0])).split(",")
        drawn.append(f'<path class="grid" d="M{at},{bottom}V{TOP}"/>')
        drawn.append(_text(float(at), HEIGHT - BOTTOM + 18, x.label(tick), "middle"))
    for tick in y.ticks:
        left, at = coordinates((x.ticks[0], tick)).split(",")
        drawn.append(f'<path class="grid" d="M{left},{at}H{WIDTH - RIGHT}"/>')
        drawn.append(_text(LEFT - 8, float(at) + 4, y.label(tick), "end"))
    drawn.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x.title, "middle"))
    drawn.append(
        f'<text transform="translate(16,{(TOP + HEIGHT - BOTTOM) / 2:g}) rotate(-90)" text-anchor="middle">{y.title}</text>'
    )
    for number, (one, colour) in enumerate(zip(series, COLOURS, strict=False)):
        line = " ".join(coordinates(point) for point in one.law or one.measured)
        drawn.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        )
        for point in one.measured:
            across, down = coordinates(point).split(",")
            drawn.append(f'<circle cx="{across}" cy="{down}" r="4" fill="{colour}"/>')
        beside = TOP + 14 + 22 * number
        drawn.append(f'<circle cx="{WIDTH - RIGHT + 18}" cy="{beside - 4}" r="4" fill="{colour}"/>')
        drawn.append(_text(WIDTH - RIGHT + 30, beside, one.name, "start"))
    return "\n".join([*drawn, "</svg>", ""])


def _text(across: float, down: float, text: str, anchor: str) -> str:
    return f'<text x="{across:g}" y="{down:g}" text-anchor="{anchor}">{text}</text>'
