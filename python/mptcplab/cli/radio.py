"""``mptcplab radio``: what a signal gives at most."""

from __future__ import annotations

from mptcplab.cli.parser import Parser, named, number_above_0
from mptcplab.cli.say import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _SubParsersAction
    from typing import Any

    from mptcplab.radio.limit import Ceiling
    from mptcplab.radio.technology import Technology

EXAMPLES = """\
examples:
  mptcplab radio
  mptcplab radio lte --bandwidth "20 MHz"
  mptcplab radio lte --signal "-105 dBm" --noise-rise "6 dB"
  mptcplab radio wimax --signal "16 dB" --json
  mptcplab radio --papers
"""
HINT = (
    "in a scenario: [link.NAME.radio] with technology and signal or route; rates assume a single "
    "user in the cell"
)


def add_to(commands: _SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "radio",
        help="say what rate a signal allows at most, by the standards' tables",
        description="Lists the radio technologies that mptcplab knows, shows the table of one, or "
        "says what a signal allows at most. With --papers, shows what the papers printed about "
        "their radio, and what follows from it.",
        epilog=EXAMPLES,
    )
    command.add_argument(
        "technology", nargs="?", type=named, metavar="TECHNOLOGY", help="show this one's table"
    )
    command.add_argument(
        "--signal",
        metavar="SIGNAL",
        help='received signal: a power ("-95 dBm") or a ratio ("12 dB")',
    )
    command.add_argument(
        "--bandwidth",
        metavar="BANDWIDTH",
        help='bandwidth of the channel ("20 MHz"), or the category in HSPA',
    )
    command.add_argument(
        "--streams",
        type=number_above_0,
        metavar="N",
        help="number of spatial streams (default: 1)",
    )
    command.add_argument(
        "--noise-rise",
        metavar="DB",
        help='how much interference raises the noise, with a power ("0 dB")',
    )
    command.add_argument(
        "--papers", action="store_true", help="judge the radio values that the papers print"
    )
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(run=run, parser=command)


def run(options: Namespace) -> int:
    from mptcplab import radio

    if options.papers and options.technology is not None:
        options.parser.error("--papers and TECHNOLOGY exclude each other")
    for name in ("signal", "bandwidth", "streams"):
        if getattr(options, name) is not None and options.technology is None:
            options.parser.error(f"--{name} needs TECHNOLOGY")
    if options.noise_rise is not None and options.signal is None:
        options.parser.error("--noise-rise needs --signal")
    if options.papers:
        from mptcplab.study.radio import of_papers

        _papers(list(of_papers()), json=options.json)
    elif options.technology is None:
        _list(radio.technologies(), json=options.json)
    elif options.signal is None:
        _table(radio.named(options.technology), options)
    else:
        one = radio.ceiling(
            options.technology,
            options.signal,
            bandwidth=options.bandwidth,
            streams=options.streams or 1,
            noise_rise=options.noise_rise or "0 dB",
        )
        _ceiling(one, json=options.json)
    return 0


def _ceiling(one: Ceiling, *, json: bool) -> None:
    from dataclasses import asdict

    from mptcplab.cli.summary.page import Page

    if json:
        print_json(asdict(one))
        return
    page = Page()
    page.facts([one.technology, one.bandwidth, f"{one.signal:g} {one.unit}"], indent="")
    if one.scheme is None:
        page.line("too weak for any scheme: nothing passes")
        return
    page.line(f"{one.scheme}: {_rates(one)} at most")
    lost = f"{one.loss_ratio * 100:g} % of packets are lost after {one.tries} tries"
    page.line(f"{one.error_ratio * 100:g} % of first tries fail; {lost}")


def _list(technologies: list[Technology], *, json: bool) -> None:
    from mptcplab.cli.summary.listing import listing

    if json:
        print_json([_described(one) for one in technologies])
        return
    lines = [f"{one.title}; {one.source}" for one in technologies]
    listing("technology", [one.name for one in technologies], lines, HINT)


def _table(technology: Technology, options: Namespace) -> None:
    from mptcplab.cli.summary.page import Column, Page, draw
    from mptcplab.radio.limit import check_streams, known_channel

    channel = known_channel(technology, options.bandwidth)
    streams = options.streams or 1
    check_streams(technology, streams)
    rows = [
        (scheme, technology.rates(scheme.needs, channel, streams))
        for scheme in technology.schemes(channel)
    ]
    if options.json:
        schemes = [
            {
                "scheme": scheme.name,
                f"needs_{technology.unit.lower()}": scheme.needs,
                "downlink_bits_per_second": round(down),
                "uplink_bits_per_second": round(up),
            }
            for scheme, (down, up) in rows
        ]
        print_json(_described(technology) | {"bandwidth": channel, "schemes": schemes})
        return
    page = Page()
    page.paragraph(f"{technology.title}, {channel}: {technology.source}", indent="")
    for name, measure in technology.measures.items():
        span = f"{measure.least:g} to {measure.most:g} {measure.unit} ({measure.source})"
        page.paragraph(
            f"{name.upper()}: {span}{'' if measure.used else '; no rate follows from it'}"
        )
    page.line()
    draw(
        page,
        [
            Column("scheme", [scheme.name for scheme, _ in rows], left=True),
            Column("needs", [f"{scheme.needs:g} {technology.unit}" for scheme, _ in rows]),
            Column("down Mbit/s", [_mbps(down) for _, (down, _) in rows]),
            Column("up Mbit/s", [_mbps(up) for _, (_, up) in rows]),
        ],
        indent="",
    )
    page.line()
    page.paragraph(HINT, indent="", style="faint")


def _papers(verdicts: list[Any], *, json: bool) -> None:
    from dataclasses import asdict

    from mptcplab.cli.summary.page import Column, Page, draw

    if json:
        print_json([asdict(one) for one in verdicts])
        return
    shown = [one.refused or _shown(one.ceiling) for one in verdicts]
    page = Page()
    draw(
        page,
        [
            Column("where", [one.where for one in verdicts], left=True),
            Column("technology", [one.technology for one in verdicts], left=True),
            Column("measure", [one.measure.upper() for one in verdicts], left=True),
            Column("printed", [f"{one.value:g} {one.unit}" for one in verdicts]),
            Column("", shown, left=True),
        ],
        indent="",
    )


def _shown(one: Ceiling) -> str:
    return f"{one.scheme}: {_rates(one)} at most" if one.scheme else "too weak for any scheme"


def _rates(one: Ceiling) -> str:
    down, up = (_mbps(rate) for rate in (one.downlink_bits_per_second, one.uplink_bits_per_second))
    return f"{down} Mbit/s down, {up} Mbit/s up"


def _mbps(rate: float) -> str:
    return f"{rate / 1e6:.3g}" if rate < 1e8 else f"{rate / 1e6:.0f}"


def _described(technology: Technology) -> dict[str, Any]:
    from dataclasses import asdict

    from mptcplab.cli.summary.listing import entry

    return entry(
        "technology",
        technology.name,
        technology.title,
        source=technology.source,
        bandwidths=list(technology.channels),
        most_streams=technology.most_streams,
        measures={name: asdict(one) for name, one in technology.measures.items()},
        retries=asdict(technology.retries),
    )
