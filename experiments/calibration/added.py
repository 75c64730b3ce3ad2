"""Fits families that are new to rows, and writes them beside what was tried. ``python -m experiments.calibration.added``.

A family is fitted as rivals are, from its own guess, and weighed by the same criterion with what a link's origin has of the others. One
that stands changes the link: ``refit --row`` fits that row anew.
"""

from __future__ import annotations

from typing import Any

from experiments.calibration.refit import LINKS
from mptcplab.calibration import choice, rows, start
from mptcplab.calibration.families import families
from mptcplab.calibration.fit import RUNS, Fit, balanced_seeds, judged, searched
from mptcplab.calibration.measure import Measured
from mptcplab.calibration.subject import Subject
from mptcplab.calibration.target import Residual, rounded
from mptcplab.scenario import library
from mptcplab.scenario.long import written
from mptcplab.writing import write_whole

Row = dict[str, Any]


def main() -> None:
    """Fit what is missing, and write."""
    for name, subject in rows.subjects().items():
        origin = library.table("links", subject.name)["origin"]
        tried = origin["families"]
        known = {one["family"] for one in tried}
        models = {model.family.name: model for model in start.models(subject)}
        new: dict[str, choice.Scored] = {}
        for family in models.keys() - known:
            seeds = balanced_seeds(models[family], RUNS // choice.RIVAL_PART)
            found = searched(models[family], seeds, choice.RIVAL_TRIES, 1)
            fit = judged(found, balanced_seeds(models[family], RUNS), 1)
            one = new[family] = choice.Scored(fit, choice.errors(fit, RUNS))
            print(name, family, {key: round(off, 2) for key, off in one.errors.items()}, flush=True)
            row = {"family": family, "chi_squared": rounded(one.chi_squared, 4)}
            row |= {"parameters": len(fit.fitted), "figures": len(one.errors)}
            tried = [*tried, row | {"misses": fit.missed}]
        if new:
            write(subject, origin, weighed(tried), new)


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


def write(subject: Subject, origin: Row, tried: list[Row], new: dict[str, choice.Scored]) -> None:
    """Write what was tried into a link's origin, and why it is the first one."""
    stands = [one["family"] for one in tried if one["weight"] >= choice.LEAST_WEIGHT]
    if changed := [one for one in stands if one in new]:
        print(f"{subject.name}: {', '.join(changed)} stands: fit the row anew", flush=True)
        return
    file = LINKS / f"{subject.name}.toml"
    text = file.read_text()
    old = text[text.index("families = [") : text.index("\n\n[origin.residuals]")]
    text = text.replace(old, f"families = {written(tried, apart=True)}")
    rival = new.get(tried[1]["family"])
    if rival is not None:
        why = choice.Choice([first(subject, origin), rival]).reason
        text = text.replace(f"why = {written(origin['why'])}", f"why = {written(why)}")
    write_whole(file, text.encode())


def first(subject: Subject, origin: Row) -> choice.Scored:
    """Give the first family as its origin has it, without deviations within runs."""
    model = start.of(subject, families()[origin["families"][0]["family"]])
    kept = origin["residuals"]
    found = [
        Residual(one, kept[one.figure].get("shown"), kept[one.figure].get("sd"))
        for one in subject.targets
    ]
    fit = Fit(subject, model.family, model.start, model.fitted, {}, found, Measured([]))
    return choice.Scored(fit, choice.errors(fit, RUNS))


if __name__ == "__main__":
    main()
