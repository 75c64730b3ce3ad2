"""The server's key and certificate, by which it is known, and the token that it asks for."""

from __future__ import annotations

import hashlib
import os
import secrets
import ssl
import subprocess
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.field import server_line

CERTIFICATE = "server.pem"
TOKEN = "token"  # noqa: S105 - the name of a file
# Names and dates in it do not matter: it is known by its fingerprint.
OPENSSL = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 "
    "-subj /CN=mptcplab -batch -keyout - -out -"
)


def token(state: Path) -> str:
    """Read the token, or make one."""
    path = state / TOKEN
    if not path.exists():
        _write(path, secrets.token_urlsafe(32) + "\n")
    return server_line.token(str(path))


def context(state: Path) -> tuple[ssl.SSLContext, str]:
    """Give the TLS context and the fingerprint; key and certificate are made once."""
    path = state / CERTIFICATE
    if not path.exists():
        _write(path, _new_certificate())
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_3
    # No tickets: a connection that is not authenticated leaves no state behind.
    tls.num_tickets = 0
    try:
        tls.load_cert_chain(path)
        text = path.read_text("ascii")
        der = ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE-----") :])
    except (OSError, ValueError) as error:
        raise Error(f"{path}: cannot be read as key and certificate: {error}") from None
    return tls, hashlib.sha256(der).hexdigest()


def _new_certificate() -> str:
    try:
        done = subprocess.run(OPENSSL.split(), capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError:
        raise Error("the server's key is made by openssl: apt install openssl") from None
    if done.returncode:
        raise Error(f"openssl makes no key: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def _write(path: Path, text: str) -> None:
    """Write a file that only this user may read."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(file, "w", encoding="utf-8") as new:  # noqa: PTH123 - it is open already
            new.write(text)
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None
