"""The host's part of the timeline: paths that come and go. The links' part is the emulator's."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.scenario.scenario import Scenario

Change = tuple[int, str, bool]
# What Linux needs to bring a path, before somebody connects from it.
SETTLE_NS = 20 * 10**6


def changes(scenario: Scenario, baseline: str | None) -> list[Change]:
    """Say when which path is there (or is not), in order; at 0 those that are from the start."""
    paths = scenario.paths if baseline is None else {baseline: scenario.paths[baseline]}
    found = [(0, name, True) for name, path in paths.items() if path.attached]
    own = [event for event in scenario.timeline if event.path in paths]
    gone = [(event.at, event.path) for event in own if event.verb == "detach"]
    found += [(at, path, False) for at, path in gone]
    for event in own:
        if event.verb == "attach":
            done = event.at + int(getattr(event, "takes"))  # noqa: B009
            # One that goes again while it comes does not come.
            if not any(path == event.path and event.at < at < done for at, path in gone):
                found.append((done, event.path, True))
    there = dict.fromkeys(paths, False)
    told = []
    for change in sorted(found, key=lambda change: change[0]):
        _, path, comes = change
        # It goes in vain where it was only about to come.
        if there[path] != comes:
            there[path] = comes
            told.append(change)
    return told
