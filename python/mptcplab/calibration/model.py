"""The link that is fitted: its parameters, and what it is with given ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mptcplab.calibration.target import STEADY, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mptcplab.calibration.families import Family
    from mptcplab.calibration.subject import Subject

    # Parameters by name.
    Parameters = dict[str, float]

BOUNDS = {
    "rate_mbps": (0.02, 2000.0),
    "base_ms": (0.2, 5000.0),
    "promotion_ms": (0.1, 5000.0),
    "queue_ms": (1.0, 10_000.0),
    "burst_percent": (1e-4, 30.0),
    "variation": (0.01, 1.5),
}
# Below it a link without a thing is as good.
NO_BURSTS_PERCENT = 1.01e-4
# Where it was not measured, a burst takes this part of a window: what recovery repairs at once, so
# that loss costs little rate. Few packets at once are independent losses.
BURST_WINDOWS, LEAST_BURST_PACKETS = 1 / 3, 3
# No state of a link is shorter.
LEAST_STATE_MS = 0.1
# So little is none.
LEAST_DELAY_MS = 0.001
PACKET_BYTES, HEADER_BYTES = 1452, 52
PACKET_BITS = PACKET_BYTES * 8
# Handshakes of sleeping radios differ more between runs than delays of awake ones.
MOST_SPREAD, MOST_DELAY_SPREAD = 2.0, 0.3
# The uplink paper (footnote 3) saw as much variation in means of 5 s as of 1 s: they wander slowly.
CORRELATION = {"download": "5 s", "upload": "20 s"}
# The return direction carries ACKs: rates of the order of the uplink paper's.
ACK_MBPS = {"LTE": 5.0, "HSPA+": 1.0, "eHRPD": 0.7, "EV-DO": 0.7, "WiMAX": 1.5, "Mobile": 3.0}
OTHER_ACK_MBPS = 10.0
LEAST_QUEUE_BYTES = 1500
# How long a capacity is there, and then is not, in the mean, in ms: while a scheduler serves this
# one, and then others; while a neighbouring band receives, and then sends.
ON_OFF = {"on-off": (100.0, 100.0), "interfered": (3.085, 1.915)}
# The part of runs before which the radio slept; read off, and not searched.
ASLEEP_SHARE = "asleep"
# As in the link wifi-retries.
RETRIES = {
    "element": "arq",
    "error_ratio": "15 %",
    "round_trip": "1 ms",
    "tries": 7,
    "back_off": "135 us",
    "longest_back_off": "9.2 ms",
}
# Keys of elements that answer for losses.
LOSSES: dict[Any, str] = {"loss": "ratio", "gilbert-elliott-time": "bad_time"}
ACK_QUEUE = {"queue": "drop-tail", "bytes": "100 kB"}


@dataclass(frozen=True)
class Model:
    """The model of a link: its fitted parameters, and its fixed ones."""

    subject: Subject
    family: Family
    start: Parameters
    #: Which of them are fitted, and to which figure.
    fitted: dict[str, str]
    #: By how much losses differ between the runs that it is fitted with.
    loss_spread: float = 0.0

    @property
    def figures(self) -> list[str]:
        """What the search is to meet; there may be more than parameters.

        Of a capture only what is fitted: the rest hangs on where its one slow start ended.
        """
        if self.subject.is_captured:
            return list(self.fitted.values())
        return [one.figure for one in self.subject.targets if not one.is_bound]

    @property
    def searched(self) -> dict[str, str]:
        """Which parameters a search is to find; others are read off."""
        return {name: one for name, one in self.fitted.items() if name in BOUNDS}

    @property
    def varies(self) -> bool:
        """Whether the rate wanders within a run."""
        return self.family.capacity == "wandering" and self.start["variation"] >= STEADY

    def link(self, at: Parameters) -> dict[str, Any]:
        """Give the link with these parameters, as a scenario has it."""
        if ASLEEP_SHARE not in at:
            return self._link(at)
        awake = {name: value for name, value in at.items() if name != "promotion_ms"}
        asleep = {"weight": rounded(at[ASLEEP_SHARE], 3)} | self._link(at)
        return self._link(awake) | {"alternatives": [asleep]}

    def _link(self, at: Parameters) -> dict[str, Any]:
        data, acks = self._data_link(at), self._ack_link(at)
        if self.subject.direction == "download":
            link: dict[str, Any] = {"uplink": acks, "downlink": data}
        else:
            link = {"uplink": data, "downlink": acks}
        asleep = {"shared": "radio"}
        if "promotion_ms" in at:
            promotion = {
                "element": "promotion",
                "takes": f"{rounded(at['promotion_ms'])} ms",
                "idle_after": "10 s",
            }
            link["uplink"].insert(0, promotion | asleep)
            link["downlink"].insert(0, asleep)
        draw = self._draw(link)
        return link | ({"draw": draw} if draw else {})

    def _data_link(self, at: Parameters) -> list[dict[str, Any]]:
        rate = at["rate_mbps"]
        if self.family.queue == "drains":
            limited: dict[str, Any] = {
                "element": "base-station",
                "rate": f"{rounded(rate)} Mbit/s",
                "drain_rate": f"{rounded(3 * rate)} Mbit/s",
                "delay": f"{rounded(at['queue_ms'])} ms",
            }
        elif self.family.capacity in ON_OFF:
            on_ms, off_ms = ON_OFF[self.family.capacity]
            limited = {
                "element": "rate-markov",
                "high": f"{rounded((on_ms + off_ms) / on_ms * rate)} Mbit/s",
                "high_time": f"{on_ms:g} ms",
                "low_time": f"{off_ms:g} ms",
                "queue": _queue(at),
            }
        elif not self.varies:
            limited = {
                "element": "rate",
                "rate": f"{rounded(rate)} Mbit/s",
                "queue": _queue(at),
            }
        else:
            limited = {
                "element": "rate-process",
                "mean": f"{rounded(rate)} Mbit/s",
                "deviation": f"{rounded(rate * at['variation'])} Mbit/s",
                "correlation": CORRELATION[self.subject.direction],
                "floor": f"{rounded(rate / 20)} Mbit/s",
                "queue": _queue(at),
            }
        elements = [limited, *([RETRIES] if self.family.retries else ()), self._delay(at)]
        if at["burst_percent"] <= NO_BURSTS_PERCENT:
            return elements
        if self.family.losses == "single":
            elements.append({"element": "loss", "ratio": f"{rounded(at['burst_percent'])} %"})
        else:
            bad_ms = max(LEAST_STATE_MS, self._burst_packets() * PACKET_BITS / (rate * 1e3))
            good_ms = bad_ms * (100 / at["burst_percent"] - 1)
            burst = {
                "element": "gilbert-elliott-time",
                "good_time": f"{rounded(good_ms)} ms",
                "bad_time": f"{rounded(bad_ms)} ms",
            }
            elements.append(burst)
        return elements

    def _burst_packets(self) -> float:
        if self.subject.burst_packets is not None:
            return max(LEAST_BURST_PACKETS, self.subject.burst_packets)
        mbps = self.subject.value("throughput", self.subject.rate_mbps or 1.0)
        window = mbps * 1e3 * self.subject.value("rtt", 0.0) / PACKET_BITS
        return max(LEAST_BURST_PACKETS, BURST_WINDOWS * window)

    def _ack_link(self, at: Parameters) -> list[dict[str, Any]]:
        technology = self.subject.technology
        if self.subject.direction == "download":
            rate = ACK_MBPS.get(technology, OTHER_ACK_MBPS)
        else:
            rate = 2 * at["rate_mbps"]
        limited = {"element": "rate", "rate": f"{rounded(rate)} Mbit/s", "queue": ACK_QUEUE}
        return [limited, self._delay(at)]

    def _delay(self, at: Parameters) -> dict[str, Any]:
        # Of captures whose clocks differ none may be left.
        one_way_ms = max(at["base_ms"] / 2, LEAST_DELAY_MS)
        return {"element": "delay", "delay": f"{rounded(one_way_ms)} ms"}

    def _draw(self, link: dict[str, Any]) -> dict[str, Any]:
        """Have differ between runs what was seen to."""
        draw: dict[str, Any] = {}
        rates = ("rate", "drain_rate", "mean", "deviation", "floor", "high")
        takes, spreads = self._spreads()
        both = ("uplink", "downlink")
        data = ("downlink" if self.subject.direction == "download" else "uplink",)
        for name, spread, keys, directions in (
            ("rate", takes, rates, data),
            *((name, spread, (key,), both) for name, key, spread in spreads),
        ):
            of = [
                f"{direction}.{number}.{key}"
                for direction in directions
                for number, one in enumerate(link[direction])
                for key in keys
                if key in one
            ]
            if spread and of:
                draw[name] = {"of": of, "spread": rounded(spread, 3)}
        if self.loss_spread:
            draw["loss"] = {"of": lost(link[data[0]], data[0]), "spread": self.loss_spread}
        return draw

    def _spreads(self) -> tuple[float, list[tuple[str, str, float]]]:
        """Give the spread of the rate between runs, then that of others with name and key."""
        throughput = self.subject.target("throughput")
        handshake = self.subject.target("handshake_rtt")
        if throughput is None or throughput.sd is None or not self.subject.draws:
            return 0.0, []
        rate = throughput.sd / throughput.value
        if handshake is None or handshake.sd is None or ASLEEP_SHARE in self.start:
            return rate, []
        if "promotion_ms" in self.start:
            spread = min(MOST_SPREAD, handshake.sd / self.start["promotion_ms"])
            return rate, [("promotion", "takes", spread)]
        return rate, [("delay", "delay", min(MOST_DELAY_SPREAD, handshake.sd / handshake.value))]


def lost(elements: list[dict[str, Any]], direction: str) -> list[str]:
    """Give the keys that answer for losses, as a draw has them."""
    keys = [(number, LOSSES.get(one.get("element"))) for number, one in enumerate(elements)]
    return [f"{direction}.{number}.{key}" for number, key in keys if key]


def _queue(at: Parameters) -> dict[str, Any]:
    room = at["queue_ms"] * at["rate_mbps"] * 1e3 / 8
    return {"queue": "drop-tail", "bytes": f"{max(LEAST_QUEUE_BYTES, round(room))} B"}
