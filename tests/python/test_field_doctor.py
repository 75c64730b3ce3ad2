"""What the doctor says of a server that is known by its line, over this host's loopback."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mptcplab import doctor_field
from mptcplab.cli.main import main
from mptcplab.engines.field.clock import Offset
from serving import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("doctor")) as made:
        yield made


def said(server: Server, line: object, token: Path) -> dict[str, tuple[str, str]]:
    found = doctor_field(str(line), ["lo"], token=str(token))
    return {check.name: (check.verdict, check.found) for check in found}


def test_fingerprint_token_echoes_and_probes_are_tried(server: Server, tmp_path: Path) -> None:
    token = server.state / "token"
    found = said(server, server.line, token)
    assert found["server"][0] == "fine"
    assert found["lo UDP"] == ("fine", f"port {server.line.port} echoes")
    assert found["lo probes"] == ("fine", f"port {server.line.port + 1} answers")
    found = said(server, replace(server.line, fingerprint="0" * 64), token)
    assert found["server"][0] == "missing"
    assert "is another server than" in found["server"][1]
    wrong = tmp_path / "token"
    wrong.touch(0o600)
    wrong.write_text("a-token-of-no-server")
    found = said(server, server.line, wrong)
    assert found["server"][0] == "missing"
    assert found["server"][1].endswith("refuses: wrong token")


def test_ports_that_are_closed_are_named(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connect = socket.socket.connect

    def closed(sock: socket.socket, address: tuple[str, int]) -> None:
        if address[1] == server.line.port + 1:
            raise TimeoutError("timed out")
        connect(sock, address)

    def nothing(*_: object) -> Offset | None:
        return None

    monkeypatch.setattr(socket.socket, "connect", closed)
    monkeypatch.setattr("mptcplab.engines.field.clock.offset", nothing)
    arguments = ["--interface", "lo", "--token", str(server.state / "token"), "--json"]
    with pytest.raises(SystemExit):
        main(["doctor", "--field", str(server.line), *arguments])
    checks = {one["name"]: one for one in json.loads(capsys.readouterr().out)["checks"]}
    port = server.line.port
    assert checks["lo UDP"]["verdict"] == checks["lo probes"]["verdict"] == "limited"
    assert checks["lo UDP"]["mend"] == f"open port {port} of the server for UDP"
    assert checks["lo probes"]["found"] == f"port {port + 1} is not reached: timed out"
    assert checks["lo probes"]["mend"] == f"open port {port + 1} of the server for TCP"
