"""What helps: each remedy in words, and as settings of a scenario that try it.

A finding recommends what is tried, and what is tried is what it recommends: both come from one
declaration. Those of the analysis's findings are in ``crates/analysis/src/findings/remedies.rs``,
those of findings that need a run here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mptcplab import _core, quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mptcplab.results.comparison import Comparison

    Row = dict[str, Any]

# What acts on several paths, and does nothing where there is one.
SHARED = ("mptcp.scheduler=", "mptcp.path_manager=")
# What a receive buffer grows by.
GROWS = ("tcp.max_receive_buffer=", "tcp.receive_buffer_tuning=")


@dataclass(frozen=True)
class Remedy:
    """Words of a finding, and settings as after ``--set`` that do the same.

    In settings, ``{path}`` stands for the path of the finding's subflow, ``{best}`` for the path
    over which plain TCP is fastest, and ``{other}`` for each other one.
    """

    words: str
    name: str = ""
    settings: tuple[str, ...] = ()
    #: What goes with them: who has the settings without these has the remedy.
    beside: tuple[str, ...] = ()
    #: Why it may give less than half of what was lost, or when; shown where it does.
    limit: str = ""

    def of(self, paths: FindingPaths) -> Remedy | None:
        """Give it with the paths of a finding; None where these are not known."""
        settings: list[str] = []
        for setting in self.settings:
            if "{path}" in setting:
                if paths.own is None:
                    return None
                settings.append(setting.replace("{path}", paths.own))
            elif "{best}" in setting:
                if paths.best is None:
                    return None
                settings.append(setting.replace("{best}", paths.best))
            elif "{other}" in setting:
                if not paths.others:
                    return None
                settings += [setting.replace("{other}", other) for other in paths.others]
            else:
                settings.append(setting)
        return Remedy(self.words, self.name, tuple(settings), self.beside, self.limit)

    @property
    def is_shared(self) -> bool:
        """Whether it acts on several paths at once."""
        return any(setting.startswith(SHARED) for setting in self.settings)


@dataclass(frozen=True)
class FindingPaths:
    """The path that a finding is about, those beside the best one, and that one."""

    own: str | None = None
    others: tuple[str, ...] = ()
    best: str | None = None


MORE_SUBFLOWS = Remedy(
    "raise the limit of subflows at both hosts: ip mptcp limits set subflows 8 add_addr_accepted 8",
    "a limit of 8 subflows",
    ("mptcp.max_subflows=8", "mptcp.max_add_addr_accepted=8"),
)
LARGER_SEND_BUFFER = Remedy(
    "a larger send buffer: net.ipv4.tcp_wmem (its third number), which holds where the program "
    "sets none (SO_SNDBUF)",
    "a send buffer of 16 MB",
    ("tcp.send_buffer=16MB", "tcp.send_buffer_tuning=true"),
)
WHOLE_SEND_BUFFER = Remedy(
    "a send buffer that is large from the start (SO_SNDBUF, net.core.wmem_max): this one never "
    "reached its maximum, since it grows with the congestion windows",
    "a send buffer of 16 MB from the start",
    ("tcp.send_buffer=16MB", "tcp.send_buffer_tuning=false"),
)
# Beside a path that is far slower: what is on that, all that follows waits for.
BESIDE = (
    ", with each far slower path as a backup (ip mptcp endpoint change), or data waits for it",
    " with the other paths as backups",
    ("path.{other}.backup=true",),
)
LARGER_SEND_BUFFER_BESIDE, WHOLE_SEND_BUFFER_BESIDE = (
    Remedy(one.words + BESIDE[0], one.name + BESIDE[1], one.settings + BESIDE[2])
    for one in (LARGER_SEND_BUFFER, WHOLE_SEND_BUFFER)
)
OTHER_AS_BACKUP = Remedy(
    "the other path as a backup (ip mptcp endpoint change)",
    "the other path as a backup",
    ("path.{other}.backup=true",),
)
OTHERS_AS_BACKUPS = Remedy(
    "the other paths as backups (ip mptcp endpoint change)",
    "the other paths as backups",
    ("path.{other}.backup=true",),
)
BEST_AS_REGULAR = Remedy(
    "the best path as a regular one (ip mptcp endpoint change, nobackup)",
    "the best path as a regular one",
    ("path.{best}.backup=false",),
)
OWN = (
    MORE_SUBFLOWS,
    LARGER_SEND_BUFFER,
    WHOLE_SEND_BUFFER,
    LARGER_SEND_BUFFER_BESIDE,
    WHOLE_SEND_BUFFER_BESIDE,
    OTHER_AS_BACKUP,
    OTHERS_AS_BACKUPS,
    BEST_AS_REGULAR,
)


def paths_of(comparison: Comparison, row: Row) -> FindingPaths:
    """Give the path that a finding is about, and the paths but the best one."""
    subflows = comparison.mptcp.tables.rows("subflows", connection=row["connection"])
    own = next((one["path"] for one in subflows if one["subflow"] == row["subflow"]), None)
    best = comparison.best_path
    paths = comparison.mptcp.scenario.get("path", {})
    others = tuple(path for path in paths if path != best) if best else ()
    return FindingPaths(own, others, best)


@cache
def declared() -> dict[str, Remedy]:
    """Give all that are tried, by their words."""
    described, _ = _core.remedies()
    analysed = [
        Remedy(**one | {key: tuple(one[key]) for key in ("settings", "beside")})
        for one in described
    ]
    return {remedy.words: remedy for remedy in (*analysed, *OWN)}


def named(name: str) -> Remedy:
    """Give the first remedy that is called so."""
    return next(remedy for remedy in declared().values() if remedy.name == name)


def said(remedies: Iterable[Remedy | str]) -> str:
    """Give the words of a finding that recommends one or the other of these."""
    _, between = _core.remedies()
    return between.join(one if isinstance(one, str) else one.words for one in remedies)


def recommended(row: Row) -> list[Remedy | str]:
    """Give what a finding recommends, in its order; as words what no setting does."""
    _, between = _core.remedies()
    return [declared().get(words, words) for words in row["remedy"].split(between)]


def triable(row: Row) -> list[Remedy]:
    """Give what of that settings of a scenario do."""
    return [one for one in recommended(row) if isinstance(one, Remedy)]


def is_in_force(remedy: Remedy, scenario: Row) -> bool:
    """Say whether a scenario with all its settings has what a remedy would set, or more."""
    return not lacking(scenario, remedy.settings)


def lacking(scenario: Row, settings: Iterable[str]) -> tuple[str, ...]:
    """Give those of a remedy's settings that a scenario has neither so, nor more of."""
    wanted = tuple(settings)
    tcp = scenario.get("tcp", {})
    fixed = not tcp.get("receive_buffer_tuning", True)
    # A fixed buffer that is as large already need not grow.
    if fixed and any(
        key == "tcp.max_receive_buffer" and has(scenario, f"tcp.receive_buffer={size}")
        for key, _, size in (setting.partition("=") for setting in wanted)
    ):
        wanted = tuple(one for one in wanted if not one.startswith(GROWS))
    size, grows = LARGER_SEND_BUFFER.settings
    if has(scenario, size):
        wanted = tuple(one for one in wanted if one != grows)
    return tuple(setting for setting in wanted if not has(scenario, setting))


