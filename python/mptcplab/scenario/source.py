"""Where a scenario comes from: a file, text or a table, with what is set on top of it."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mptcplab import _core
from mptcplab.messages import quoted
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
            offsets = _core.toml_offsets(text)
        except ValueError as error:
            offset, what = error.args
            raise ScenarioError(f"{name}:{_position(text, offset)}: {what}") from None
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            # It knows TOML 1.0 alone, the other one also 1.1.
            raise ScenarioError(f"{name}: is not valid TOML 1.0: {error}") from None
        return cls(name, data, text, offsets, directory)

    @classmethod
    def of_file(cls, path: Path) -> Source:
        """Read a file."""
        try:
            text = read_text(path)
        except FileNotFoundError:
            raise ScenarioError(
                f"{path}: there is no such file; mptcplab scenarios lists those that ship"
            ) from None
        except IsADirectoryError:
            raise ScenarioError(f"{path}: is a directory; name a file in it") from None
        except OSError as error:
            raise ScenarioError(f"{path}: {error.strerror}") from error
        except UnicodeDecodeError:
            raise ScenarioError(f"{path}: is not text") from None
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
            what = f"{quoted(version)} is not known: this mptcplab reads {known}"
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
        error = ScenarioError(f"{self.where(key_path)}: {about}")
        error.offset = self._offset(key_path) or 0
        return error

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
        offset = self._offset(key_path)
        return self.name if offset is None else f"{self.name}:{_position(self._text, offset)}"

    def _offset(self, key_path: KeyPath) -> int | None:
        """Give how many bytes from the start a value is written, or the table that it is in."""
        known = (self._offsets.get(key_path[:length]) for length in range(len(key_path), 0, -1))
        return next((offset for offset in known if offset is not None), None)

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


def _position(text: str, offset: int) -> str:
    """Give line and column, in characters, of an offset in bytes."""
    *before, last = text.encode()[:offset].decode(errors="replace").split("\n")
    return f"{len(before) + 1}:{len(last) + 1}"
