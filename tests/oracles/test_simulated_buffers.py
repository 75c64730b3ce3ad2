"""How much receive buffer two paths need: twice what both bring in a round trip of the slower."""

from __future__ import annotations

from oracles import simulated

# Two paths far apart in their round trips.
RATES = {"fast": 20_000_000, "slow": 5_000_000}
DELAYS_MS = {"fast": 10, "slow": 75}
# 2 · ΣBW · RTTmax (Raiciu et al., NSDI 2012, §4.2): a round trip for what is under way, and one for
# what waits meanwhile for a segment that is sent again.
KNEE_BYTES = 2 * sum(RATES.values()) * 2 * max(DELAYS_MS.values()) // 8 // 1000


def goodputs(parts: tuple[float, ...], receive_buffer: str = "shared") -> list[float]:
    """Give the goodput in Mbit/s with such parts of the buffer that the law asks for."""
    return [_goodput(round(part * KNEE_BYTES), receive_buffer) for part in parts]


def _goodput(buffer_bytes: int, receive_buffer: str) -> float:
    made = {
        "schema": 1,
        "transfer": {"direction": "download", "duration": "30 s"},
        "path": {
            name: {
                "rate": f"{rate} bit/s",
                "delay": f"{DELAYS_MS[name]} ms",
                "queue": "64 kB",
                "loss": "0.02 %",
            }
            for name, rate in RATES.items()
        },
        "mptcp": {"congestion_control": "cubic-linux", "receive_buffer": receive_buffer},
        "tcp": {
            "receive_buffer": f"{buffer_bytes} B",
            "max_receive_buffer": f"{buffer_bytes} B",
            "receive_buffer_tuning": False,
            "adv_win_scale": 31,
        },
    }
    run = simulated.simulate("buffer", simulated.planned(made))
    (throughput,) = run.tables.transfers.filter(direction="down")["throughput_mbps"]
    return float(throughput)


def test_goodput_has_its_knee_at_twice_what_all_paths_bring_in_the_longest_round_trip() -> None:
    tenth, quarter, one, four = goodputs((0.1, 0.25, 1, 4))
    assert tenth < 0.85 * one
    assert tenth < quarter < 1.02 * one
    # Beyond it there is nothing to gain.
    assert abs(four - one) < 0.06 * one
