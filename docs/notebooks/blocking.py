# %% [markdown]
# # Head-of-line blocking
#
# Data that came over the fast path waits for earlier data on the slow one. The receiver has to keep it
# meanwhile. Where its buffer is small, the sender must stop: then two paths give less than one.

# %%
import mptcplab

scenario = {
    "schema": 1,
    "title": "a fast path and a slow one",
    "transfer": {"direction": "download", "size": "8 MB"},
    "path": {
        "wifi": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": "80 kB"},
        "lte": {"rate": "4 Mbit/s", "delay": "150 ms", "queue": "300 kB"},
    },
}
buffers = ["128 kB", "6 MB"]
runs = {
    size: mptcplab.run(
        scenario, settings=[f"tcp.receive_buffer={size}", "tcp.receive_buffer_tuning=false"]
    )
    for size in buffers
}
runs["128 kB"]

# %% [markdown]
# With a large buffer the same paths give more than the best of them:

# %%
gains = {size: run.gain for size, run in runs.items()}
assert gains["128 kB"] < gains["6 MB"]
gains

# %% [markdown]
# How long segments waited for earlier ones, and who held them up:

# %%
runs["6 MB"].plot("out-of-order-delay")

# %%
runs["128 kB"].mptcp.findings.select("kind", "message", "remedy")
