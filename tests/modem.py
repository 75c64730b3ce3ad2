"""A stand-in for ModemManager, on a bus of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jeepney import HeaderFields, MessageType, new_error, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

BUS = "org.freedesktop.ModemManager1"
MODEM = f"{BUS}.Modem"
SIGNAL = f"{MODEM}.Signal"
BEARER = f"{BUS}.Bearer"
MODEM_PATH, BEARER_PATH = (
    f"/org/freedesktop/ModemManager1/{name}/0" for name in ("Modem", "Bearer")
)
# What it has where a figure is not known (MM_SIGNAL_UNKNOWN).
UNKNOWN = -1.7976931348623157e308


class ModemManager:
    """One modem with LTE and 5G, whose figures stay unknown until it is set up."""

    def __init__(self, interface: str, *, allows: bool = True, rate_s: int = 0) -> None:
        self.interface = interface
        self.allows = allows
        self.rate_s = rate_s
        self.rates: list[int] = []
        self.answers = True

    def properties(self, interface: str) -> dict[str, tuple[str, Any]]:
        """As introspection of ModemManager 1.20 has them."""
        if interface == MODEM:
            return {
                "Ports": ("a(su)", [("cdc-wdm0", 6), (self.interface, 2)]),
                "Bearers": ("ao", [BEARER_PATH]),
                "AccessTechnologies": ("u", 1 << 14 | 1 << 15),
            }
        if interface == BEARER:
            stats = {"uplink-speed": ("t", 50_000_000), "downlink-speed": ("t", 300_000_000)}
            return {"Interface": ("s", self.interface), "Stats": ("a{sv}", stats)}
        known = self.rate_s > 0
        lte = {"rssi": -65.0, "rsrp": -97.0, "rsrq": -11.0, "snr": 12.4}
        nr5g = {"rsrp": -88.0, "rsrq": UNKNOWN, "snr": 17.0}

        def signals(figures: dict[str, float]) -> tuple[str, dict[str, tuple[str, float]]]:
            shown = {key: ("d", value if known else UNKNOWN) for key, value in figures.items()}
            return "a{sv}", shown

        empty = {"rssi": UNKNOWN}
        return {
            "Rate": ("u", self.rate_s),
            "Gsm": signals(empty),
            "Umts": signals(empty | {"ecio": UNKNOWN}),
            "Lte": signals(lte),
            "Nr5g": signals(nr5g),
        }

    def answer(self, interface: str, member: str, body: tuple[Any, ...]) -> tuple[str, Any]:
        """Give the signature and the value of an answer; raises PermissionError."""
        if member == "GetManagedObjects":
            interfaces = {MODEM: self.properties(MODEM), SIGNAL: self.properties(SIGNAL)}
            return "a{oa{sa{sv}}}", {MODEM_PATH: interfaces}
        if member == "GetAll":
            return "a{sv}", self.properties(body[0])
        if member == "GetCellInfo":
            return "aa{sv}", [
                {
                    "serving": ("b", True),
                    "cell-type": ("u", 5),
                    "ci": ("s", "1A2B301"),
                    "earfcn": ("u", 1300),
                },
                {"serving": ("b", False), "cell-type": ("u", 5), "ci": ("s", "0")},
            ]
        if member == "Setup":
            if not self.allows:
                raise PermissionError("not authorized")
            self.rates.append(body[0])
            self.rate_s = body[0]
            return "", None
        raise AssertionError(f"{interface}.{member} is not there")


@contextmanager
def bus(directory: Path) -> Iterator[str]:
    """Give the address of a bus of its own."""
    address = f"unix:path={directory}/bus"
    command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={address}"]
    with subprocess.Popen([*command, "--print-address"], stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        daemon.stdout.readline()
        try:
            yield address
        finally:
            daemon.terminate()


@contextmanager
def served(address: str, modem: ModemManager) -> Iterator[ModemManager]:
    """Have it answer there."""
    connection = open_dbus_connection(address)
    connection.send_and_get_reply(message_bus.RequestName(BUS))
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                message = connection.receive(timeout=0.05)
            except TimeoutError:
                continue
            if message.header.message_type is not MessageType.method_call or not modem.answers:
                continue
            fields = message.header.fields
            try:
                signature, value = modem.answer(
                    fields[HeaderFields.interface], fields[HeaderFields.member], message.body
                )
                reply = new_method_return(message, signature or None, (value,) if signature else ())
            except PermissionError as error:
                name = f"{BUS}.Error.Core.Unauthorized"
                reply = new_error(message, name, "s", (str(error),))
            connection.send(reply)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield modem
    finally:
        over.set()
        thread.join()
        connection.close()


if __name__ == "__main__":
    # Until whoever started it has gone.
    directory = Path(sys.argv[1])
    with bus(directory) as address, served(address, ModemManager(sys.argv[2])):
        (directory / "modem").touch()
        sys.stdin.read()
