"""The reference page of families of links: what they are, which each row's link is of, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from radio_states import states

from mptcplab.calibration import rows
from mptcplab.calibration.families import families
from mptcplab.scenario import library
from mptcplab.study.outcome import kind

HEAD = """\
# Families of links

`mptcplab calibrate` [fits](../calibration.md) a link of every family that is admissible for a technology, and weighs them by what plain TCP over the path alone
showed. No number of several paths is read: the links come out the same from a file of measurements without any.
"""
METHOD = """\
## How they are weighed

Errors are logarithms in standard errors: of each mean (that of at least six printed runs and of ours together; no less than 10 %, for loss a factor of 1.5), and of each
printed standard deviation over runs. A capture is one run: it is off by as much as runs over the link differ, and the more they do, the less it speaks for the family (the likelihood has the logarithm
of each standard error). Figures that are off by more than a factor of 20 count as off by 20. A deviation of round-trip times may be one between runs or within
them; the nearer counts. Of deviations, what is small beside a mean tells little: 10 % of it, of losses half, are added to both as squares. Of a bound, what is
beyond it counts, in factors of 1.5.

The criterion is the Bayesian one (BIC, Schwarz 1978): the sum of squared errors, and for each fitted parameter the logarithm of the number of figures. The AIC's correction for
small samples is infinite where there are as many parameters as figures. Where the family that is nearest is off by more than its degrees of freedom (figures less
parameters, at least 1), all errors count as many times less (Burnham and Anderson 2002, §2.5). Weights are exp(−BIC/2), to a sum of 1. Families of a weight of 0.1 and more stand: the
link has them as `alternatives`, and each run draws one by its seed.

The first family is fitted with 12 runs a try, rivals with 4. Rivals that stand are fitted again with 12, from where they are. A search for printed figures ends where their squared errors, in
units of what is near enough, are 0.25 together: much less than a parameter costs in the criterion.

What figures leave open is drawn for each run, too. Rates spread by the printed deviation and by the standard error of the mean throughput, losses by the standard error of their mean, both
as many times more (its square root) as errors count less. Losses of `unfilled-single` spread by no more than twice as much as rates: they alone hold its throughput, which goes with their root
(Mathis et al. 1997). Where it stands, it is fitted again with losses drawn, and weighed by these runs. Deviations of six runs are uncertain themselves: rates spread by as much more as Student's *t* is wider than the normal distribution (1.22, of
nine in ten). Queues are not drawn: shorter ones overflow, so that more would be lost in the mean. Captures are of one run, and nothing is drawn.

## What they leave out

- *Interference that comes with MPTCP*: two radios in one laptop disturb each other while both send, which no single path shows. `interfered-single` is a band that sends whenever Wi-Fi does. It is
  tried where such a radio stood beside Wi-Fi that was measured alone: Sprint's WiMAX at 2495 to 2690 MHz, in Boston. A band that sends now and then is not a family.
