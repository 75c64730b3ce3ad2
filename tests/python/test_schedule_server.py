"""Servers that are away when a schedule asks, or refuse what it asks for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mptcplab import Error
from mptcplab.engines.field.engine import Field
from mptcplab.scenario.scenario import load
from serving import serving
from world import SCENARIO, THREE_DAYS, World, scheduled, written


def test_visits_while_the_server_is_away_are_missed(tmp_path: Path) -> None:
    """With the engine itself: nobody is at that port."""
    world = World(tmp_path / "world")
    file = local(tmp_path, f"127.0.0.1:1#{'0' * 64}", "a-token-of-no-server")
    warnings = list[str]()
    campaign = scheduled(world, file, tmp_path / "out", warn=warnings.append)
    # Weeks in which nothing can be measured begin with what to mend.
    assert warnings[0].startswith(
        "lo address: has no address to reach 127.0.0.1 from. To mend it: "
    )
    assert set(campaign.visits["reason"]) == {"away"}
    assert (
        "lte: no connection to 127.0.0.1 port 1 by lo: Connection refused"
        in (campaign.visits["why"][0])
    )
    assert campaign.runs.is_empty()


def local(directory: Path, line: str, token: str, more: str = "") -> Path:
    """Write a campaign for the engine itself, over this host's loopback."""
    (directory / "token").touch(0o600)
    (directory / "token").write_text(token)
    text = THREE_DAYS.replace("networks", "field").replace("visits = 6", "visits = 1")
    file = written(directory, text)
    field = f'[field]\nserver = "{line}"\ntoken = "{directory}/token"\n{more}'
    (directory / "field.toml").write_text(
        SCENARIO.replace("wwan0", "lo").replace("wlan0", "lo") + field
    )
    return file


def test_what_the_server_refuses_is_refused_at_the_start_and_waited_for_later(
    tmp_path: Path,
) -> None:
    """A visit that is tried burns its runs."""
    world, engine = World(tmp_path / "world"), Field()
    with serving(tmp_path) as server:
        other = replace(server.line, fingerprint="0" * 64)
        for line, token, message in (
            (server.line, "a-token-of-no-server", "refuses: wrong token"),
            (other, server.token, f"is another server than {other}: its fingerprint is"),
        ):
            file = local(tmp_path, str(line), token)
            with pytest.raises(Error, match=message):
                scheduled(world, file, tmp_path / "out")
            assert not (tmp_path / "out").exists()
            away = engine.away(load(str(tmp_path / "field.toml"))[1])
            assert set(away) == {"lte", "wifi"}
            assert all(message in why for why in away.values())
        local(tmp_path, str(server.line), server.token)
        assert engine.away(load(str(tmp_path / "field.toml"))[1]) == {}


def test_a_congestion_control_that_cannot_be_chosen_is_refused_at_the_start(tmp_path: Path) -> None:
    file = local(
        tmp_path,
        f"127.0.0.1:1#{'0' * 64}",
        "a-token-of-no-server",
        '[kernel]\ncongestion_control = "mine"\n',
    )
    with pytest.raises(Error, match="congestion control mine: No such file or directory"):
        scheduled(World(tmp_path / "world"), file, tmp_path / "out")
    assert not (tmp_path / "out").exists()
