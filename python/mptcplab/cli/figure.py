"""``mptcplab figure``: a run or a campaign in, a figure for a paper out."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from argparse import Namespace, _SubParsersAction
from collections.abc import Sequence
from typing import Any

from mptcplab.cli.parser import Parser, named, number
from mptcplab.cli.say import print_json, show

EXAMPLES = """\
examples:
  mptcplab figure --list                                              what there is to draw
  mptcplab figure throughput runs/wifi-lte-1 --out throughput.pdf
  mptcplab figure boxes campaigns/size-and-controller --out boxes.pdf --size 7x2.4in
  mptcplab figure rtt-ccdf campaigns/mine --by controller --where size='4 MB' --out rtt.svg
"""
SIZE = re.compile(r"(\d+\.?\d*|\.\d+)x(\d+\.?\d*|\.\d+)(in|cm|mm)")
INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
SMALLEST, LARGEST = 1.0, 40.0


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "figure",
        help="draw a figure for a paper: PDF, SVG or PNG",
        description="Draws a static figure of a run or a campaign, as wide as a column of a paper, "
        "and prints a caption for it. The same tables give the same bytes.",
        epilog=EXAMPLES,
    )
    command.add_argument("kind", type=named, metavar="KIND", help="kind of figure: see --list")
    command.add_argument(
        "directory",
        type=named,
        metavar="DIR",
        help="a run directory, what mptcplab run left, a campaign's directory, or captures",
    )
    command.add_argument(
        "--list", action=_List, help="list the kinds of figures, and the options of each"
    )
    command.add_argument(
        "--out",
        type=named,
        required=True,
        metavar="FILE",
        help="the figure: a name that ends in .pdf, .svg or .png",
    )
    command.add_argument(
        "--size",
        type=_size,
        metavar="WxH",
        help="width and height, as 3.4x2.2in or 9x6cm (default: 3.4x2.2in, one column)",
    )
    command.add_argument(
        "--title", type=named, metavar="TEXT", help="a title above (default: none)"
    )
    command.add_argument(
        "--connection",
        type=number,
        metavar="N",
        help="of captures: draw connection N (default: the one that moved most bytes)",
    )
    chosen = command.add_argument_group("of campaigns")
    chosen.add_argument(
        "--by",
        type=_names,
        default=(),
        metavar="AXIS,...",
        help="axes to split by: the first along the figure, the others side by side",
    )
    chosen.add_argument(
        "--where",
        type=_condition,
        action="append",
        default=[],
        metavar="AXIS=VALUE",
        help="use only runs with this value of an axis; may be repeated",
    )
    chosen.add_argument(
        "--value",
        type=named,
        metavar="FIGURE",
        help="what is drawn: throughput_mbps, elapsed_s, ...",
    )
    chosen.add_argument(
        "--paths",
        type=_names,
        default=(),
        metavar="PATH,...",
        help="what is drawn: mptcp, and names of paths for plain TCP over them",
    )
    command.add_argument(
        "--json",
        action="store_true",
        help="print the file and its caption, or the list, as JSON",
    )
    command.set_defaults(run=run)


def run(options: Namespace) -> int:
    if options.list:
        from mptcplab.charts.paper.kinds import KINDS

        _print_kinds(KINDS, json=options.json)
        return 0
    from mptcplab.api.pages import figure

    drawn = figure(
        options.kind,
        options.directory,
        options.out,
        size=options.size,
        title=options.title,
        by=options.by,
        where=dict(options.where),
        value=options.value,
        paths=options.paths,
        connection=options.connection,
    )
    if options.json:
        print_json({"file": options.out, "kind": options.kind, "caption": drawn.caption})
        return 0
    for line in textwrap.wrap(drawn.caption, 100):
        show(line)
    show("")
    show(f"{options.out} shows it")
    return 0


class _List(argparse.Action):
    """Asks for the kinds, whatever else stands on the command line or is missing there."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=False, **settings)

    def __call__(self, parser: argparse.ArgumentParser, options: Namespace, *_: object) -> None:
        options.list = True
        for action in parser._actions:
            action.required = False


def _print_kinds(kinds: Sequence[Any], *, json: bool) -> None:
    if json:
        from mptcplab.cli.summary.listing import entry

        print_json(
            [
                entry("figure", one.name, one.about, of=one.of, options=sorted(one.options))
                for one in kinds
            ]
        )
        return
    width = max(len(kind.name) for kind in kinds)
    for of in dict.fromkeys(kind.of for kind in kinds):
        group = [kind for kind in kinds if kind.of == of]
        shared = set.intersection(*(set(kind.options) for kind in group))
        sys.stdout.write("" if of == kinds[0].of else "\n")
        print(f"of a {of}{', all with' if shared else ''} {_listed(shared)}".rstrip())
        for kind in group:
            print(f"  {kind.name:{width}}  {kind.about}")
            if own := set(kind.options) - shared:
                print(f"  {'':{width}}    {_listed(own)}")


def _listed(options: set[str]) -> str:
    return " ".join(f"--{option}" for option in sorted(options))


def _size(text: str) -> tuple[float, float]:
    found = SIZE.fullmatch(text.replace(" ", ""))
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 3.4x2.2in or 9x6cm")
    width, height = (float(one) * INCHES[found[3]] for one in found.groups()[:2])
    if not all(SMALLEST <= one <= LARGEST for one in (width, height)):
        raise argparse.ArgumentTypeError(
            f"{text!r}: width and height lie between {SMALLEST:g} and {LARGEST:g} inches"
        )
    return width, height


def _names(text: str) -> tuple[str, ...]:
    names = tuple(one.strip() for one in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of different names")
    return names


def _condition(text: str) -> tuple[str, str]:
    axis, sign, value = text.partition("=")
    if not (axis and sign and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not AXIS=VALUE")
    return axis, value
