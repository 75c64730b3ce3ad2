"""``mptcplab completion``: lets a shell complete commands, options, names and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from mptcplab.cli.parser import Parser

EXAMPLES = """\
examples:
  eval "$(mptcplab completion bash)"                         for this shell; in ~/.bashrc for all
  mptcplab completion bash > ~/.local/share/bash-completion/completions/mptcplab
  mptcplab completion zsh > ~/.zfunc/_mptcplab               with ~/.zfunc in $fpath
  mptcplab completion fish > ~/.config/fish/completions/mptcplab.fish
"""
SHELLS = ("bash", "zsh", "fish", "tcsh")
# What arguments are, by what help calls them.
FILES = ("FILE", "CAPTURE", "DB", "DIR|FILE", "DIR|CAPTURE", "A", "B")
DIRECTORIES = ("DIR",)
SHIPPED = ("SCENARIO", "CAMPAIGN")
FISH_FILES = "__fish_complete_path (commandline -ct)"


def add_to(commands: argparse._SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "completion",
        help="print what makes a shell complete mptcplab's commands and options",
        description="Prints a script that makes a shell complete commands, options, the names of "
        "what ships, and files.",
        epilog=EXAMPLES,
    )
    command.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import shtab

    for action in _actions(options.parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in DIRECTORIES:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.metavar in SHIPPED:
            function = f"_mptcplab_{action.metavar.lower()}"
            functions = {"bash": function, "zsh": function, "fish": f"({function})"}
            action.complete = functions  # type: ignore[attr-defined]
    _nest(options.parser)
    print(shtab.complete(options.parser, options.shell, preamble=_preamble(options.shell)), end="")
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Give all options and arguments, those of commands too."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def _nest(top: argparse.ArgumentParser) -> None:
    """Put each command of two words under its first one, in place of that one's arguments."""
    (commands,) = (one for one in top._actions if isinstance(one, argparse._SubParsersAction))
    for listed in [one for one in commands._choices_actions if " " in one.dest]:
        commands._choices_actions.remove(listed)
        command = commands.choices.pop(listed.dest)
        first, second = listed.dest.split()
        parent = commands.choices[first]
        parent._actions[:] = [one for one in parent._actions if one.option_strings]
        parent.add_subparsers().add_parser(
            second, help=listed.help, parents=[command], add_help=False
        )


def _preamble(shell: str) -> str:
    """Give the functions that complete names of what ships, beside files."""
    from mptcplab.scenario import library

    functions = []
    for kind in map(str.lower, SHIPPED):
        names = " ".join(library.names(f"{kind}s"))
        name = f"_mptcplab_{kind}"
        function = {
            "bash": f'{name}() {{ compgen -W "{names}" -- "$1"; compgen -f -- "$1"; }}',
            "zsh": f"{name}() {{ _alternative '{kind}s:{kind}:({names})' files:file:_files; }}",
            "fish": f"function {name}; string split ' ' '{names}'; {FISH_FILES}; end",
        }
        functions.append(function.get(shell, ""))
    return "\n".join(functions)
