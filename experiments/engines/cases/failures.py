"""Paths that fail, come back, are backups or get another address."""

from __future__ import annotations

from experiments.engines.case import HYSTART, Case, Path, lasting, mptcp, tcp

TWO = (Path(20, 25, 100), Path(8, 60, 150))
BACKUP = (Path(20, 25, 100), Path(8, 60, 150, more="backup = true"))


def _events(*events: tuple[float, str, str]) -> str:
    return "\n".join(
        f'[[timeline]]\nat = "{at:g} s"\npath = "{path}"\nverb = "{verb}"'
        for at, path, verb in events
    )


def _case(
    name: str,
    seconds: float,
    *events: tuple[float, str, str],
    paths: tuple[Path, ...] = TWO,
    cause: str = "",
) -> Case:
    text = mptcp("cubic-linux", lasting(f"{seconds:g} s"), paths, more=_events(*events))
    return Case(name, "failures", text, is_multipath=True, cause=cause)


ONE = tcp(
    "cubic-linux",
    lasting("12 s"),
    TWO[0],
    more=_events((4, "one", "blackout"), (7, "one", "restore")),
)
CASES = (
    _case("first path lost for 5 s", 16, (4, "one", "blackout"), (9, "one", "restore")),
    _case("second path lost for 3 s", 12, (4, "two", "blackout"), (7, "two", "restore")),
    _case("first path lost for good", 12, (4, "one", "blackout")),
    _case(
        "backup after a blackout", 12, (4, "one", "blackout"), (9, "one", "restore"), paths=BACKUP
    ),
    _case(
        "backup after a detach",
        12,
        (4, "one", "detach"),
        (8, "one", "attach"),
        paths=BACKUP,
    ),
    _case("second path detached and back", 12, (4, "two", "detach"), (7, "two", "attach")),
    _case("second path held for 2 s", 12, (4, "two", "hold"), (6, "two", "restore")),
    _case("first path rebound", 12, (4, "one", "rebind")),
    _case("second path rebound", 12, (4, "two", "rebind"), cause=HYSTART),
    _case(
        "both paths lost for 2 s",
        12,
        *((4, path, "blackout") for path in ("one", "two")),
        *((6, path, "restore") for path in ("one", "two")),
    ),
    Case("the only path lost for 3 s", "failures", ONE),
)
