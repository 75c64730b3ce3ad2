"""``mptcplab schedule`` itself: dry runs, units, what it refuses."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from command import Run
from mptcplab import Error
from world import CAMPAIGN, SCENARIO, World, scheduled, written


def command(mptcplab: Run, directory: Path, *arguments: str) -> tuple[int, str, str]:
    """Run ``mptcplab schedule`` for the example, with a server that is nowhere."""
    token = directory / "token"
    if not token.exists():
        token.touch(0o600)
        token.write_text("a-token-of-no-server")
    (directory / "field.toml").write_text(f'{SCENARIO}\n[field]\ntoken = "{token}"\n')
    text = CAMPAIGN.replace("networks", "field").replace("visits = 6", "visits = 8")
    (directory / "weeks.toml").write_text(text)
    done = mptcplab(
        "schedule", "weeks.toml", "--server", f"127.0.0.1:1#{'0' * 64}", *arguments, cwd=directory
    )
    return done.returncode, done.stdout, done.stderr


def test_a_dry_run_tells_data_and_time_and_leaves_nothing(mptcplab: Run, tmp_path: Path) -> None:
    status, out, _ = command(mptcplab, tmp_path, "--dry-run")
    assert status == 0
    assert "at most 8 a day: 3 runs each" in out
    assert "lte  at most 7.75 MB in a visit, 62.0 MB in a day" in " ".join(out.split("\n"))
    assert "its budget has room for 5 visits a day" in out
    assert "nothing was sent" in out
    document = json.loads(command(mptcplab, tmp_path, "--dry-run", "--json")[1])
    lte = next(one for one in document["paths"] if one["path"] == "lte")
    assert lte["visit_bytes"] == 7_750_000
    assert lte["left_bytes"] == 7_750_000 * document["visits_to_come"]
    assert lte["room"] == {"day": 5, "month": 51}
    assert {path.name for path in tmp_path.iterdir()} == {"field.toml", "weeks.toml", "token"}


def test_a_dry_run_needs_neither_server_nor_token_and_a_schedule_does(
    mptcplab: Run, tmp_path: Path
) -> None:
    """Who reckons what a schedule takes may have no server yet."""
    command(mptcplab, tmp_path, "--dry-run")
    (tmp_path / "token").unlink()
    done = mptcplab("schedule", "weeks.toml", "--dry-run", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "lte  at most 7.75 MB in a visit" in done.stdout
    for arguments in ([], ["--server", f"127.0.0.1:1#{'0' * 64}"]):
        done = mptcplab("schedule", "weeks.toml", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert ("there is no token" if arguments else "needs a server") in done.stderr
        assert not (tmp_path / "campaigns" / "weeks").exists()


def test_a_dry_sweep_of_real_networks_sends_nothing(mptcplab: Run, tmp_path: Path) -> None:
    command(mptcplab, tmp_path, "--dry-run")
    once = 'schema = 1\nengine = "field"\nscenario = "field.toml"\nrepetitions = 4\n'
    server = f'[set]\n"field.server" = "127.0.0.1:1#{"0" * 64}"\n'
    (tmp_path / "often.toml").write_text(once + server)
    done = mptcplab("sweep", "often.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    # Nobody is at that port: whoever tried would say so.
    assert "failed" not in done.stdout
    assert "nothing was sent" in done.stdout
    assert "lte  at most 25.0 MB" in done.stdout
    document = json.loads(
        mptcplab("sweep", "often.toml", "--dry-run", "--json", cwd=tmp_path).stdout
    )
    assert document["most_bytes"] == {"lte": 25_000_000, "wifi": 25_000_000}
    assert document["run_s"] is None


def test_the_unit_runs_the_same_command(mptcplab: Run, tmp_path: Path) -> None:
    status, out, _ = command(mptcplab, tmp_path, "--systemd", "--out", "100 %")
    assert status == 0
    lines = dict(line.partition("=")[::2] for line in out.splitlines() if "=" in line)
    assert lines["WorkingDirectory"] == str(tmp_path)
    arguments = shlex.split(lines["ExecStart"].replace("%%", "%"))
    assert arguments[1:5] == ["-P", "-m", "mptcplab", "schedule"]
    assert arguments[-2:] == ["--out", "100 %"]
    if shutil.which("systemd-analyze"):
        file = tmp_path / "mptcplab-schedule.service"
        file.write_text(out)
        own = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
        subprocess.run(["systemd-analyze", "verify", "--user", file], check=True, env=own)


@pytest.mark.parametrize("name", ["a\nExecStart=/bin/false", "a\\tb", "a\x1b[2J"])
def test_a_name_that_a_unit_would_not_keep_is_refused(
    mptcplab: Run, tmp_path: Path, name: str
) -> None:
    status, out, err = command(mptcplab, tmp_path, "--systemd", "--out", name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    (tmp_path / name).mkdir(parents=True)
    assert command(mptcplab, tmp_path / name, "--systemd")[:2] == (2, "")


def test_a_calendar_and_a_sweep_do_not_go_together(mptcplab: Run, tmp_path: Path) -> None:
    command(mptcplab, tmp_path, "--dry-run")
    done = mptcplab("sweep", "weeks.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "mptcplab: weeks: has a [[calendar]]: mptcplab schedule runs it\n",
    )
    done = mptcplab("schedule", "size-and-controller", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "mptcplab: size-and-controller: has no [[calendar]]: mptcplab sweep runs it\n",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('hours = "06:00-23:00"', 'hours = "6-23"'), r'hours: 6-23 is not such as "06:00-23:00"'),
        (("visits = 6", 'visits = 6\ndays = ["Mo"]'), "Mo is not a day; did you mean Mon"),
        (("Europe/Berlin", "Europe/Berli"), "Europe/Berli is not a time zone"),
        (("hour_bin = 3", "hour_bin = 5"), "the hours of a day are no multiple of it"),
        (("hour_bin = 3", "repetitions = 3"), "has its visits instead"),
        (
            ("[budget.lte]", "[budget.lt]"),
            r"\[budget.lt\]: there is no such path; did you mean lte",
        ),
        (('per_day = "40 MB"', 'per_day = "4 MB"'), "may take 7.75 MB, more than the 4.00 MB"),
        (('per_day = "40 MB"', 'per_visit = "4 MB"'), "the runs of a visit may take 7.75 MB"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    world = World(tmp_path / "world")
    with pytest.raises(Error, match=message) as refused:
        scheduled(world, written(tmp_path, CAMPAIGN.replace(*change)), tmp_path / "out")
    assert "\n" not in str(refused.value)
    assert world.truth() == []
    # Once it is mended, its days begin.
    assert not (tmp_path / "out").exists()
