# %% [markdown]
# # Bufferbloat
#
# A queue keeps a link busy while the sender recovers from a loss. A queue that is much larger than
# that only makes everybody wait: loss-based controllers fill whatever there is.

# %%
import mptcplab

scenario = {
    "schema": 1,
    "title": "a download over LTE",
    "transfer": {"direction": "download", "duration": "15 s"},
    "path": {"lte": {"rate": "10 Mbit/s", "delay": "25 ms", "queue": "60 kB"}},
    "run": {"baselines": False},
}
sizes = ["60 kB", "250 kB", "1 MB"]
runs = {size: mptcplab.run(scenario, settings=[f"path.lte.queue={size}"]) for size in sizes}

# %% [markdown]
# The same throughput, and a round trip that grows with the queue:

# %%
table = {size: (run.mptcp.throughput_mbps, run.mptcp.rtt_ms_mean) for size, run in runs.items()}
throughputs, round_trips = zip(*table.values(), strict=True)
assert max(throughputs) < 1.1 * min(throughputs)
assert round_trips[0] < round_trips[1] < round_trips[2]
assert round_trips[2] > 3 * round_trips[0]
table

# %%
runs["1 MB"].plot("rtt")

# %% [markdown]
# `mptcplab` says so by itself. What would help is a queue that is managed: `codel` in the scenario's
# [elements](../reference/scenario.md), or a controller that watches delay.

# %%
found = runs["250 kB"].mptcp.findings
assert "bufferbloat" in found["kind"].to_list()
found.select("kind", "message", "remedy")
