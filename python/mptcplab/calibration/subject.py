"""What is calibrated: figures, and how they were measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mptcplab.calibration.target import STEADY, Target
from mptcplab.measurements import SinglePath

# The initial slow-start threshold, 64 KB, is that of UM-CS-2012-022 §IV-A for all that its authors
# measured.
MSS_BYTES = 1400
SSTHRESH_PACKETS = 46
WINDOWS = {"ctu-lte": "64 KiB"}
# Where handshakes of many runs exceed this part of data's RTT, or that of one run all of it, the
# radio has slept before.
AWAKE = 0.8
# What was read off is a window: it is all of the buffer (adv_win_scale of Linux).
ALL_WINDOW = 31
UMASS = ("umass-tr", "umass-up", "imc13")
# The paper's series is not smoothed.
PLAIN_SERIES = ("naist",)


@dataclass(frozen=True)
class Subject:
    """Plain TCP over one path that was measured."""

    name: str
    title: str
    #: What the origin of its profile says.
    origin: dict[str, str]
    technology: str
    direction: str
    targets: tuple[Target, ...]
    #: ``[transfer]``: one or more, of whose figures the mean is taken.
    transfers: tuple[dict[str, Any], ...]
    #: In words, which transfer of captures it is; and the analysis's diagnostics of it.
    taken: str | None = None
    diagnostics: tuple[dict[str, Any], ...] = ()
    #: Whether the run that the captures belong to says what their sender had.
    sender_known: bool = False
    mptcp: dict[str, Any] = field(default_factory=dict)
    tcp: dict[str, Any] = field(default_factory=dict)
    smoothing_s: float = 5.0
    trim_s: float = 5.0
    #: Whether deviations are between runs, so that runs are to differ as much.
    draws: bool = False
    #: Whether the queue grows to a delay and drains after a loss.
    drains: bool = False
    #: Whether a radio of a neighbouring band was beside it.
    interfered: bool = False
    #: Losses that no full queue made, and packets that are lost at once, where that was measured.
    loss_percent: float | None = None
    burst_packets: float | None = None
    #: Round-trip time without a queue: that of a capture's least; of rows, where no handshake was
    #: measured.
    base_rtt_ms: float | None = None
    #: Rate where no throughput was measured, in Mbit/s.
    rate_mbps: float | None = None

    @property
    def is_captured(self) -> bool:
        """Whether it is one transfer, of which every packet is known."""
        return self.loss_percent is not None

    @property
    def awake_rtt_ms(self) -> float:
        """At most so long a radio takes to answer that is awake."""
        return (AWAKE if self.draws else 1.0) * self.value("rtt", 0.0)

    @property
    def late_ms(self) -> float:
        """By how much handshakes of many runs are later than that in the mean."""
        awake_ms = self.awake_rtt_ms if self.draws else 0.0
        return max(0.0, self.value("handshake_rtt", 0.0) - awake_ms) if awake_ms else 0.0

    def target(self, figure: str) -> Target | None:
        """Give the target of a figure, if it has one."""
        return next((one for one in self.targets if one.figure == figure), None)

    def value(self, figure: str, otherwise: float) -> float:
        """Give what a figure is to be."""
        target = self.target(figure)
        return otherwise if target is None else target.value


def of_row(row: SinglePath, spread: str) -> Subject:
    """Give the subject of a row of measurements; ``spread`` is what its deviations are over."""
    direction = row.direction
    lengths: list[dict[str, Any]] = [{"size": size} for size in row.sizes or (row.size,) if size]
    lengths = lengths or [{"duration": row.duration}]
    plain = row.paper in PLAIN_SERIES
    where = ", ".join(filter(None, (row.carrier, row.technology, row.place, row.mobility)))
    return Subject(
        name=profile_name(row.id),
        title=f"{where}: {direction}s",
        origin={"kind": "calibrated", "row": row.id},
        technology=row.technology.split()[0],
        direction=direction,
        targets=tuple(_targets(row, spread)),
        transfers=tuple({"direction": direction, **one} for one in lengths),
        mptcp={"era": "2012"},
        tcp=_tcp(row),
        smoothing_s=1.0 if plain else 5.0,
        trim_s=0.0 if plain else 5.0,
        draws=spread == "runs",
        drains=row.id in DRAINING,
        interfered=row.id in INTERFERED,
        base_rtt_ms=BASE_RTT_MS.get(row.id),
        rate_mbps=RATES_MBPS.get(row.id),
    )


def profile_name(row: str) -> str:
    """Give the name of the profile of a row."""
    return row.lower().replace("/", "-")


# UM-CS-2012-022 §IV-A: with a large window this LTE queues up to 200 ms, and drains at each
# loss.
DRAINING = (
    "umass-tr/II/boston-att-lte-adjusted",
    "umass-tr/IV/boston-att-lte-mobile",
)
# UM-CS-2012-022, table I: of the Wi-Fi networks that were measured alone, this one had a radio of a
# neighbouring band beside it, Sprint's WiMAX at 2495 to 2690 MHz.
INTERFERED = ("umass-tr/II/boston-rcn-wifi",)
# Rows whose variation is not printed (UM-CS-2012-022, §IV-A and figures 2 and 6): the text says
# whether throughput is a saw-tooth, so that it varies by more than TCP may, or by less.
SAW_TOOTH = {
    "umass-tr/II/boston-att-lte": False,
    "umass-tr/II/boston-att-lte-adjusted": False,
    "umass-tr/IV/boston-att-lte-mobile": True,
}
# Where no handshake was measured: that of the same technology's downloads (UM-CS-2012-022, table
# II; of Wi-Fi its home network, RCN), less where the data's RTT leaves no room.
BASE_RTT_MS = {
    "umass-up/1/verizon-lte": 65.0,
    "umass-up/1/verizon-lte-mobile": 68.0,
    "umass-up/1/att-hspa": 92.0,
    "umass-up/1/att-hspa-mobile": 92.0,
    "umass-up/1/verizon-ehrpd": 153.0,
    "umass-up/1/verizon-ehrpd-mobile": 189.0,
    "naist/A/wimax": 158.16,
    "naist/B/wimax": 158.16,
    "imc13/5/wifi": 13.33,
    "imc13/5/att-lte": 40.57,
}
# IMC 2013 prints no throughput of its table 5: Wi-Fi's is assumed; AT&T's, where the fit to its RTT
# begins, is of the order of UM-CS-2012-022, table II.
RATES_MBPS = {"imc13/5/wifi": 20.0, "imc13/5/att-lte": 16.3}


def _targets(row: SinglePath, spread: str) -> list[Target]:
    targets = []
    for figure in ("throughput", "rtt", "handshake_rtt", "loss", "throughput_cv"):
        printed = getattr(row, figure)
        if printed is not None:
            targets.append(Target(figure, printed.mean, printed.sd))
    if spread == "samples" and row.rtt is not None and row.rtt.sd is not None:
        targets.append(Target("rtt_sd", row.rtt.sd))
        if row.throughput is not None and row.throughput.sd is not None:
            targets.append(Target("throughput_cv", row.throughput.sd / row.throughput.mean))
    if (teeth := SAW_TOOTH.get(row.id)) is not None:
        targets.append(Target("throughput_cv", STEADY, below=not teeth, above=teeth))
    for figure in ("rtt", "loss"):
        printed = getattr(row, f"{figure}_by_size")
        if printed:
            mean = sum(one.mean for one in printed) / len(printed)
            below = any(one.below for one in printed)
            targets.append(Target(figure, mean, below=below))
    return targets


def _tcp(row: SinglePath) -> dict[str, Any]:
    tcp: dict[str, Any] = {"congestion_control": row.controller or "reno"}
    if row.paper in UMASS:
        tcp["initial_ssthresh"] = SSTHRESH_PACKETS
    if row.max_uplink_mss is not None:
        tcp["mss"] = f"{min(MSS_BYTES, row.max_uplink_mss)} B"
    window = row.receive_window or WINDOWS.get(row.paper)
    if window is not None:
        tcp |= {
            "receive_buffer": window,
            "max_receive_buffer": window,
            "receive_buffer_tuning": False,
            "adv_win_scale": ALL_WINDOW,
        }
    return tcp
