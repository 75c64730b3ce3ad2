"""Captures made fit to publish."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from mptcplab import _core, writing
from mptcplab._core import Error


class Anonymised(NamedTuple):
    """What was done to a capture."""

    #: What was written.
    file: Path
    packets: int
    #: Tokens and HMACs that were made anew from the new keys, valid as before.
    remade: int
    #: Tokens and HMACs whose keys no capture holds, or that were wrong before.
    replaced: int
    #: Bytes of payload that were left out.
    payload_bytes: int
    #: Whether the capture ends in the middle of a packet.
    cut: bool


COMPRESSED = (".gz", ".zst")
CAPTURES = (".pcap", ".pcapng", ".cap", ".dmp")
# As much as a key of HMAC-SHA-256 can hold; fewer bytes than the least can be guessed.
SECRET_BYTES = 32
LEAST_SECRET_BYTES = 16


def anonymise(
    captures: Iterable[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    secret: bytes | None = None,
) -> list[Anonymised]:
    """Write captures of one network with other addresses and keys and without payload.

    Args:
        captures: Those of both ends of a transfer, or one per interface, together: what one tells
            of a connection another may need.
        out: The directory that is to hold them, as pcapng, each by its name.
        secret: Bytes that decide what becomes of addresses and keys: the same make the same of the
            same. They are drawn, and forgotten, where none are given.

    Raises:
        CaptureError: A capture cannot be read.
        Error: Something is there already, or cannot be written.
    """
    import secrets

    paths = [Path(capture) for capture in captures]
    directory = Path(out)
    names = [_name(path) for path in paths]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Error(f"two captures would become {directory / name}: give them other names")
        if (directory / name).exists():
            raise Error(f"{directory / name} is there already: choose another directory (--out)")
    if secret is not None and len(secret) < LEAST_SECRET_BYTES:
        raise Error(f"a secret of {len(secret)} bytes can be guessed; {LEAST_SECRET_BYTES} or more")
    writing.check(directory)
    with writing.files(directory) as new:
        counts = _core.anonymise(
            paths, [new / name for name in names], secret or secrets.token_bytes(SECRET_BYTES)
        )
    return [Anonymised(directory / name, *one) for name, one in zip(names, counts, strict=True)]


def _name(path: Path) -> str:
    stem = path
    while stem.suffix in COMPRESSED:
        stem = stem.with_suffix("")
    if stem.suffix in CAPTURES:
        stem = stem.with_suffix("")
    return f"{stem.name}.pcapng"
