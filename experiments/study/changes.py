"""What changed between two results of the study: ``python -m experiments.study.changes BEFORE AFTER``.

Prints scores and verdicts side by side as Markdown, where they differ.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.markdown import table
from mptcplab.study import formatting

Results = dict[str, Any]
Key = tuple[str, str, str, str]


def main() -> None:
    """Read both, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    given = parser.parse_args()
    print("\n".join(changes(*(json.loads(one.read_text()) for one in (given.before, given.after)))))


def changes(before: Results, after: Results) -> Iterator[str]:
    """Give the scores, then the findings whose verdict changed, came or went."""
    yield ""
    yield from table(("of", "mean \\|ln(ours/theirs)\\|, before", "after"), _scores(before, after))
    yield ""
    yield from table(("finding", "before", "after", "because"), _findings(before, after))


def _scores(before: Results, after: Results) -> Iterator[list[str]]:
    old, new = (
        {(one["use"], one["kind"], one["origin"]): one for one in results["scores"]}
        for results in (before, after)
    )
    for key in dict.fromkeys([*new, *old]):
        kind = f"{key[1]}, {formatting.USES[key[0]]}, {key[2]}"
        yield [kind, *(formatting.scored(one[key])[3] if key in one else "–" for one in (old, new))]


def verdicts(before: Results, after: Results) -> dict[Key, tuple[str, str]]:
    """Give the verdict before and after of every finding; empty where it was not asked."""
    old, new = map(_by_key, (before, after))
    return {
        key: (old.get(key, {}).get("status", ""), new.get(key, {}).get("status", ""))
        for key in dict.fromkeys([*new, *old])
    }


def _findings(before: Results, after: Results) -> Iterator[list[str]]:
    new = _by_key(after)
    for key, statuses in verdicts(before, after).items():
        if statuses[0] != statuses[1]:
            because = formatting.found(new[key])[3] if key in new else ""
            yield [key[3], *(one or "–" for one in statuses), because]


def _by_key(results: Results) -> dict[Key, dict[str, Any]]:
    return {
        (one["name"], finding["paper"], finding["where"], finding["says"]): finding
        for one in results["experiments"]
        for finding in one["findings"]
    }


if __name__ == "__main__":
    main()
