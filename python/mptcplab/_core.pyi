from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Final, Literal, Self, final

from typing_extensions import CapsuleType

__all__ = [
    "SCHEMA",
    "VERSION",
    "CaptureError",
    "Emulator",
    "Error",
    "InternalError",
    "Namespace",
    "Plan",
    "PlanError",
    "Rows",
    "Table",
    "Tables",
    "analyze",
    "columns",
    "cross_traffic_addresses",
    "elements",
    "eras",
    "metrics",
    "policies",
    "queues",
    "rows",
    "settings",
    "simulate",
    "toml_lines",
    "transport_defaults",
]

VERSION: Final[str]
SCHEMA: Final[int]

class Error(Exception): ...
class CaptureError(Error): ...
class InternalError(Error): ...

class PlanError(Error):
    key: tuple[str | int, ...]
    message: str

@final
class Plan:
    def __new__(cls, table: dict[str, Any]) -> Self: ...
    def with_seed(self, seed: int) -> Plan: ...
    def check(self) -> None: ...
    def presence(self) -> list[tuple[int, str, bool]]: ...
    def table(self) -> dict[str, Any]: ...
    def __getnewargs__(self) -> tuple[dict[str, Any]]: ...

@final
class Tables:
    NAMES: Final[list[str]]
    @property
    def complete(self) -> bool: ...
    def table(self, name: str) -> Table: ...
    def rows(
        self, name: str, *, connection: int | None = None, columns: Iterable[str] | None = None
    ) -> Rows: ...
    def only(self, connection: int) -> Tables: ...
    def outcome(self) -> dict[str, Any] | None: ...
    def json(self) -> str: ...
    def print_json(self) -> None: ...
    def write_csv(self, name: str, path: str | PathLike[str]) -> None: ...

@final
class Table:
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...

@final
class Rows:
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __next__(self) -> dict[str, Any]: ...

def analyze(
    paths: Iterable[str | PathLike[str]],
    *,
    bin_seconds: float = 1.0,
    smoothing_seconds: float = 5.0,
    trim_seconds: float = 5.0,
    samples: bool = True,
    one_clock: bool = False,
    directory: str | PathLike[str] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Tables: ...
def columns() -> list[tuple[str, str, list[tuple[str, str, bool, str, str]]]]: ...
def metrics() -> list[dict[str, Any]]: ...
def rows(table: str, rows: str) -> Table: ...
def simulate(
    plan: Plan,
    *,
    client_capture: str | PathLike[str] | None = None,
    server_capture: str | PathLike[str] | None = None,
    full_payload: bool = False,
    bin_seconds: float = 1.0,
    smoothing_seconds: float = 5.0,
    trim_seconds: float = 5.0,
    samples: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Tables: ...
def elements() -> list[dict[str, Any]]: ...
def queues() -> list[dict[str, Any]]: ...
def policies() -> dict[str, list[dict[str, Any]]]: ...
def eras() -> list[tuple[str, str]]: ...
def toml_lines(text: str) -> dict[tuple[str | int, ...], int]: ...
def settings() -> dict[str, list[dict[str, Any]]]: ...
def transport_defaults(era: str = ..., scheduler: str | None = None) -> dict[str, Any]: ...
def cross_traffic_addresses(number: int) -> tuple[str, str]: ...

@final
class Namespace:
    def __new__(cls) -> Self: ...
    def fileno(self) -> int: ...

@final
class Emulator:
    def __new__(
        cls,
        plan: Plan,
        ports: Sequence[tuple[str, str, int, str, str]],
        *,
        devices: Literal["tun", "packet"],
        client_capture: str | PathLike[str] | None,
        server_capture: str | PathLike[str] | None,
        full_payload: bool = False,
        link_log: str | PathLike[str] | None = None,
        ours: Sequence[str] = ...,
    ) -> Self: ...
    def start(self) -> int: ...
    def is_running(self) -> bool: ...
    def connections(self) -> dict[str, list[dict[str, Any]]]: ...
    def stop(self) -> dict[str, Any] | None: ...
