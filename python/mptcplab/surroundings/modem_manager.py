"""The radio of a modem, from ModemManager over D-Bus.

Names and units are those of the reference of ``org.freedesktop.ModemManager1``.
"""

from __future__ import annotations

import math

from mptcplab.surroundings import quantities
from mptcplab.surroundings.sampling import PATIENCE_SECONDS, Radio, UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event
    from typing import Any, TypeAlias

    from jeepney.io.blocking import DBusConnection

    Properties: TypeAlias = dict[str, Any]

NAME = "ModemManager"
BUS = "org.freedesktop.ModemManager1"
ROOT = "/org/freedesktop/ModemManager1"
MODEM, SIGNAL, BEARER = (f"{BUS}.{name}" for name in ("Modem", "Modem.Signal", "Bearer"))
# MMModemPortType: the port is a network interface.
NET = 2
# Bits of MMModemAccessTechnology, the newest first.
TECHNOLOGIES = ((15, "5gnr"), (14, "lte"), (9, "hspa+"), (8, "hspa"), (7, "hsupa"), (6, "hsdpa"))
OLDER = ((5, "umts"), (4, "edge"), (3, "gprs"), (1, "gsm"))
# Properties of SIGNAL with figures of a technology.
SIGNALS = {"Nr5g": "5gnr", "Lte": "lte", "Umts": "umts", "Gsm": "gsm"}
FIGURES = {"rsrp": "rsrp_dbm", "rsrq": "rsrq_db", "snr": "sinr_db", "rssi": "rssi_dbm"}
# MMCellType of what GetCellInfo lists.
CELLS = {3: "umts", 2: "gsm", 5: "lte", 6: "5gnr"}
# What it calls the channel, of each.
CHANNELS = {
    "lte": ("earfcn", "EARFCN"),
    "5gnr": ("nrarfcn", "NR-ARFCN"),
    "umts": ("uarfcn", "UARFCN"),
}
MISSING = "jeepney is missing: pip install 'mptcplab[modems]'"


class ModemManager(Radio):
    """Samples the modem behind an interface with ModemManager, periodically."""

    name = NAME

    def follow(self, stop: Event, add: Callable[[dict[str, Any]], None]) -> None:
        """Add rows each time: one for each technology that serves, as LTE and 5G together."""
        try:
            from jeepney import DBusErrorResponse
        except ImportError as error:
            raise UnavailableError(MISSING) from error
        with _Bus() as bus:
            try:
                modem = _modem(bus, self._interface)
                earlier_s = bus.properties(modem, SIGNAL).get("Rate", 0)
                if not earlier_s:
                    # Figures are empty until they are requested.
                    bus.call(modem, SIGNAL, "Setup", "u", max(math.ceil(self._every_s), 1))
                try:
                    while not stop.is_set():
                        for row in self._rows(bus, modem):
                            add({"path": self.path, **row})
                        stop.wait(self._every_s)
                finally:
                    if not earlier_s:
                        bus.call(modem, SIGNAL, "Setup", "u", 0)
            except DBusErrorResponse as error:
                raise UnavailableError(f"ModemManager: {_message(error)}") from error

    def _rows(self, bus: _Bus, modem: str) -> Iterator[dict[str, Any]]:
        about = bus.properties(modem, MODEM)
        signal = bus.properties(modem, SIGNAL)
        rates = _rates(bus, about.get("Bearers", []), self._interface)
        cells = _cells(bus, modem)
        rows = [
            {"technology": technology, **cells.get(technology, {}), **figures, **rates}
            for key, technology in SIGNALS.items()
            if (figures := _figures(signal.get(key, {})))
        ]
        yield from rows or [{"technology": technology(about.get("AccessTechnologies", 0)), **rates}]


def technology(bits: int) -> str | None:
    """Name the newest technology that is in use."""
    return next((name for bit, name in (*TECHNOLOGIES, *OLDER) if bits >> bit & 1), None)


