"""Figures as papers want them: small, distinct without colour, the same bytes each time."""

from __future__ import annotations

import io
import math
from contextlib import AbstractContextManager
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from mptcplab import _core
from mptcplab._core import Error

# Wide as a column of ACM and IEEE papers.
COLUMN_INCHES = (3.4, 2.2)

# Okabe and Ito, "Color Universal Design", 2008; their yellow is too light for lines on paper.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 1)))
HATCHES = ("", "////", "\\\\\\\\", "....", "xxxx", "----", "++++", "oooo")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
MOST = len(COLOURS)
BLACK = COLOURS[-1]
NEUTRAL = "#5a5a5a"

STYLE = {
    # Comes with matplotlib: so figures are the same wherever they are drawn.
    "font.family": "DejaVu Sans",
    "font.size": 7.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 7.0,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "figure.titlesize": 8.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.1,
    "hatch.linewidth": 0.4,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.1,
    "savefig.dpi": 300,
    # TrueType, as publishers ask for: Type 3 is refused.
    "pdf.fonttype": 42,
    "svg.hashsalt": "mptcplab",
}
FEW_DECADES = 10**2.5
FORMATS = ("pdf", "svg", "png")


class Paper(Figure):
    """A figure of matplotlib that is saved as it was styled, with no date in it."""

    def __init__(self, size: tuple[float, float]) -> None:
        super().__init__(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02))
        self._agg = FigureCanvasAgg(self)
        #: What is drawn, and how it was computed.
        self.caption = ""

    def save(self, target: str | PathLike[str]) -> Path:
        """Write it whole or not at all; the name says the format."""
        from mptcplab.writing import write_whole

        path = Path(target)
        form = format_of(path)
        content = io.BytesIO()
        with styled():
            super().savefig(content, format=form, metadata=self._metadata(form))
        write_whole(path, content.getvalue())
        return path

    def legend_above(self, handles: list[Artist], labels: list[str]) -> None:
        """Name what is drawn above the axes, in as few rows as it takes."""
        for rows in range(1, len(handles) + 1):
            columns = math.ceil(len(handles) / rows)
            legend = self.legend(handles, labels, loc="outside upper center", ncols=columns)
            if columns == 1 or self.extent(legend).width < self.bbox.width:
                return
            legend.remove()

    def part_labels(self, axes: Axes) -> None:
        """Turn names along the figure where one would touch the next."""
        self.draw_without_rendering()
        boxes = [self.extent(label) for label in axes.get_xticklabels()]
        if any(one.x1 + 3 > other.x0 for one, other in pairwise(boxes)):
            axes.tick_params(axis="x", labelrotation=25)
            for label in axes.get_xticklabels():
                label.set(horizontalalignment="right", rotation_mode="anchor")

    def extent(self, artist: Artist) -> Bbox:
        """Give the position of an artist, in pixels."""
        return artist.get_window_extent(self._agg.get_renderer())  # type: ignore[no-untyped-call]

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        with styled():
            super().savefig(content, format="png", dpi=200)
        return content.getvalue()

    def _metadata(self, form: str) -> dict[str, Any]:
        by = f"mptcplab {_core.VERSION}"
        if form == "png":
            return {"Software": by, "Description": self.caption}
        if form == "svg":
            return {"Creator": by, "Description": self.caption, "Date": None}
        return {"Creator": by, "Subject": self.caption, "CreationDate": None}


def of_path(number: int) -> str:
    """Give the colour of a path, which is the same in all figures and on pages."""
    return COLOURS[number % (MOST - 1)]


def of_mptcp(number: int, paths: int) -> str:
    """Give the colour of a series of MPTCP: black, then those that paths leave."""
    # Where they do not suffice, those of paths: dashes, hatches and markers differ.
    left = [BLACK, *COLOURS[paths : MOST - 1], *COLOURS[:paths]]
    return left[number % MOST]


def logarithmic(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers: 0.1, 1, 10, and what lies between if few do."""
    low, high = axis.get_view_interval()
    steps = (1.0, 2.0, 5.0) if high < FEW_DECADES * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=steps, numticks=30))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def styled() -> AbstractContextManager[None]:
    """Draw in our style, whatever style matplotlib is set to."""
    return style.context(["default", STYLE])


def format_of(path: Path) -> str:
    """Say which format a name asks for.

    Raises:
        Error: It asks for none that there is.
    """
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        wanted = ", ".join(f".{one}" for one in FORMATS)
        raise Error(f"{path} must end in one of {wanted}: that is what there is to write")
    return form
