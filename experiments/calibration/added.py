"""Fits families that are new to rows, and writes them beside what was tried. ``python -m experiments.calibration.added``.

A family is fitted as rivals are, from its own guess, and weighed by the same criterion with what a link's origin has of the others. One
that stands changes the link: ``refit --row`` fits that row anew.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from experiments.calibration.refit import LINKS
from mptcplab.calibration import choice, rows, start
from mptcplab.calibration.fit import RUNS, balanced_seeds, judged, searched
from mptcplab.calibration.target import rounded
from mptcplab.scenario import library
from mptcplab.scenario.long import written
from mptcplab.writing import write_whole

Row = dict[str, Any]


def main() -> None:
    """Fit what is missing, and write."""
    for name, subject in rows.subjects().items():
        tried = library.table("links", subject.name)["origin"]["families"]
        known = {one["family"] for one in tried}
        models = {model.family.name: model for model in start.models(subject)}
        for family in models.keys() - known:
            seeds = balanced_seeds(models[family], RUNS // choice.RIVAL_PART)
            found = searched(models[family], seeds, choice.RIVAL_TRIES, 1)
            fit = judged(found, balanced_seeds(models[family], RUNS), 1)
            errors = choice.errors(fit, RUNS)
            print(name, family, {key: round(one, 2) for key, one in errors.items()}, flush=True)
            chi_squared = rounded(math.fsum(errors.values()), 4)
            row = {"family": family, "chi_squared": chi_squared, "parameters": len(fit.fitted)}
            tried = [*tried, row | {"figures": len(errors), "misses": fit.missed}]
        if len(tried) > len(known):
            write(subject.name, weighed(tried))


def weighed(tried: list[Row]) -> list[Row]:
    """Weigh what was tried of a printed row."""
    fits = [(one["chi_squared"], one["parameters"]) for one in tried]
    _, weights = choice.criterion(fits, tried[0]["figures"], [0.0] * len(fits))
    found = [
        {"family": one["family"], "weight": rounded(weight, 3), "bic": rounded(bic, 4)}
        | {key: one[key] for key in ("chi_squared", "parameters", "figures", "misses")}
        for one, (bic, weight) in zip(tried, weights, strict=True)
    ]
    return sorted(found, key=lambda one: -one["weight"])


def write(profile: str, tried: list[Row]) -> None:
    """Write what was tried into a link's origin."""
    file = LINKS / f"{profile}.toml"
    text = file.read_text()
    old = text[text.index("families = [") : text.index("\n\n[origin.residuals]")]
    stood = [one["family"] for one in library.table("links", profile)["origin"]["families"]]
    stands = [one["family"] for one in tried if one["weight"] >= choice.LEAST_WEIGHT]
    if new := [one for one in stands if one not in stood]:
        print(f"{profile}: {', '.join(new)} stands: fit the row anew", file=sys.stderr, flush=True)
        return
    write_whole(file, text.replace(old, f"families = {written(tried, apart=True)}").encode())


if __name__ == "__main__":
    main()
