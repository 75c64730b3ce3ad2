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


def completed(script: str, *words: str) -> set[str]:
    """Give what bash offers in place of the last word."""
    command = ["bash", "-c", COMPLETE, "bash", "mptcplab", *words]
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


def test_zsh_reads_its_script(mptcplab: Run) -> None:
    script = mptcplab("completion", "zsh").stdout
    assert script.startswith("#compdef mptcplab\n")
    need_tool("zsh")
    subprocess.run([str(shutil.which("zsh")), "-n"], input=script, text=True, check=True)


def test_another_shell_is_refused(mptcplab: Run) -> None:
    done = mptcplab("completion", "fish")
    assert done.returncode == 2
    assert "invalid choice: 'fish'" in done.stderr