def _figures(properties: Properties) -> dict[str, float]:
    """Give the figures that are known; unknown ones are -DBL_MAX or out of bounds."""
    found = {}
    for key, column in FIGURES.items():
        least, most = quantities.RADIO[column]
        value = properties.get(key, ("d", -math.inf))[1]
        if least <= value <= most:
            found[column] = float(value)
    return found


def _rates(bus: _Bus, bearers: list[str], interface: str) -> dict[str, float]:
    """Give the rates that the network granted (ModemManager 1.20 and later)."""
    for bearer in bearers:
        about = bus.properties(bearer, BEARER)
        if about.get("Interface") == interface:
            stats = about.get("Stats", {})
            columns = {"up_mbps": "uplink-speed", "down_mbps": "downlink-speed"}
            return {column: stats[key][1] / 1e6 for column, key in columns.items() if key in stats}
    return {}


def _cells(bus: _Bus, modem: str) -> dict[str, dict[str, str]]:
    """Give cell and channel of each technology; modems that do not report them have none."""
    from jeepney import DBusErrorResponse

    try:
        (listed,) = bus.call(modem, MODEM, "GetCellInfo")
    except DBusErrorResponse:
        return {}
    found: dict[str, dict[str, str]] = {}
    for cell in listed:
        kind = CELLS.get(cell.get("cell-type", ("u", 0))[1])
        if kind is None or not cell.get("serving", ("b", False))[1]:
            continue
        own = found.setdefault(kind, {})
        if "ci" in cell:
            own["cell"] = str(cell["ci"][1])
        if (channel := CHANNELS.get(kind)) and channel[0] in cell:
            own["band"] = f"{channel[1]} {cell[channel[0]][1]}"
    return found


def _modem(bus: _Bus, interface: str) -> str:
    """Find the modem that an interface belongs to."""
    (objects,) = bus.call(ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    for path, interfaces in objects.items():
        modem = {key: value for key, (_, value) in interfaces.get(MODEM, {}).items()}
        if (interface, NET) in [tuple(port) for port in modem.get("Ports", [])] or any(
            bus.properties(bearer, BEARER).get("Interface") == interface
            for bearer in modem.get("Bearers", [])
        ):
            return str(path)
    raise UnavailableError(f"{interface} is not a wireless LAN, and no modem of ModemManager's")


class _Bus:
    """The system's bus (``DBUS_SYSTEM_BUS_ADDRESS``)."""

    def __enter__(self) -> _Bus:
        from jeepney.auth import AuthenticationError
        from jeepney.io.blocking import open_dbus_connection

        try:
            self._connection: DBusConnection = open_dbus_connection("SYSTEM")
        except OSError as error:
            raise UnavailableError(f"no D-Bus: {error.strerror or error}") from error
        except AuthenticationError as error:
            raise UnavailableError("D-Bus does not take this user for who it is") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def call(
        self, path: str, interface: str, method: str, signature: str = "", *arguments: Any
    ) -> tuple[Any, ...]:
        """Call a method, and return its values."""
        from jeepney import DBusAddress, new_method_call
        from jeepney.wrappers import unwrap_msg

        request = new_method_call(
            DBusAddress(path, BUS, interface), method, signature or None, arguments
        )
        try:
            reply = self._connection.send_and_get_reply(request, timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            raise UnavailableError(
                f"ModemManager does not answer within {PATIENCE_SECONDS:g} s"
            ) from error
        values: tuple[Any, ...] = unwrap_msg(reply)
        return values

    def properties(self, path: str, interface: str) -> Properties:
        """Give all properties of an interface of an object."""
        (found,) = self.call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", interface)
        return {key: value for key, (_, value) in found.items()}


def _message(error: Any) -> str:
    """Give the message of an error, in a line."""
    message = error.data[0] if error.data and isinstance(error.data[0], str) else error.name
    return " ".join(str(message).split())
