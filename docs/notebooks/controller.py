# %% [markdown]
# # One congestion controller
#
# A sender does not know what a path can carry. It sends more with every round trip until a packet is
# lost, then less. Here one path of 10 Mbit/s and 40 ms there and back shows how Reno does that, and
# what CUBIC, Linux's own, does otherwise.

# %%
import mptcplab

path = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": "50 kB"}
scenario = {
    "schema": 1,
    "title": "one path of 10 Mbit/s",
    "transfer": {"direction": "download", "duration": "20 s"},
    "path": {"wifi": path},
    "run": {"baselines": False},
}
runs = {
    name: mptcplab.run(scenario, settings=[f"mptcp.congestion_control={name}"])
    for name in ("reno", "cubic-linux")
}

# %% [markdown]
# Reno's window is a saw: up by one packet in every round trip, and down by half after a loss. The
# bytes in flight follow it. What is above the path's own 50 kB (10 Mbit/s × 40 ms) waits in the queue.

# %%
runs["reno"].plot("congestion-window", title="Reno")

# %% [markdown]
# CUBIC goes back to where it last lost quickly, stays near it, and then looks for more.

# %%
runs["cubic-linux"].plot("congestion-window", title="CUBIC")

# %% [markdown]
# The queue holds as much as the path: halving the window never empties the link, so both use nearly
# all of it. Try `"queue": "10 kB"` above: then half a window is less than the path takes.

# %%
rates = {name: run.mptcp.throughput_mbps for name, run in runs.items()}
assert all(8.5 < rate < 10 for rate in rates.values())
rates
