"""A SYN as the server got it (``TCP_SAVED_SYN``): IP and TCP headers."""

from __future__ import annotations

from dataclasses import dataclass, field

END, NO_OPERATION, MSS, SCALE, SACK, TIMESTAMPS, MPTCP = 0, 1, 2, 3, 4, 8, 30
KNOWN = {MSS, SCALE, SACK, TIMESTAMPS, MPTCP}
ECE_CWR = 0xC0
HOPS = (32, 64, 128, 255)


@dataclass(frozen=True)
class Syn:
    """What a SYN says."""

    ttl: int
    dscp: int
    ecn: int
    flags: int
    options: dict[int, bytes] = field(default_factory=dict)

    @property
    def mss(self) -> int | None:
        """Maximum segment size."""
        return int.from_bytes(self.options[MSS]) if len(self.options.get(MSS, b"")) == 2 else None

    @property
    def began_with(self) -> int:
        """The time to live that it probably left with: what hosts use, as near as may be."""
        return next(hops for hops in HOPS if self.ttl <= hops)

    @property
    def routers(self) -> int:
        """How many routers decreased it."""
        return self.began_with - self.ttl

    @property
    def asks_for_ecn(self) -> bool:
        """Whether it asks for ECN (RFC 3168 §6.1.1)."""
        return self.flags & ECE_CWR == ECE_CWR

    @property
    def mp_capable(self) -> bool:
        """Whether it has a well-formed MP_CAPABLE (RFC 8684 §3.1): four bytes in version 1."""
        data = self.options.get(MPTCP, b"")
        return len(data) == 2 and data[0] >> 4 == 0

    @property
    def unknown(self) -> list[int]:
        """Kinds of options that no Linux host sends in a SYN of its own accord."""
        return sorted(self.options.keys() - KNOWN)


def parse(raw: bytes) -> Syn:
    """Read the headers. Raises OSError where the server's kernel kept none."""
    if not raw:
        raise OSError("the server's kernel has not kept the SYN")
    if raw[0] >> 4 == 4:
        traffic_class, ttl, at = raw[1], raw[8], (raw[0] & 15) * 4
    else:
        traffic_class, ttl, at = (raw[0] & 15) << 4 | raw[1] >> 4, raw[7], 40
    end = at + (raw[at + 12] >> 4) * 4
    return Syn(
        ttl, traffic_class >> 2, traffic_class & 3, raw[at + 13], _options(raw[at + 20 : end])
    )


def _options(rest: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while rest and rest[0] != END:
        if rest[0] == NO_OPERATION:
            rest = rest[1:]
            continue
        length = rest[1] if len(rest) > 1 else 0
        if not 2 <= length <= len(rest):
            break
        found[rest[0]] = rest[2:length]
        rest = rest[length:]
    return found
