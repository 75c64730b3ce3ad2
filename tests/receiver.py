"""A stand-in for gpsd, which plays what gpsd 3.22 said."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

# As gpsd 3.22 (Debian 12) answered where gpsfake fed it sentences of NMEA 0183.
HELLO = [
    '{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}',
]
WATCHED = [
    '{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/pts/1","activated":'
    '"2026-11-25T12:19:55.486Z","native":0,"bps":4800,"parity":"N","stopbits":1,"cycle":1.00}]}',
    '{"class":"WATCH","enable":true,"json":true,"nmea":false,"raw":0,"scaled":false,"timing":false,'
    '"split24":false,"pps":false}',
]
FIXES = [
    '{"class":"TPV","device":"/dev/pts/1","mode":1}',
    '{"class":"TPV","device":"/dev/pts/1","mode":3,"lat":50.775300000,"lon":6.083900000,'
    '"altHAE":220.4000,"altMSL":173.5000,"alt":173.5000,"magvar":1.9,"geoidSep":46.900,"eph":17.1}',
    '{"class":"TPV","device":"/dev/pts/1","mode":3,"time":"2026-11-25T12:00:00.000Z","ept":0.005,'
    '"lat":50.775300000,"lon":6.083900000,"altHAE":220.4000,"altMSL":173.5000,"alt":173.5000,'
    '"epv":34.500,"track":64.4000,"magtrack":66.2811,"magvar":1.9,"speed":13.890,'
    '"geoidSep":46.900,"eph":17.100,"sep":34.200}',
    '{"class":"SKY","device":"/dev/pts/1","xdop":0.71,"ydop":0.71,"satellites":[]}',
    '{"class":"TPV","device":"/dev/pts/1","mode":2,"time":"2026-11-25T12:00:01.000Z",'
    '"lat":50.775320000,"lon":6.083930000,"speed":13.890,"eph":17.100}',
]


@contextmanager
def playing(
    lines: Sequence[str] = FIXES, *, every_s: float = 0.05, ends: bool = False, port: int = 0
) -> Iterator[int]:
    """Give the port at which it plays lines to whoever watches; ``ends`` has it hang up then."""
    with socket.create_server(("127.0.0.1", port)) as server:
        over = threading.Event()
        thread = threading.Thread(target=_serve, args=(server, lines, every_s, ends, over))
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            over.set()
            thread.join()


def _serve(
    server: socket.socket,
    lines: Sequence[str],
    every_s: float,
    ends: bool,
    over: threading.Event,
) -> None:
    server.settimeout(0.05)
    while not over.is_set():
        try:
            client, _ = server.accept()
        except TimeoutError:
            continue
        with client:
            try:
                _play(client, lines, every_s, over)
                while not (ends or over.is_set() or _has_gone(client)):
                    continue
            except OSError:
                continue


def _has_gone(client: socket.socket) -> bool:
    client.settimeout(0.05)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False


def _play(
    client: socket.socket, lines: Sequence[str], every_s: float, over: threading.Event
) -> None:
    client.settimeout(5)
    _say(client, HELLO)
    asked = client.recv(1000)
    assert asked.startswith(b"?WATCH=")
    assert json.loads(asked[7:].rstrip(b";\n"))["json"] is True
    _say(client, WATCHED)
    for line in lines:
        if over.is_set():
            return
        # In pieces, as networks may have it.
        for piece in (line[:20], line[20:] + "\r\n"):
            client.sendall(piece.encode())
        time.sleep(every_s)


def _say(client: socket.socket, lines: Sequence[str]) -> None:
    client.sendall("".join(f"{line}\r\n" for line in lines).encode())


if __name__ == "__main__":
    # Until whoever started it has gone.
    with playing(port=int(sys.argv[1])):
        sys.stdin.read()
