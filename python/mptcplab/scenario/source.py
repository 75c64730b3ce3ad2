"""Where a scenario comes from: a file, text or a table, with what is set on top of it."""

from __future__ import annotations

import copy
import re
import tomllib
from pathlib import Path

from mptcplab import _core
from mptcplab.reading import read_text
from mptcplab.scenario import rivals
from mptcplab.scenario.fault import ScenarioError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mptcplab.scenario.fault import Place


class Source:
    """Tables as they are written, and the place of each for complaints."""

    def __init__(
        self,
        name: str,
        data: dict[str, Any],
        lines: Mapping[Place, int] | None = None,
        directory: Path | None = None,
    ) -> None:
        self.name = name
        self.data = data
        self.directory = directory or Path()
        self._lines = lines or {}
        self._set: dict[Place, str] = {}
        self._named: dict[Place, str] = {}

    @classmethod
    def of_text(cls, text: str, name: str, directory: Path | None = None) -> Source:
        """Read TOML."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise _undecoded(str(error), text, name) from None
        try:
            lines = _core.toml_lines(text)
        except ValueError as error:
            # It is stricter, as TOML is: whole numbers have 64 bits.
            line, what = error.args
            raise ScenarioError(f"{name}:{line}: {what}") from None
        return cls(name, data, lines, directory)

    @classmethod
    def of_file(cls, path: Path) -> Source:
        """Read a file."""
        try:
            text = read_text(path)
        except OSError as error:
            raise ScenarioError(f"{path}: {error.strerror}") from error
        except UnicodeDecodeError:
            raise ScenarioError(f"{path}: is no text") from None
        return cls.of_text(text, str(path), path.parent)

    def fault(self, place: Place, what: str) -> ScenarioError:
        """Make the complaint about a place."""
        key = ".".join(map(str, place))
        about = f"{key}: {what}" if key else what
        for known, by in self._set.items():
            if place[: len(known)] == known:
                return ScenarioError(f"{by}: {about}")
        # One of them may be what does not go with it.
        if self._set:
            about += f" (with {' '.join(dict.fromkeys(self._set.values()))})"
        return ScenarioError(f"{self.where(place)}: {about}")

    def unknown(self, place: Place, what: str) -> ScenarioError:
        """Make the complaint about a key that there is not, where the key is written."""
        for known, by in self._named.items():
            # A table may be there for the sake of a key in it alone.
            if place[: len(known)] == known or (
                known[: len(place)] == place and place not in self._lines
            ):
                return ScenarioError(f"{by}: {'.'.join(map(str, place))}: {what}")
        return self.fault(place, what)

    def where(self, place: Place) -> str:
        """Say where a place is written: file and line, as far as they are known."""
        for length in range(len(place), 0, -1):
            if place[:length] in self._lines:
                return f"{self.name}:{self._lines[place[:length]]}"
        return self.name

    def copy(self) -> Source:
        """Give another one, to be set otherwise."""
        return Source(self.name, copy.deepcopy(self.data), self._lines, self.directory)

    def set(self, setting: str) -> None:
        """Set a value as ``--set`` does: ``path.wifi.rate=10 Mbit/s``, TOML or bare text."""
        key, given, value = setting.partition("=")
        if not given or not is_key(key):
            raise ScenarioError(
                f"--set {setting}: is not KEY=VALUE, such as path.wifi.rate=10Mbit/s"
            )
        self.put(key, _value(value.strip()), f"--set {setting}")

    def put(self, key: str, value: Any, by: str, named: str | None = None) -> None:
        """Set a value by the word of ``by``, which complaints about it begin with.

        Those about its key begin with ``named``, where that is written elsewhere. It is the last
        word: what it excludes goes, unless that was set too.
        """
        named = named or by
        words = [word.strip() for word in key.split(".")]
        rivals.write_out_profile(self.data, words)
        at: Any = self.data
        place: Place = ()
        for word in words[:-1]:
            at, place = self._enter(at, place, word, named)
        step = self._step(at, place, words[-1], named)
        at[step] = value
        for rival in rivals.replaced((*place, step), at, self.data):
            if not any(rival[:length] in self._set for length in range(1, len(rival) + 1)):
                self._drop(rival)
        self._set[(*place, step)] = by
        self._named[(*place, step)] = named

    def _enter(self, at: Any, place: Place, word: str, by: str) -> tuple[Any, Place]:
        step = self._step(at, place, word, by)
        if isinstance(at, dict) and step not in at:
            if len(place) == 1 and place[0] in ("link", "path"):
                raise ScenarioError(f"{by}: there is no {place[0]} {word}; {nearest(word, at)}")
            at[step] = {}
        return at[step], (*place, step)

    def _drop(self, place: Place) -> None:
        at: Any = self.data
        for step in place[:-1]:
            at = at.get(step) if isinstance(at, dict) else None
        if isinstance(at, dict):
            at.pop(place[-1], None)

    def _step(self, at: Any, place: Place, word: str, by: str) -> str | int:
        if isinstance(at, dict):
            return word
        name = ".".join(map(str, place))
        if not isinstance(at, list):
            raise ScenarioError(f"{by}: {name} is no table")
        if not (word.isdecimal() and int(word) < len(at)):
            there = f"entries 0 to {len(at) - 1}" if len(at) > 1 else "only entry 0"
            raise ScenarioError(
                f"{by}: {name} has no entry {word}; it has {there if at else 'none'}"
            )
        return int(word)


def is_key(text: str) -> bool:
    """Say whether a text can be the key of a setting: words with dots between them."""
    return all(word.strip() for word in text.split("."))


def _undecoded(said: str, text: str, name: str) -> ScenarioError:
    """Say on which line it is no TOML, in our way."""
    said, _, where = said.partition(" (at ")
    found = re.match(r"line (\d+)", where)
    line = int(found[1]) if found else text.count("\n") + 1
    if said == "Cannot overwrite a value":
        key = text.splitlines()[line - 1].partition("=")[0].strip()
        return ScenarioError(f"{name}:{line}: {key}: is there twice")
    if said == r"Illegal character '\n'":
        said = "text begins with a quote that is not closed on its line"
    if said == "Invalid value":
        said = 'no value of TOML; text stands in quotes, as "download" does'
    twice = re.fullmatch(r"Cannot declare \((.*?),?\) twice", said)
    if twice:
        key = ".".join(word.strip(" '\"") for word in twice[1].split(","))
        return ScenarioError(f"{name}:{line}: {key}: is there twice")
    return ScenarioError(f"{name}:{line}: {said[:1].lower()}{said[1:]}")


def _value(text: str) -> Any:
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return table["value"] if len(table) == 1 else text