- *A radio that sleeps before some runs, and not before others, with times of its own*: how often it slept, how long waking takes and how late an awake one answers are three unknowns of two printed
  numbers. `asleep-bursts` takes the second from literature, which has it of LTE and HSPA+, and the last from the round trips of data; handshakes are as late as it slept often. It is tried where they are
  late, and the deviation of handshakes shows what it is worth. A shorter time would explain that deviation, and has no source ([below](#a-radio-of-two-states)). Other families draw one time for each
  run, with the printed mean and deviation: a radio of two states can be given a time and a share that lead to the same two, so these figures cannot separate them. A capture has one handshake, of which nothing can be told.
- *Other optima*: searches are local, and those of rivals of a row start at the parameters of the first family. From a guess of its own, `steady-bursts` came to weights of 0.18 for AT&T's HSPA+ in Amherst and 0.11 for
  Verizon's eHRPD in Sunderland, where it has 0.046 and next to nothing below.
- *Draws, in the choice*: but for `unfilled-single`, families are weighed before losses and rates are drawn as widely as links have them. In one trial (24 runs, other seeds, no
  new fit) the likeliest family changed in four rows, and barely in a fifth; how much of that is chance was not asked.
- *Other stations on the air*: `retries-single` has the retries of one station. Others would take turns with it, and means and deviations cannot tell that from a capacity that wanders. How many stations sent beside it, or
  how often a frame was sent again, would.
- *Four families, of captures*: `draining-bursts` is what a paper says of one carrier, `asleep-bursts` has times of two technologies, `interfered-single` a neighbour's; a capture names none of them. `retries-single` needs no
  name. A capture does not tell whether there were any: in a trial, of five hidden links without retries that Linux sent over it got weights of 0.12 to 0.75, and of two with them 0.60 and 0.08. Rate, round trip,
  queue and loss were found as well with it as without, but of one simulated link it was the likeliest and showed neither handshake nor loss. So it is not tried.
- *Load that follows the hour*: papers say when they measured, and print no figure by it. [`times-of-day`](study.md) assumes one. What it changed is part of the deviations over runs, by which links are drawn.
- *Peaks and heights of curves*: papers draw some of these paths over time, each a single run whose mean is not printed, and print of two what the best second has. The choice reads whether throughput has a
  saw-tooth, where nothing else says so ([here](../calibration.md#curves-that-papers-draw)); peaks are left to [the study](../study.md), which asks whether links show them.
- *How high an unfilled capacity is*: it is taken for four times what was carried. That a window held the transfer is tried where nothing was lost: in Prague 2.74 Mbit/s with round trips of
  43.25 ms are 14.8 kB in flight.

## Rows
"""
RESULTS = Path(__file__).parent.parent / "experiments/study/results.json"
PREDICTED = """
No link has anything of another paper's row but the propagation delay where no handshake was printed (all of umass-up, naist and imc13). So each score of what links predict over several paths is of a paper held out,
as far as rows go; families and criterion were made with all of them in view. The sections at hand of imc13 print no mean over several paths; those of ctu-lte and naist hang on links that were not measured alone, and are not
scored. By which factor each is off, in the geometric mean, and how many lie in the 90 % interval:

| paper | figure | numbers | off by | inside |
|---|---|---|---|---|
"""
HELD = """
## Does one paper tell of another?

Nothing is learnt across papers: a link depends on its own row alone. This asks whether it should. For each row, the families that rows of the same technology in *other* papers
are of make a guess: it is of families alone, not of what links predict (each counts its weight, and every family 1 beforehand). *Hits*: how often the guess's likeliest family is the row's. *Gain*: how much
likelier the guess makes the row's figures than equal chances do, in nats per row; below 0 it does harm.
"""
Row = dict[str, Any]


def page() -> str:
    """Write the page."""
    links = {row: library.table("links", one.name) for row, one in rows.subjects().items()}
    tried = {row: link["origin"].get("families", []) for row, link in links.items()}
    lines = [HEAD, "| family | is | for | source |", "|---|---|---|---|"]
    for one in families().values():
        of = ", ".join(technology or "captures" for technology in one.of)
        lines.append(f"| `{one.name}` | {one.title} | {of} | {one.source} |")
    lines += ["", METHOD, "| row | families (weight, χ², parameters) | because |", "|---|---|---|"]
    for row, found in tried.items():
        named = ", ".join(
            f"{one['family']} ({one['weight']:.2g}, {one['chi_squared']:.3g}, {one['parameters']})"
            for one in found
        )
        lines.append(f"| `{row}` | {named} | {links[row]['origin'].get('why', '')} |")
    lines += [HELD, "| paper held out | rows | hits | gain |", "|---|---|---|---|"]
    lines += [*held_out(tried), PREDICTED + "\n".join(predicted()), "", "".join(states())]
    return "\n".join([*lines, ""])


def held_out(tried: dict[str, list[Row]]) -> Iterator[str]:
    """Give a line for each paper that shares a technology with others."""
    technology = {row: one.technology for row, one in rows.subjects().items()}
    for paper in dict.fromkeys(map(_paper, tried)):
        gains, hits = [], 0
        for row, found in tried.items():
            others = [
                one
                for other in tried
                if _paper(other) != paper and technology[other] == technology[row]
                for one in tried[other]
            ]
            if _paper(row) != paper or not others or not found:
                continue
            counts = {
                one["family"]: 1
                + math.fsum(each["weight"] for each in others if each["family"] == one["family"])
                for one in found
            }
            total = math.fsum(counts.values())
            guessed = math.fsum(counts[one["family"]] / total * one["weight"] for one in found)
            gains.append(math.log(guessed * len(found)))
            hits += max(counts, key=lambda name: counts[name]) == found[0]["family"]
        if gains:
            mean = math.fsum(gains) / len(gains)
            yield f"| {paper} | {len(gains)} | {hits} | {mean:+.2f} |".replace("-0", "−0")


def predicted() -> Iterator[str]:
    """Give a line for each figure that links of a paper's single paths predict over several."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for one in json.loads(RESULTS.read_text())["experiments"]:
        for row in one["comparisons"]:
            if row["log_error"] is not None and row["scored"] and not row["fitted"]:
                groups.setdefault((_paper(row["row"]), kind(row["what"])), []).append(row)
    for (paper, what), found in sorted(groups.items()):
        off = math.exp(math.fsum(abs(row["log_error"]) for row in found) / len(found))
        inside = sum(bool(row["inside"]) for row in found)
        yield f"| {paper} | {what} | {len(found)} | ×{off:.2f} | {inside} |"


def _paper(row: str) -> str:
    return row.partition("/")[0]
