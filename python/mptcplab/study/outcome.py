"""The results of the experiments, as one document: ``results.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mptcplab import _core, measurements
from mptcplab._core import Error
from mptcplab.results import files
from mptcplab.results.record import build
from mptcplab.results.statistics import interval
from mptcplab.study import judging, scoring
from mptcplab.study.experiment import Comparison, Experiment, Extent, Finding
from mptcplab.study.judging import (
    CONTRADICTED,
    DIRECTION,
    FITTED,
    HOLDS,
    UNJUDGED,
    Verdict,
)
from mptcplab.study.links import ORIGINS, origin, profiles, worst
from mptcplab.study.measured import Measured
from mptcplab.writing import write_whole

Table = dict[str, Any]

NAME = "results.json"
FRAME = "results.parquet"
SCHEMA = 1
NEEDED = {"extent", "experiments", "scores", "inconsistent"}
PREDICTED = "predicted"
NAIVE = (scoring.BEST, scoring.SUM, scoring.EQUAL, scoring.ALONE)


def of_experiment(experiment: Experiment, measured: Measured) -> Table:
    """Compare and judge one experiment."""
    links = sorted(set(profiles(measured.tables)))
    campaigns = measured.campaigns.values()
    return {
        "name": experiment.name,
        "title": experiment.title,
        "reproduces": experiment.reproduces,
        "links": {link: origin(link) for link in links},
        "runs": sum(one.runs.height for one in campaigns),
        "failed": sum(one.failures.height for one in campaigns),
        "comparisons": [_compared(one, links) for one in experiment.compare(measured)],
        "findings": [_judged(one, measured, links) for one in experiment.findings],
        "remarks": list(experiment.remarks),
    }


def document(extent: Extent, experiments: list[Table]) -> Table:
    """Put all together, with the scores at the top."""
    papers = measurements.load().papers.values()
    decide([one for table in experiments for one in table["findings"]])
    return {
        "schema": SCHEMA,
        "mptcplab": _core.VERSION,
        "build": build(),
        "extent": asdict(extent) | {"engine": extent.engine.name},
        "scores": scores(experiments),
        "inconsistent": {paper.title: list(paper.inconsistent) for paper in papers},
        "experiments": experiments,
    }


def decide(findings: list[Table]) -> None:
    """Give each finding its verdict: p-values are corrected over all that were judged together."""
    given = [
        Verdict(one["p_holds"], one["p_fails"], one["because"], one["p_sized"]) for one in findings
    ]
    for finding, verdict in zip(findings, judging.corrected(given), strict=True):
        shown = verdict.status
        holds = shown in (HOLDS, DIRECTION)
        finding["shown"] = shown
        finding["p_corrected"] = _rounded(min(verdict.holds, verdict.fails))
        finding["p_sized_corrected"] = _rounded(verdict.sized)
        if finding["assumed"] or finding["unprinted"]:
            finding["status"] = UNJUDGED
        elif finding["against"] and (holds or finding["fitted"]):
            # What does not even hold in direction stays what it is.
            finding["status"] = CONTRADICTED
        else:
            finding["status"] = FITTED if finding["fitted"] and holds else shown


def write(results: Table, out: Path) -> None:
    """Write the document, and its comparisons as a frame."""
    import polars as pl

    text = json.dumps(_rounded(results), indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(out / NAME, text.encode() + b"\n")
    rows = [
        {
            "experiment": one["name"],
            **{key: value for key, value in row.items() if not isinstance(value, dict | list)},
            **{f"log_error_{name.replace(' ', '_')}": row["naive"].get(name) for name in NAIVE},
        }
        for one in results["experiments"]
        for row in one["comparisons"]
    ]
    try:
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(out / FRAME)
    except OSError as error:
        raise Error(f"cannot write {out / FRAME}: {error}") from error


def read(directory: Path) -> Table:
    """Read the document of a study."""
    return files.read_about(directory / NAME, "study", NEEDED, SCHEMA)


def scores(experiments: Iterable[Table]) -> list[Table]:
    """Give the mean log error of each kind of figure, and the skill against each naive predictor.

    Links may be calibrated or transferred: each has scores of its own. What was fitted to is apart,
    and what hangs on an assumed link is in none.
    """
    groups: dict[tuple[str, str, str], list[Table]] = {}
    for row in (row for one in experiments for row in one["comparisons"]):
        if row["log_error"] is not None and row["scored"]:
            use = "fitted" if row["fitted"] else PREDICTED
            groups.setdefault((use, kind(row["what"]), row["origin"]), []).append(row)
    return [
        {"use": use, "kind": what, "origin": origin, **_scored(rows, use)}
        for (use, what, origin), rows in sorted(groups.items(), key=lambda one: _order(*one[0]))
    ]


def kind(what: str) -> str:
    """Say which kind of figure a comparison is of; parts of a connection are apart from it."""
    figure, part, _ = what.partition(" in ")[0].partition(" of ")
    return f"{figure} of a part" if part and figure == "throughput" else figure


def _order(use: str, what: str, origin: str) -> tuple[bool, bool, str, str]:
    """Put predictions first, and of them throughput."""
    return use != PREDICTED, not what.startswith("throughput"), what, origin


def _rounded(value: Any) -> Any:
    """Leave six digits of every number: more would say nothing."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _scored(rows: list[Table], use: str) -> Table:
    errors = [row["log_error"] for row in rows]
    skills = {}
    # What a link was fitted to is no prediction: there is no skill in it.
    for name in NAIVE if use == PREDICTED else ():
        known = [row for row in rows if name in row["naive"]]
        own = [row["log_error"] for row in known]
        value = scoring.skill(own, [row["naive"][name] for row in known])
        if value is not None:
            skills[name] = {"skill": value, "n": len(known)}
    size = [abs(error) for error in errors]
    mean = interval(size)
    return {
        "n": len(rows),
        "mean_absolute_log_error": mean.estimate,
        "low": None if mean.low is None else max(mean.low, 0.0),
        "high": mean.high,
        "mean_log_error": math.fsum(errors) / len(errors),
        "within_10_percent": sum(one <= math.log(1.1) for one in size),
        "within_factor_1_5": sum(one <= math.log(1.5) for one in size),
        "intervals": sum(row["inside"] is not None for row in rows),
        "inside": sum(bool(row["inside"]) for row in rows),
        "skills": skills,
    }


