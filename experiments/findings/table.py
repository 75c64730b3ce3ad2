"""What was found beside what was provoked, as tables of docs/findings.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from scipy import stats

from experiments.markdown import table
from mptcplab.results.findings.tries import LONGER_S

Row = dict[str, Any]

RESULTS = Path(__file__).parent / "results.json"
LINUX = Path(__file__).parent / "linux.json"
MODELS = Path(__file__).parent / "models.json"
OUTAGES = Path(__file__).parent / "outages.json"
DRAWN = Path(__file__).parent / "drawn.json"
HARM = Path(__file__).parent / "harm.json"
# What an outage is found as; one in slow start may look like a loss there.
AWAY = {"path_dead", "outage", "timeout_chain"}
# An outage that cost less need not be found.
LEAST_S = 0.5
# Nor need what cost less than this part of the transfer.
WORTH = 0.05
# What may be found beside a kind that is provoked, since the same fault brings it about.
BESIDE = {
    "head_of_line": {"receive_window"},
    # A burst may take the acknowledgements, and the data come: the time-out is for nothing.
    "losses_bursts": {"path_dead", "head_of_line", "reinjection_waste", "spurious_timeouts"},
    "losses_random": {"head_of_line", "tail_losses"},
    # A queue of a few packets ends slow start, too.
    "losses_unclear": {"slow_start_loss"},
    "path_back_unused": {"path_dead", "receive_window", "reinjection_waste", "spurious_timeouts"},
    "outage": {"spurious_timeouts"},
    # Who asks waits. Some of its scenarios have a window too small for their paths, dead or not.
    "path_dead": {"losses_bursts", "reinjection_waste", "application", "receive_window"},
    "timeout_chain": {"application"},
    "path_left_out": {"slower_than_single"},
    "path_slowed": {"losses_queue"},
    "spurious_timeouts": {"outage", "timeout_chain", "path_dead", "reinjection_waste"},
    "window_clamped": {"receive_window"},
    "send_buffer": {"slower_than_single", "head_of_line"},
    "slower_than_single": {"head_of_line", "receive_window", "send_buffer"},
    # What time-outs send over the other path had come at times.
    "tail_losses": {"reinjection_waste"},
}
# No fault, or what the scenario has: a transfer of 0.2 s is short, a queue of 150 ms and more long.
MEANT = {"short": {"short_transfer"}, "bloated": {"bufferbloat"}, "bursty": {"application"}}
# With a backup as far beside it, chance makes MPTCP slower than plain TCP beside it: it is so.
MEANT |= {"far": {"slower_than_single"}}
# They overflow, though mostly nothing tells that it was not chance.
MEANT |= {"tiny queues": {"losses_unclear", "losses_queue"}}
MEANT |= {"asking": {"application"}, "brief": {"short_transfer"}}
MEANT |= {"idle": {"application"}, "little": {"application"}, "steady": {"application"}}
# A cost is right within this factor of the true one.
FACTOR = 1.5
# A remedy gives so much of the cost claimed.
PROMISED = 0.5


def kept() -> list[Row]:
    """Give the runs that were made."""
    rows: list[Row] = json.loads(RESULTS.read_text("utf-8"))
    return rows


def drawn() -> list[Row]:
    """Give those over drawn links."""
    rows: list[Row] = json.loads(DRAWN.read_text("utf-8"))
    return rows


def harm() -> list[Row]:
    """Give those over unlike paths."""
    rows: list[Row] = json.loads(HARM.read_text("utf-8"))
    return rows


def is_right(row: Row) -> bool:
    """Whether the cost claimed for the kind that was provoked is within the factor, or empty."""
    claimed, true = row["found"].get(row["name"]), row["true_cost_s"]
    if claimed is None or true is None:
        return True
    # A minimum may be far below.
    least = 0.0 if row["name"] in row.get("minima", ()) else true / FACTOR
    return bool(true > 0 and least <= claimed <= true * FACTOR)


def promises(row: Row) -> list[tuple[str, Row, float | None]]:
    """Give each remedy that was tried: the kind that recommends it, its gain, and the cost claimed."""
    tried: dict[str, list[Row]] = row.get("tried", {})
    return [(kind, one, row["found"][kind]) for kind, remedies in tried.items() for one in remedies]


def is_kept(one: Row, claimed: float | None, elapsed_s: float) -> bool:
    """Whether a remedy gives half of the cost claimed and more, or says that it does not.

    Where no cost is claimed, none may make it longer. One that says that it gives less may not make it longer by as much as a
    finding is worth, unless it says that, and shortens round trips, or the longest wait. One with which the transfer goes on, and which stopped
    without, has no time.
    """
    gained = one["gained_s"]
    if gained is None:
        return True
    if one.get("limit"):
        return is_harmless(one, elapsed_s)
    return bool(gained > -LONGER_S if claimed is None else gained >= PROMISED * claimed)


def is_harmless(one: Row, elapsed_s: float) -> bool:
    """Whether a remedy makes no transfer longer by as much as a finding is worth, but for what shortens something else and says so."""
    before_ms, after_ms = one.get("rtt_ms") or one.get("wait_ms") or (0, 0)
    return bool(
        one["gained_s"] is None or one["gained_s"] > -worth_s(elapsed_s) or after_ms < before_ms
    )


def worth_s(elapsed_s: float) -> float:
    """Give from when on a time is worth a finding."""
    return max(0.1, min(LEAST_S, WORTH * elapsed_s))


def keeps_promise(row: Row) -> bool:
    """Whether each remedy of what was found does."""
    return all(is_kept(one, claimed, row["elapsed_s"]) for _, one, claimed in promises(row))


def best(remedies: Iterable[Row]) -> float | None:
    """Give what the best of some remedies gains; None where none was tried, or the transfer goes on with one."""
    gains = [one["gained_s"] for one in remedies]
    return None if None in gains else max(gains, default=None)


def wrong(row: Row) -> set[str]:
    """Give the kinds that are found and should not be."""
    meant = {row["name"]} | BESIDE.get(row["name"], set()) if row["provokes"] else None
    return set(row["found"]) - (MEANT.get(row["name"], set()) if meant is None else meant)


def helps(row: Row) -> set[str]:
    """Give the kinds found whose remedy makes a run faster in which nothing was provoked, by as much as a finding is worth."""
    return {
        kind
        for kind in wrong(row)
        if any(
            (one["gained_s"] or 0) >= worth_s(row["elapsed_s"])
            for one in row.get("tried", {}).get(kind, ())
        )
    }


def markdown(part: str = "provoked") -> str:
    """Draw a table by its name."""
    parts = {"provoked": _provoked, "remedies": _remedies, "silent": _silent, "linux": _linux}
    parts |= {"models": _models, "outages": _outages, "drawn": _drawn}
    parts["harm"] = lambda _: _harm(harm())
    parts["drawn_remedies"] = lambda _: _remedies([row for row in drawn() if row["provokes"]])
    return "\n".join(parts[part](kept()))


def _provoked(rows: list[Row]) -> list[str]:
    rows = [row for row in rows if row["provokes"]]
    lines = []
    for kind in sorted({row["name"] for row in rows}):
        own = [row for row in rows if row["name"] == kind]
        hit = [row for row in own if kind in row["found"]]
        costed = [row for row in hit if row["found"][kind] is not None]
        known = [row for row in costed if row["true_cost_s"] is not None]
        costs = ", ".join(f"{row['found'][kind]:.1f} ({row['true_cost_s']:.1f})" for row in known)
        gains = ", ".join(_gains(row) for row in hit if kind in row.get("tried", ()))
        extra = sorted({other for row in own for other in set(row["found"]) - {kind}})
        cells = [f"`{kind}`", f"{len(hit)} of {len(own)}", costs, gains]
        cells.append(
            ", ".join(f"**`{one}`**" if _is_wrong(own, one) else f"`{one}`" for one in extra)
        )
        lines.append(cells)
    heads = ["provoked", "found", "cost claimed (true), s", "remedy gains, s", "also found"]
    return list(table(heads, lines))


def _gains(row: Row) -> str:
    gained = best(row["tried"][row["name"]])
    shown = "goes on" if gained is None else f"{gained:.1f}"
    return shown if keeps_promise(row) else f"**{shown}**"


def _remedies(rows: list[Row]) -> list[str]:
    """What each remedy that a finding recommends gave of what was claimed, over all scenarios that provoke anything."""
    remedies: dict[tuple[str, str], list[tuple[Row, float | None]]] = {}
    broken = set()
    for row in rows:
        for kind, one, claimed in promises(row):
            remedies.setdefault((kind, one["remedy"]), []).append((one, claimed))
            if not is_kept(one, claimed, row["elapsed_s"]):
                broken.add((kind, one["remedy"]))
    lines = []
    for (kind, remedy), tried in sorted(remedies.items()):
        gains = [one["gained_s"] for one, _ in tried if one["gained_s"] is not None]
        costed = [(one, claimed) for one, claimed in tried if claimed is not None]
        enough = [one for one, claimed in costed if (one["gained_s"] or 0) >= PROMISED * claimed]
        cells = [f"`{kind}`", remedy, str(len(tried))]
        cells.append(f"{sum(claimed for _, claimed in costed):.1f}" if costed else "none")
        if gains:
            cells += [f"{sum(gains):.1f}", f"{min(gains):.1f}"]
        else:
            cells += ["it goes on", ""]
        held = f"{len(enough)} of {len(costed)}" if costed else ""
        limit = next((one["limit"] for one, _ in tried if "limit" in one), "")
        if (kind, remedy) in broken:
            held += " **and does not say so**"
        elif limit and len(enough) < len(costed or gains):
            held += f": {limit}" if held else limit
        lines.append([*cells, held])
    heads = ["kind", "remedy", "tried", "claimed, s", "gained, s", "least, s", "half and more"]
    return list(table(heads, lines))


def _harm(rows: list[Row]) -> list[str]:
    """Draw what remedies gain over unlike paths, and how often they make a transfer longer."""
    tried: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for row in rows:
        for kind, one, _ in promises(row):
            if one["gained_s"] is not None:
                key = (row["name"].replace("_", " "), kind, one["remedy"])
                tried.setdefault(key, []).append((one["gained_s"], worth_s(row["elapsed_s"])))
    lines = []
    for (name, kind, remedy), gains in tried.items():
        shorter = sum(gained >= worth for gained, worth in gains)
        longer = sum(gained <= -worth for gained, worth in gains)
        least = min(gained for gained, _ in gains)
        cells = [name, f"`{kind}`", remedy, *map(str, (len(gains), shorter, longer))]
        lines.append([*cells, f"{least:.1f}"])
    heads = ["drawn", "kind", "remedy", "tried", "shorter", "longer", "least gained, s"]
    return list(table(heads, sorted(lines)))


def _is_wrong(rows: list[Row], kind: str) -> bool:
    return any(kind in wrong(row) for row in rows)


def _silent(rows: list[Row]) -> list[str]:
    rows = [row for row in rows if not row["provokes"]]
    lines = []
    for name in sorted({row["name"] for row in rows}):
        own = [row for row in rows if row["name"] == name]
        kinds = set[str]().union(*map(wrong, own))
        lines.append([name, *_found(own), ", ".join(f"`{one}`" for one in sorted(kinds))])
    heads = ["nothing wrong", "runs", "with a finding", "faster with its remedy", "which"]
    return list(table(heads, [*lines, ["all", *_found(rows), ""]]))


def _found(rows: list[Row]) -> list[str]:
    """Count runs, those with a finding, and of these those that a remedy makes faster."""
    return [str(len(rows)), *(str(sum(map(bool, map(of, rows)))) for of in (wrong, helps))]


def _drawn(_: list[Row]) -> list[str]:
    """What was found over drawn links, what was instead, and how often cost and remedy are right."""
    rows = drawn()
    provoked = [row for row in rows if row["provokes"]]
    calm = [row for row in rows if not row["provokes"]]
    lines = []
    for name in dict.fromkeys(row["name"] for row in provoked):
        own = [row for row in provoked if row["name"] == name]
        hit = [row for row in own if name in row["found"]]
        known = [row for row in hit if None not in (row["found"][name], row["true_cost_s"])]
        tried = [row for row in own if promises(row)]
        missed = [_kinds(set(row["found"])) for row in own if name not in row["found"]]
        cells = [f"`{name}`", f"{len(hit)} of {len(own)}", "; ".join(missed)]
        others = set[str]().union(*(wrong(row) for row in hit))
        cells.append(_kinds(others) if others else "")
        lines.append([*cells, _of(known, is_right), _of(tried, keeps_promise)])
    found = sum(row["name"] in row["found"] for row in provoked)
    lines.append(["all", f"{found} of {len(provoked)}", "", "", "", ""])
    for name in sorted({row["name"] for row in calm}):
        own = [row for row in calm if row["name"] == name]
        wrongly = [wrong(row) for row in own if wrong(row)]
        some = "; ".join(map(_kinds, wrongly))
        lines.append([f"nothing wrong, {name}", f"{len(wrongly)} of {len(own)}", "", some, "", ""])
    some = _share(sum(bool(wrong(row)) for row in calm), len(calm))
    lines.append(["nothing wrong, all", some, "", "", "", ""])
    if any("tried" in row for row in calm):
        helped = [helps(row) for row in calm if helps(row)]
        some = f"{len(helped)} of these"
        lines.append(["faster with the remedy", some, "", "; ".join(map(_kinds, helped)), "", ""])
        wrongly = [wrong(row) - helps(row) for row in calm if wrong(row) - helps(row)]
        some = _share(len(wrongly), len(calm))
        lines.append(
            [
                "gains less than a finding is worth",
                some,
                "",
                "; ".join(map(_kinds, wrongly)),
                "",
                "",
            ]
        )
    heads = ["drawn", "found", "missed: found instead", "wrongly found", "cost right"]
    return list(table([*heads, "remedy gives half, or says so"], lines))


def _kinds(kinds: set[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in sorted(kinds)) or "nothing"


def _share(some: int, of: int) -> str:
    """Give how many of them, and how often it may be at 95 % confidence (Clopper and Pearson)."""
    interval = stats.binomtest(some, of).proportion_ci()
    return f"{some} of {of}: {100 * interval.low:.1f} to {100 * interval.high:.1f} %"


def _of(rows: list[Row], holds: Callable[[Row], bool]) -> str:
    return f"{sum(map(holds, rows))} of {len(rows)}" if rows else ""


def _linux(_: list[Row]) -> list[str]:
    rows: list[Row] = json.loads(LINUX.read_text("utf-8"))
    lines = []
    for kind in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == kind]
        there = [row for row in own if row["found"] is not None]
        if not there:
            lines.append([f"`{kind}`", "Linux cannot", "", ""])
            continue
        hit = [row for row in there if kind in row["found"]]
        known = [row for row in hit if None not in (row["found"][kind], row["true_cost_s"])]
        costs = ", ".join(f"{row['found'][kind]:.1f} ({row['true_cost_s']:.1f})" for row in known)
        others = sorted({other for row in there for other in row["found"]} - {kind})
        beside = ", ".join(f"`{other}`" for other in others)
        lines.append([f"`{kind}`", f"{len(hit)} of {len(there)}", costs, beside])
    return list(table(["provoked", "found", "cost claimed (true), s", "also found"], lines))


def _models(_: list[Row]) -> list[str]:
    """How far off models of captures are, and what remedies gain in them."""
    rows: list[Row] = json.loads(MODELS.read_text("utf-8"))
    lines = []
    for kind in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == kind]
        off = ", ".join(f"{100 * row['off']:+.0f}" for row in own)
        held = [row for row in own if row["gained_s"] is not None]
        shown = f"{sum(row['shown'] for row in own)} of {len(own)}"
        gains = ", ".join(
            f"{'≥ ' if row.get('at_least') else ''}{row['gained_s']:.1f} ({row['true_gain_s']:.1f})"
            for row in held
        )
        lines.append([f"`{kind}`", off, shown, f"{len(held)} of {len(own)}", gains])
    heads = ["kind", "off, %", "shown", "concluded from", "gained in the model (really), s"]
    return list(table(heads, lines))


def _outages(_: list[Row]) -> list[str]:
    """How often what an outage is said to cost is right."""
    rows: list[Row] = json.loads(OUTAGES.read_text("utf-8"))
    heads = [
        "outages",
        "runs",
        "right",
        "at least",
        "cost unknown",
        "too high",
        "too low",
        "missed",
    ]
    lines = []
    for name in dict.fromkeys(row["name"] for row in rows):
        told = [judged(row) for row in rows if row["name"] == name]
        lines.append([name, str(len(told)), *(str(told.count(head)) for head in heads[2:])])
    return list(table(heads, lines))


def judged(row: Row) -> str:
    """Judge what all findings of an outage claim together beside what it cost."""
    true_s, claimed = row["true_cost_s"], [cost for cost in row["found"].values() if cost]
    if not claimed:
        if AWAY & set(row["found"]):
            return "cost unknown"
        return "missed" if true_s >= LEAST_S else "right"
    if true_s <= 0 or sum(claimed) > true_s * FACTOR:
        return "too high"
    if sum(claimed) >= true_s / FACTOR:
        return "right"
    return "at least" if AWAY & set(row.get("minima", ())) else "too low"
