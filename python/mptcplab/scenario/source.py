"""Where a scenario comes from: a file, text or a table, with what is set on top of it."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab.messages import said
from mptcplab.reading import read_text
from mptcplab.scenario import library
from mptcplab.scenario.fault import KeyPath, ScenarioError


class Source:
    """Tables as they are written, and where each is written, for messages."""

    def __init__(
        self,
        name: str,
        data: dict[str, Any],
        text: str = "",
        offsets: Mapping[KeyPath, int] | None = None,
        directory: Path | None = None,
    ) -> None:
        self.name = name
        self.data = data
        self.directory = directory or Path()
        self._text = text
        self._offsets = offsets or {}
        #: By whom a value was set, and its key named, where that was not in the text.
        self.set_by: dict[KeyPath, str] = {}
        self.named_by: dict[KeyPath, str] = {}

    @classmethod
    def of_text(cls, text: str, name: str, directory: Path | None = None) -> Source:
        """Read TOML."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise _undecoded(str(error), text, name) from None
        try:
            offsets = _core.toml_offsets(text)
        except ValueError as error:
            # It is stricter, as TOML is: whole numbers have 64 bits.
            offset, what = error.args
            raise ScenarioError(f"{name}:{_position(text, offset)}: {what}") from None
        return cls(name, data, text, offsets, directory)

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

    @classmethod
    def of_library(cls, what: str, name: str) -> Source:
        """Read a link, scenario or campaign that ships."""
        text, file = library.text(what, name), library.file(what, name)
        return cls.of_text(text, f"{name} ({what} that ship)", file.parent)

    def check_schema(self, known: int) -> None:
        """Refuse a version of the schema that is not read here; where none is named, it is 1."""
        version = self.data.get("schema", 1)
        if version is True or version != known:
            what = f"{said(version)} is not known: this mptcplab reads {known}"
            raise self.fault(("schema",), what)

    def fault(self, key_path: KeyPath, what: str) -> ScenarioError:
        """Make the message about a value."""
        key = ".".join(map(str, key_path))
        about = f"{key}: {what}" if key else what
        for known, by in self.set_by.items():
            if key_path[: len(known)] == known:
                return ScenarioError(f"{by}: {about}")
        # One of them may be what does not go with it.
        if self.set_by:
            about += f" (with {' '.join(dict.fromkeys(self.set_by.values()))})"
        return ScenarioError(f"{self.where(key_path)}: {about}")

    def unknown(self, key_path: KeyPath, what: str) -> ScenarioError:
        """Make the message about a key that there is not, where the key is written."""
        for known, by in self.named_by.items():
            # A table may be there for the sake of a key in it alone.
            if key_path[: len(known)] == known or (
                known[: len(key_path)] == key_path and key_path not in self._offsets
            ):
                return ScenarioError(f"{by}: {'.'.join(map(str, key_path))}: {what}")
        return self.fault(key_path, what)

    def where(self, key_path: KeyPath) -> str:
        """Say where a value is written: file, line and column, as far as they are known."""
        for length in range(len(key_path), 0, -1):
            if key_path[:length] in self._offsets:
                return f"{self.name}:{_position(self._text, self._offsets[key_path[:length]])}"
        return self.name

    def copy(self) -> Source:
        """Give another one, to be set otherwise."""
        return Source(
            self.name, copy.deepcopy(self.data), self._text, self._offsets, self.directory
        )


def tables(value: Any, name: str, source: Source) -> list[dict[str, Any]]:
    """Give a list of tables, or refuse what is none."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise source.fault((name,), f"is a list of tables: write [[{name}]]")
    return value


def _undecoded(said: str, text: str, name: str) -> ScenarioError:
    """Say on which line it is no TOML, in our way."""
    said, _, where = said.partition(" (at ")
    found = re.match(r"line (\d+), column (\d+)", where)
    line, column = map(int, found.groups()) if found else _end(text)
    where = f"{name}:{line}:{column}"
    if said == "Cannot overwrite a value":
        key = text.splitlines()[line - 1].partition("=")[0].strip()
        return ScenarioError(f"{where}: {key}: is there twice")
    if said == r"Illegal character '\n'":
        said = "text begins with a quote that is not closed on its line"
    if said == "Invalid value":
        said = 'no value of TOML; text stands in quotes, as "download" does'
    twice = re.fullmatch(r"Cannot declare \((.*?),?\) twice", said)
    if twice:
        key = ".".join(word.strip(" '\"") for word in twice[1].split(","))
        return ScenarioError(f"{where}: {key}: is there twice")
    return ScenarioError(f"{where}: {said[:1].lower()}{said[1:]}")


def _position(text: str, offset: int) -> str:
    """Give line and column, in characters, of what stands so many bytes from the start."""
    line, column = _end(text.encode()[:offset].decode(errors="replace"))
    return f"{line}:{column}"


def _end(text: str) -> tuple[int, int]:
    *before, last = text.split("\n")
    return len(before) + 1, len(last) + 1