def _compared(one: Comparison, links: list[str]) -> Table:
    found = scoring.score(one.theirs, one.ours, one.naive)
    least_sure = worst(one.links or links)
    today = scoring.score(one.theirs, one.today, {}).mean if one.today else None
    return {
        "row": one.row,
        "what": one.what,
        "unit": one.unit,
        "theirs": one.theirs.mean,
        "theirs_sd": one.theirs.sd,
        "theirs_se": one.theirs.se,
        "below": one.theirs.below,
        "ours": found.mean.estimate,
        "low": found.mean.low,
        "high": found.mean.high,
        "predicted_low": found.range and found.range[0],
        "predicted_high": found.range and found.range[1],
        "inside": found.range and found.range[0] <= one.theirs.mean <= found.range[1],
        "sigma": found.sigma,
        "n": found.mean.n,
        "missing": found.mean.missing,
        "log_error": found.log_error,
        "naive": found.naive,
        "origin": least_sure,
        "scored": one.scored and least_sure != ORIGINS[-1],
        "fitted": one.fitted,
        "beyond": one.beyond,
        "today": today.estimate if today else None,
        "remark": one.remark,
    }


def _judged(one: Finding, measured: Measured, links: list[str]) -> Table:
    hangs_on = links if one.links is None else one.links
    verdict = one.judge(measured)
    assumed = [link for link in hangs_on if origin(link) == ORIGINS[-1]]
    return {
        "paper": one.paper,
        "where": one.where,
        "says": one.says,
        "asked": one.asked,
        "because": verdict.because,
        "p_holds": _rounded(verdict.holds),
        "p_fails": _rounded(verdict.fails),
        "p_sized": _rounded(verdict.sized),
        "fitted": one.fitted,
        "assumed": assumed,
        "unprinted": one.unprinted,
        "against": one.against,
    }