def has(scenario: Row, setting: str) -> bool:
    """Say whether a scenario with all its settings has this one, or more of it."""
    key, _, wanted = setting.partition("=")
    value: Any = scenario
    for name in key.split("."):
        if not isinstance(value, dict) or name not in value:
            # A path is no backup unless it says so.
            return wanted == "false"
        value = value[name]
    there = str(value).lower() if isinstance(value, bool) else str(value)
    if "buffer" in key and there[-1:] == "B" and wanted[-1:] == "B":
        return bool(quantity.BYTES.parse(there) >= quantity.BYTES.parse(wanted))
    if key.startswith("mptcp.max_"):
        return int(there) >= int(wanted)
    return there.replace(" ", "") == wanted


def left(row: Row, scenario: Row, paths: FindingPaths, *, several: bool) -> str:
    """Give the words of a finding's remedies but for what is in force already or cannot help.

    ``several`` says that there is more than one path.
    """
    remedies = recommended(row)
    known = [one for one in remedies if isinstance(one, Remedy)]
    if not known:
        return str(row["remedy"])
    resolved = {one: one.of(paths) or one for one in known}
    forced = [one for one in known if is_in_force(resolved[one], scenario)]
    idle = [one for one in known if one.is_shared and not several]
    rest = [one for one in remedies if one not in forced and one not in idle]
    if rest:
        return said(rest)
    return (
        f"what helps against it is in force already: {said(forced)}" if forced else "another path"
    )
