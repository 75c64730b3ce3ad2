"""Defaults of options: environment variables, then one file; what is typed wins over both.

The file is ``mptcplab/config.toml`` in ``$XDG_CONFIG_HOME`` (``~/.config`` where that is not set).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from mptcplab import Error
from mptcplab.engines import DEFAULT, ENGINES
from mptcplab.engines.engine import Engine
from mptcplab.reading import read_text

# Keys of the file with the environment variables that stand before them.
VARIABLES = {
    "output": "MPTCPLAB_OUTPUT",
    "jobs": "MPTCPLAB_JOBS",
    "engine": "MPTCPLAB_ENGINE",
}


def engine() -> str:
    """Name the engine that runs scenarios where none is asked for.

    Raises:
        Error: There is none of that name.
    """
    return str(_value("engine") or DEFAULT.name)


def jobs_of(engine: Engine, asked: int | None) -> int | None:
    """Say how many runs of an engine there are at once; none where the command decides.

    Runs in real time that disturb each other are never a default.

    Raises:
        Error: It is not a number above 0.
    """
    if asked is not None or engine.real_time:
        return asked
    jobs: int | None = _value("jobs")
    return jobs


def folder(*names: str) -> Path:
    """Say where runs, campaigns and studies go by themselves.

    Raises:
        Error: The folder's name is not text, or empty.
    """
    return Path(_value("output") or "").expanduser() / Path(*names)


def _value(key: str) -> Any:
    variable = VARIABLES[key]
    if given := os.environ.get(variable):
        return READ[key](given, variable)
    return _file().get(key)


def _engine(given: Any, where: str) -> str:
    if not isinstance(given, str) or given not in ENGINES:
        from mptcplab.messages import nearest

        raise Error(f"{where}: there is no engine {given!r}; {nearest(str(given), list(ENGINES))}")
    return given


def _jobs(given: Any, where: str) -> int:
    text = str(given)
    if isinstance(given, bool) or not (text.isascii() and text.isdigit() and int(text)):
        raise Error(f"{where} is {text}, and must be a number above 0")
    return int(text)


def _output(given: Any, where: str) -> str:
    if not isinstance(given, str) or not given:
        raise Error(f"{where} must be the name of a folder")
    return given


READ: dict[str, Callable[[Any, str], Any]] = {
    "output": _output,
    "jobs": _jobs,
    "engine": _engine,
}


def location() -> Path:
    """Say where the file is, if it is there."""
    # Unlike Path.home, this leaves the name as it is where there is no home directory.
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111
    return Path(home, "mptcplab", "config.toml")


@cache
def _file() -> dict[str, Any]:
    try:
        text = read_text(location())
    except OSError:
        # There is no such file.
        return {}
    except ValueError as error:
        raise Error(f"{location()}: {error}") from None
    import tomllib

    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Error(f"{location()}: {error}") from None
    faults: list[str] = []
    for key, given in read.items():
        where = f"{location()}: {key}"
        try:
            if key not in READ:
                from mptcplab.messages import nearest

                raise Error(f"{where}: there is no such key; {nearest(key, list(READ))}")
            read[key] = READ[key](given, where)
        except Error as error:
            faults += error.args
    if faults:
        raise Error(*faults)
    return read
