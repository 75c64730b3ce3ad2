"""What shells complete after ``mptcplab``."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from command import Run
from requirements import need_tool

COMPLETE = """
source /dev/stdin
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_shtab_mptcplab
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(script: str, *arguments: str) -> set[str]:
    """Give what bash offers in place of the last word."""
    command = ["bash", "-c", COMPLETE, "bash", "mptcplab", *arguments]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def bash(mptcplab: Run) -> str:
    return mptcplab("completion", "bash").stdout


def test_bash_completes_commands_options_and_choices(bash: str) -> None:
    assert completed(bash, "re") == {"report"}
    assert {"run", "sweep", "analyze", "completion"} <= completed(bash, "")
    assert completed(bash, "run", "--no-b") == {"--no-baselines"}
    assert completed(bash, "run", "--engine", "k") == {"kernel"}


def test_bash_completes_commands_of_two_words(bash: str) -> None:
    assert completed(bash, "lin") == {"links"}
    assert completed(bash, "links", "") == {"import"}
    assert completed(bash, "links", "--j") == {"--json"}
    assert completed(bash, "links", "import", "--time") == {"--time-zone"}
    assert completed(bash, "links", "import", "READ") == {"README.md"}
    assert "import" not in completed(bash, "")


def test_bash_completes_what_ships_and_files(bash: str) -> None:
    assert completed(bash, "run", "wifi-l") == {"wifi-lte", "wifi-lte-upload"}
    assert completed(bash, "sweep", "contr") == {"controllers"}
    assert completed(bash, "run", "READ") == {"README.md"}
    assert completed(bash, "report", "READ") == {"README.md"}


def test_fish_completes_the_same(mptcplab: Run) -> None:
    script = mptcplab("completion", "fish").stdout
    need_tool("fish")

    def offered(line: str) -> set[str]:
        ask = f"source -; complete -C {line!r}"
        command = [str(shutil.which("fish")), "--no-config", "--command", ask]
        done = subprocess.run(command, input=script, capture_output=True, text=True, check=True)
        return {one.partition("\t")[0] for one in done.stdout.splitlines()}

    assert offered("mptcplab re") == {"report"}
    assert offered("mptcplab run --engine k") == {"kernel"}
    assert offered("mptcplab links ") == {"import"}
    assert "--time-zone" in offered("mptcplab links import --time")
    assert offered("mptcplab run wifi-l") == {"wifi-lte", "wifi-lte-upload"}
    assert offered("mptcplab sweep contr") == {"controllers"}
    assert offered("mptcplab run READ") == {"README.md"}
    assert offered("mptcplab report READ") == {"README.md"}


def test_zsh_reads_its_script(mptcplab: Run) -> None:
    script = mptcplab("completion", "zsh").stdout
    assert script.startswith("#compdef mptcplab\n")
    need_tool("zsh")
    subprocess.run([str(shutil.which("zsh")), "-n"], input=script, text=True, check=True)


def test_another_shell_is_refused(mptcplab: Run) -> None:
    done = mptcplab("completion", "ksh")
    assert done.returncode == 2
    assert "invalid choice: 'ksh'" in done.stderr
