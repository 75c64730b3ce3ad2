"""Ctrl-C while standard input is read."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mptcplab.cli.main import main

CODE = "import mptcplab, sys; print('up', flush=True); {}"


def heed() -> None:
    """Do not ignore the signal, as what runs in the background does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def running(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run Python with pipes all around."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", CODE.format(code)]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=heed)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        yield process
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()


COMMAND = "from mptcplab.cli.main import main; main(['analyze', '--json', '-'])"


def send(process: subprocess.Popen[bytes], content: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(content)
    process.stdin.flush()
    # Until it waits for more.
    time.sleep(0.7)


def interrupt(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGINT)


def test_an_import_ends_without_a_traceback() -> None:
    """Its modules are told on standard error as they are imported."""
    command = [sys.executable, "-X", "importtime", "-m", "mptcplab", "--version"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, preexec_fn=heed) as process:
        assert process.stderr is not None
        while b" mptcplab._core" not in process.stderr.readline():
            assert process.poll() is None
        interrupt(process)
        out, err = process.communicate(timeout=120)
    assert (out, process.returncode) == (b"", 130)
    assert b"Traceback" not in err


@pytest.mark.parametrize("closed", [True, False])
def test_the_first_ends_the_reading(download: list[str], closed: bool) -> None:
    """Whether the writer ends too, as tcpdump does, or falls silent."""
    with gzip.open(download[0]) as capture, running(COMMAND) as process:
        send(process, capture.read())
        interrupt(process)
        if closed:
            time.sleep(0.3)
            out, err = process.communicate(timeout=120)
        else:
            assert process.stdout is not None
            assert process.stderr is not None
            out, err = process.stdout.read(), process.stderr.read()
            process.wait(120)
    assert process.returncode == 0
    assert b"analysing what has come" in err
    document = json.loads(out)
    assert document["complete"] is closed
    assert document["connections"][0]["transfers"]["down"]["bytes"] > 3_000_000
    kinds = {row["diagnostic"] for row in document["diagnostics"]}
    assert ("capture_cut" in kinds) is not closed


def test_the_second_quits(download: list[str]) -> None:
    with gzip.open(download[0]) as capture, running(COMMAND) as process:
        send(process, capture.read())
        interrupt(process)
        time.sleep(0.3)
        interrupt(process)
        assert process.wait(5) == 130
        assert process.stdout is not None
        assert process.stdout.read() == b""


def test_nothing_has_come() -> None:
    with running(COMMAND) as process:
        send(process, b"")
        interrupt(process)
        assert process.wait(120) == 2
        assert process.stderr is not None
        assert b"standard input: is empty" in process.stderr.read()


def test_the_library_raises_at_once_while_the_pipe_is_silent() -> None:
    with running("mptcplab.analyze('-')") as process:
        send(process, b"")
        interrupt(process)
        process.wait(120)
        assert process.stderr is not None
        assert process.stderr.read().endswith(b"KeyboardInterrupt\n")


@pytest.mark.parametrize(("before", "kept"), [(0, "nothing kept"), (1, "1 link kept")])
def test_a_calibration_says_what_is_kept(
    before: int,
    kept: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made: list[object] = []

    def calibrate(*_: object, **__: object) -> object:
        if len(made) == before:
            raise KeyboardInterrupt
        made.append(object())
        return made[-1]

    monkeypatch.setattr("mptcplab.api.links.calibrate", calibrate)
    with pytest.raises(SystemExit, match="130"):
        main(["calibrate", "--all", "--out", str(tmp_path)])
    assert capsys.readouterr().err.endswith(f"mptcplab: interrupted; {kept}\n")
