"""Charts of the radio of each path, where something is known of it."""

from __future__ import annotations

import polars as pl

from mptcplab.charts.columns import definitions, numbers, thin
from mptcplab.charts.run.subject import Subject
from mptcplab.charts.shape import Chart, Series

# What a column is called beside the path.
NAMES = {
    "rsrp_dbm": "RSRP",
    "rssi_dbm": "RSSI",
    "sinr_db": "SINR",
    "rsrq_db": "RSRQ",
    "up_mbps": "",
    "down_mbps": "",
}


def signal(subject: Subject) -> Chart | None:
    """Signal of the radio of each path over time."""
    return _chart(
        subject,
        ("rsrp_dbm", "rssi_dbm"),
        "Signal",
        "dBm",
        "What the radio of each path received, sampled: the power of the reference signals (RSRP) "
        "where it is known, and else the strength over the whole bandwidth (RSSI). The two are not "
        "to be compared: RSSI holds noise and the traffic of others, and is higher.",
    )


def quality(subject: Subject) -> Chart | None:
    """Signal to interference and noise of the radio of each path over time."""
    return _chart(
        subject,
        ("sinr_db", "rsrq_db"),
        "Signal quality",
        "dB",
        "How far the signal of each path's radio was above interference and noise, sampled: SINR "
        "where it is known, otherwise RSRQ. The two cannot be compared with each other.",
    )


def rate(subject: Subject) -> Chart | None:
    """Rate of the radio of each path over time, in the direction of the data."""
    return _chart(
        subject,
        (f"{subject.direction}_mbps",),
        "Rate of the radio",
        "Mbit/s",
        "At which each path's radio sent or was granted to send, in the direction of the data, "
        "sampled: before any overhead, and shared with others.",
        from_zero=True,
    )


def chosen(own: pl.DataFrame, columns: tuple[str, ...]) -> str | None:
    """Give the first of the columns of which something is known."""
    return next((one for one in columns if own[one].null_count() < own.height), None)


def _chart(
    subject: Subject,
    columns: tuple[str, ...],
    title: str,
    unit: str,
    note: str,
    *,
    from_zero: bool = False,
) -> Chart | None:
    series, thinned = [], None
    carried = {row["path"]: row["subflow"] for row in reversed(subject.subflows)}
    radios = during(subject, "radio").group_by("path", "technology", maintain_order=True)
    several = subject.analysis.radio.group_by("path").agg(pl.col("technology").n_unique())
    many = set(several.filter(pl.col("technology") > 1)["path"])
    for (path, technology), own in radios:
        column = chosen(own, columns)
        if column is None:
            continue
        samples, left_out = thin(
            own.drop_nulls(column).with_columns(subflow=pl.col("path")), column
        )
        thinned = thinned or left_out
        parts = (path, technology if path in many else "", NAMES[column])
        series.append(
            Series(
                " ".join(str(part) for part in parts if part),
                "step",
                numbers(samples["at_s"]),
                numbers(samples[column]),
                subflow=carried.get(path),
            )
        )
    if not series:
        return None
    return Chart(
        title,
        note,
        definitions("radio", "path", "source", "at_s", "technology", *columns),
        series=series,
        value=unit,
        from_zero=from_zero,
        thinned=thinned,
    )


def during(subject: Subject, table: str) -> pl.DataFrame:
    """Give the rows of a table from the time that is shown, in the order of time."""
    frame: pl.DataFrame = getattr(subject.analysis, table)
    return frame.filter(pl.col("at_s").is_between(subject.start_s, subject.end_s)).sort("at_ns")
