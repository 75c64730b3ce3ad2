"""What is read is a file: devices and pipes have no end, or make one wait."""

from __future__ import annotations

import os
import re
import resource
from pathlib import Path

import pytest

from campaigns import SCENARIO
from command import Run
from mptcplab.reading import MOST_BYTES, MOST_TRACE_BYTES

# Of memory: what has no end does not get far.
ROOM = 4 * 10**9


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with a pipe that nobody writes to, a device without an end, and large files."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name, size in (("large", MOST_BYTES + 1), ("large-trace", MOST_TRACE_BYTES + 1)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    return tmp_path


def _little() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


@pytest.mark.parametrize("name", ["pipe", "device", "large"])
@pytest.mark.parametrize(
    "key", ["trace", "profile", "scenario", "campaign", "targets", "base", "secret"]
)
def test_what_is_no_file_of_a_fit_size_is_refused_at_once(
    name: str, key: str, directory: Path, mptcplab: Run
) -> None:
    if key == "trace" and name == "large":
        name = "large-trace"
    file = directory / f"{key}.toml"
    link = directory / f"{name}.toml"
    link.symlink_to(directory / name)
    arguments: list[object] = ["run", file]
    if key == "trace":
        element = f'{{ element = "trace", trace = "{name}" }}'
        lists = f"downlink = [{element}]\nuplink = [{element}]\n"
        file.write_text(f'{SCENARIO}\n[path.home]\nlink = "home"\n[link.home]\n{lists}')
    elif key == "profile":
        file.write_text(f'{SCENARIO}\n[path.home]\nprofile = "{link.name}"\n')
    elif key == "base":
        file.write_text(f'schema = 1\nscenario = "{link.name}"\n')
        arguments = ["sweep", file]
    elif key == "secret":
        arguments = ["anonymise", file, "--out", "a.pcap", "--secret", link]
    elif key == "targets":
        arguments = ["calibrate", "--row", "a", "--targets", link]
    else:
        arguments = ["run" if key == "scenario" else "sweep", link]
    done = mptcplab(*arguments, preexec_fn=_little)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    wanted = (
        "has more than" if name.startswith("large") else "is not a regular file|there is no file"
    )
    assert re.search(wanted, done.stderr)
    assert "standard output" not in done.stderr
