"""HSPA: 3GPP TS 25.214."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.radio.technology import Measure, Retries, Scheme, Technology, rounded

# TS 25.214 table 7D: bits of a transport block, by the channel quality indicator from 1. Tables 7A
# to 7C are the same up to the largest block of their categories. All are sizes of TS 25.321 §9.2.3.
BLOCKS: tuple[int, ...] = (137, 173, 233, 317, 377, 461, 650, 792, 931, 1262)
BLOCKS += (1483, 1742, 2279, 2583, 3319, 3565, 4189, 4664, 5287, 5887)
BLOCKS += (6554, 7168, 9719, 11418, 14411, 17237, 21754, 23370, 24222, 25558)
FIRST_16QAM = 16
# A block in each transmission time interval of 2 ms.
INTERVALS = 500
# TS 25.306 table 5.1g: bits in 2 ms of E-DCH category 6.
UPLINK = 11_484 * INTERVALS


def needs(indicator: int) -> float:
    """Give the least ratio in dB."""
    # Brouwer et al., "Usage of link-level performance indicators for HSDPA network-level
    # simulations in E-UMTS", ISSSTA 2004: indicator = floor(SNR/1.02 + 16.62).
    return rounded((indicator - 16.62) * 1.02)


@dataclass(frozen=True)
class Hspa(Technology):
    """Rates are blocks of which the category and the indicator tell the size."""

    @property
    def unit(self) -> str:
        """Schemes are chosen by the ratio on the high-speed channel."""
        return "dB"

    def schemes(self, channel: str) -> Sequence[Scheme]:
        """Give the indicators that a category can use."""
        return [
            Scheme(
                f"CQI {number} ({'16-QAM' if number >= FIRST_16QAM else 'QPSK'})",
                needs(number),
                bits,
            )
            for number, bits in enumerate(BLOCKS[: self.channels[channel]], 1)
        ]

    def rates(
        self,
        signal: float,
        channel: str,
        streams: int,  # noqa: ARG002 - these categories have one
    ) -> tuple[float, float]:
        """Give both rates; upwards it is the category's."""
        scheme = self.scheme(signal, channel)
        return (scheme.efficiency * INTERVALS, UPLINK) if scheme else (0.0, 0.0)


HSPA = Hspa(
    name="hspa",
    title="HSPA, one carrier of 5 MHz",
    source="3GPP TS 25.214 tables 7A to 7D; SNR by Brouwer et al., ISSSTA 2004",
    measures={
        "sinr": Measure("dB", -30, 40, "of the high-speed channel, Brouwer et al."),
        "rscp": Measure("dBm", -120, -25, "TS 25.133 §9.1.1", used=False),
        "ecno": Measure("dB", -24, 0, "TS 25.133 §9.1.2", used=False),
    },
    # TS 25.306 table 5.1a: the last indicator whose block a category takes.
    channels={"category 6": 22, "category 8": 25, "category 9": 26, "category 10": 30},
    channel="category 10",
    retries=Retries(0.1, 4, 12, 2, source="TS 25.214 §6A.2: 10 % of blocks; a retry is assumed"),
)
