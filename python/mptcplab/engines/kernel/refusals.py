"""What Linux cannot have of a scenario, and the settings with which it runs all the same."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from mptcplab.messages import said
from mptcplab.scenario import endpoint
from mptcplab.scenario.fault import ScenarioError
from mptcplab.scenario.section import show
from mptcplab.scenario.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mptcplab.scenario.scenario import Scenario

# What the client alone decides: an endpoint of ours may do so before Linux's server.
OF_THE_CLIENT = {("mptcp", "path_manager"), ("mptcp", "join")}


@dataclass
class Refusals:
    """All that is refused of a scenario, so that one line can say what makes it run."""

    scenario: Scenario
    _found: dict[str, None] = field(default_factory=dict)
    _settings: dict[str, None] = field(default_factory=dict)
    _is_the_clients: bool = True

    def __post_init__(self) -> None:
        era = self.scenario.mptcp.era
        self._usual, self._theirs = _of_era(endpoint.DEFAULT_ERA), _of_era(era)
        self._is_era = era != endpoint.DEFAULT_ERA
        self.source = f", of era {said(era)}" if self._is_era else ""

    def key(self, section: str, key: str, why: str) -> None:
        """Refuse a key of ``[mptcp]`` or ``[tcp]``: Linux has what is there if it is left out."""
        shown = getattr(self.scenario, section)
        words = f"[{section}] {key}{self.source}: Linux cannot have {said(show(shown)[key])}: {why}"
        is_the_clients = self._is_the_clients and (section, key) in OF_THE_CLIENT
        if self._is_of_era(section, key):
            self.add(words, f"mptcp.era={endpoint.DEFAULT_ERA}")
        else:
            value = self._usual[section][key]
            written = str(value).lower() if isinstance(value, bool) else str(value).replace(" ", "")
            self.add(words, f"{section}.{key}={written}")
        self._is_the_clients = is_the_clients

    def policy(self, key: str, words: str, linux: str) -> None:
        """Refuse what ``[kernel]`` names, or what follows from ``[mptcp]`` if it names nothing."""
        name = getattr(self.scenario.kernel, key)
        if self._is_of_era("mptcp", key) and self._theirs["mptcp"][key] == name:
            self.add(words, f"mptcp.era={endpoint.DEFAULT_ERA}")
        else:
            self.add(words, f"kernel.{key}={linux}")

    def add(self, words: str, *settings: str) -> None:
        """Refuse something, and say what to set instead."""
        self._found[words] = None
        self._settings |= dict.fromkeys(settings)
        self._is_the_clients = False

    def check(self) -> None:
        """Refuse the scenario if anything is refused."""
        if not self._found:
            return
        words, *others = self._found
        more = f" (and {len(others)} more)" if others else ""
        settings = " ".join(f"--set {shlex.quote(one)}" for one in self._settings)
        ours = ", or --set client.stack=mptcplab" if self._is_the_clients else ""
        raise ScenarioError(f"{words}{more}; to run it: {settings}{ours}")

    def _is_of_era(self, section: str, key: str) -> bool:
        """Whether the era has it so, and today's Linux otherwise."""
        if not self._is_era or key not in self._theirs[section]:
            return False
        value = show(getattr(self.scenario, section))[key]
        return bool(value == self._theirs[section][key] != self._usual[section][key])


def _of_era(era: str) -> dict[str, dict[str, Any]]:
    nothing = Source("scenario", {})
    mptcp = endpoint.read_mptcp({"era": era}, nothing)
    return {"mptcp": show(mptcp), "tcp": show(endpoint.read_tcp({}, nothing, mptcp))}
