"""argparse, but a mistake gets one clear line; arguments of commands that run scenarios."""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentParser, _ArgumentGroup
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from mptcplab import Error
from mptcplab.cli.say import say
from mptcplab.engines import DEFAULT, ENGINES


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Fills descriptions to the width of the terminal, and leaves examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


class Parser(argparse.ArgumentParser):
    """An argument parser as every command of mptcplab has it."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", Formatter)
        super().__init__(**settings, allow_abbrev=False)

    #: Where what follows ``--`` goes, word by word, in a command that takes another one there.
    rest: str | None = None
    #: The commands that may come first: of those of two words, both are read as one argument.
    commands: Collection[str] = ()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read the words that are ours."""
        args = sys.argv[1:] if args is None else args
        if " ".join(args[:2]) in self.commands:
            args = [" ".join(args[:2]), *args[2:]]
        if self.rest is None:
            read, unknown = super().parse_known_args(args, namespace)
            self._refuse(unknown)
            return read, unknown
        index = args.index("--") if "--" in args else len(args)
        read, unknown = super().parse_known_args(args[:index], namespace)
        setattr(read, self.rest, list(args[index + 1 :]))
        if unknown and not unknown[0].startswith("-"):
            self.error(f"unrecognized arguments: {' '.join(unknown)}; put -- before the command")
        self._refuse(unknown)
        return read, unknown

    def _refuse(self, unknown: Sequence[str]) -> None:
        """Refuse what the command does not know, and name the option that was probably meant."""
        if not unknown:
            return
        from mptcplab.messages import close

        option = unknown[0].partition("=")[0]
        meant = close(option, self._option_string_actions) if option.startswith("-") else None
        hint = f"; did you mean {meant}?" if meant else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is none of the choices, and name the one that was probably meant."""
        if action.choices is not None and value not in action.choices:
            from mptcplab.messages import nearest

            option = f"--{value}"
            known = option in self._option_string_actions
            hint = f"did you mean {option}?" if known else nearest(value, action.choices)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; {hint}")

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the command line, in one line, and exit with status 2."""
        say(f"{self.prog}: {message}; see {self.prog} --help")
        sys.exit(2)


def named(text: str) -> str:
    """Read the name of a file or a directory."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def seconds(text: str) -> float:
    """Read a length of time."""
    value = _number(text)
    if not 0 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds from 0 to 1e9")
    return value


def seconds_above_0(text: str) -> float:
    """Read a length of time that is not nothing."""
    value = seconds(text)
    if round(value * 1e9) == 0:
        fault = "not a number of seconds above 0" if value == 0 else "shorter than a nanosecond"
        raise argparse.ArgumentTypeError(f"{text} is {fault}")
    return value


def percent(text: str) -> float:
    """Read a part of a whole."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text} is not a percentage from 0 to 100")
    return value


def number(text: str) -> int:
    """Read the number of something, counted from 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is not a number (0, 1, 2, ...)")
    return int(text)


def number_above_0(text: str) -> int:
    """Read how many of something there are to be."""
    value = number(text)
    if value == 0:
        raise argparse.ArgumentTypeError("0 is not a number above 0")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    from mptcplab.quantity import DURATION

    try:
        return DURATION.parse(text) / 1e9
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds") from None


def add_changes_to(command: ArgumentParser) -> None:
    """Describe what a run has other than the scenario's file."""
    command.add_argument(
        "--seed", type=number, default=1, metavar="N", help="random seed (default: 1)"
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="KEY=VALUE",
        help="change the scenario: path.wifi.rate=10Mbit/s, timeline.0.at=5s; may be repeated",
    )


def add_levels_to(command: ArgumentParser) -> None:
    """Describe how much a command says."""
    levels = command.add_mutually_exclusive_group()
    levels.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print only results, warnings and errors: no progress, no remarks",
    )
    levels.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="say what is being done, and where in the program an error came from",
    )


def add_engine_to(command: ArgumentParser) -> None:
    """Describe what runs it."""
    meanings = "; ".join(f"{name}: {engine.means}" for name, engine in ENGINES.items())
    command.add_argument(
        "--engine",
        choices=ENGINES,
        help=f"what runs it. {meanings} (default: {DEFAULT.name}, or MPTCPLAB_ENGINE)",
    )


def add_filter_to(command: ArgumentParser | _ArgumentGroup) -> None:
    """Describe which connections are meant."""
    command.add_argument(
        "--filter",
        type=named,
        metavar="KEY=VALUE,...",
        help="only connections that match every part: host=ADDRESS or NETWORK, port=N, path=NAME, "
        "or a column of the table connections, such as protocol=tcp; KEY!=VALUE excludes",
    )


def add_part_to(command: ArgumentParser) -> None:
    """Describe which part of captures is meant."""
    part = command.add_argument_group("part of the captures (default: all)")
    part.add_argument(
        "--from",
        type=seconds,
        default=0.0,
        dest="from_seconds",
        metavar="SECONDS",
        help="start this long after the first packet; what began earlier counts as begun midway",
    )
    part.add_argument(
        "--to",
        type=seconds_above_0,
        dest="to_seconds",
        metavar="SECONDS",
        help="end this long after the first packet",
    )


def check_part(options: argparse.Namespace) -> None:
    """Refuse a part that ends before it begins.

    Raises:
        Error: It does.
    """
    if options.to_seconds is not None and options.to_seconds <= options.from_seconds:
        raise Error(
            f"--to is {options.to_seconds:g}, and must be above --from, {options.from_seconds:g}"
        )


def add_server_to(command: ArgumentParser) -> None:
    """Describe the other host of the field engine."""
    command.add_argument(
        "--server",
        metavar="HOST:PORT#FINGERPRINT",
        help="the other host, for --engine field: the line that mptcplab serve prints there; as "
        "server in [field]",
    )
    command.add_argument(
        "--token",
        type=named,
        metavar="FILE",
        help="the file with that server's token (default: ~/.config/mptcplab/token); as token in "
        "[field]",
    )


def server_setting(options: argparse.Namespace) -> list[str]:
    """Give what --server and --token set of the scenario."""
    given = {"server": options.server, "token": options.token}
    return [f"field.{key}={value}" for key, value in given.items() if value is not None]


def add_live_to(output: _ArgumentGroup) -> None:
    """Add the options for what is shown during a run in real time."""
    output.add_argument(
        "--no-live",
        action="store_true",
        help="do not show throughput, round-trip time and share of each path while a run in real "
        "time goes on (without a terminal: a line every ten seconds)",
    )


def add_captures_to(output: _ArgumentGroup) -> None:
    """Describe what captures hold."""
    captures = output.add_mutually_exclusive_group()
    captures.add_argument(
        "--no-captures",
        action="store_const",
        const="none",
        default="headers",
        dest="captures",
        help="write tables only",
    )
    captures.add_argument(
        "--full-payload",
        action="store_const",
        const="full",
        dest="captures",
        help="write payload into the captures, too, which for other programs is everything they "
        "send, including passwords in clear text",
    )
