"""What is there where a run is to go: this very run, or what is not ours to replace."""

from __future__ import annotations

import json
from pathlib import Path

from mptcplab._core import Error
from mptcplab.engines.engine import CAPTURES
from mptcplab.results.run import ABOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def found(target: Path, identity: dict[str, Any], *, force: bool) -> bool:
    """Say whether this very run is there already; refuse to touch what is not ours to replace.

    One of which files are missing or cut does not count: it is to be run again.
    """
    try:
        about = json.loads((target / ABOUT).read_text("utf-8"))
        theirs, known = dict(about["identity"]), dict(about["sizes"])
    except (FileNotFoundError, NotADirectoryError):
        if _is_free(target):
            return False
        raise Error(f"{target} is there and is no run: choose another place (--out)") from None
    except PermissionError as error:
        raise Error(f"cannot read {target}: {error.strerror}") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise Error(f"{target} is there and is no run: choose another place (--out)") from None
    there = sizes(target)
    same = all(there.get(name) == size for name, size in known.items())
    if (force or not same) and (foreign := sorted(there.keys() - known.keys())):
        raise Error(
            f"{target} is to be replaced and holds {foreign[0]}, which is no part of the run: move "
            "it elsewhere"
        )
    if force:
        return False
    differ = [
        key for key, value in identity.items() if key != "captures" and theirs.get(key) != value
    ]
    kept = theirs.get("captures")
    if kept not in CAPTURES or CAPTURES.index(kept) < CAPTURES.index(identity["captures"]):
        differ.append("captures")
    if differ:
        what = " and ".join(differ) + (" differs" if len(differ) == 1 else " differ")
        raise Error(
            f"{target} holds another run (its {what}): choose another place (--out) or replace it "
            "(--force)"
        )
    return same


def sizes(run: Path) -> dict[str, int]:
    """Give the bytes of each file of a run, but for what is about them."""
    files = (path for path in sorted(run.rglob("*")) if path.is_file() and path != run / ABOUT)
    return {str(path.relative_to(run)): path.stat().st_size for path in files}


def _is_free(target: Path) -> bool:
    there = target
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise Error(f"cannot write {target}: {there} is not a directory")
    return there != target or not any(target.iterdir())
