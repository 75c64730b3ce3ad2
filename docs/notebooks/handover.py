# %% [markdown]
# # Handover
#
# A phone walks out of its Wi-Fi. MPTCP goes on over LTE: without a new connection, and without the
# application noticing more than a pause.

# %%
import mptcplab

comparison = mptcplab.run(
    "path-lost", settings=["transfer.duration=12 s", "timeline.0.at=4 s", "timeline.1.at=7 s"]
)
comparison

# %% [markdown]
# What was on its way over Wi-Fi when it vanished was sent again over LTE (reinjected), after a time-out
# of the path that said nothing:

# %%
lost = comparison.mptcp
lost.events.filter(event="reinjection").select("at_s", "subflow").head(3)

# %% [markdown]
# Until then nothing new was in order. Each such pause is an event; the application sees no more than these:

# %%
longest = lost.transfer["longest_gap_ms"]
assert 100 < longest < 3000
lost.events.filter(event="gap").select("at_s", "duration_ms")

# %% [markdown]
# Plain TCP over Wi-Fi alone stood still for as long as Wi-Fi was gone, and longer: its time-outs doubled.

# %%
comparison.plot("beside")

# %%
wifi = comparison.baselines["wifi"].transfer["longest_gap_ms"]
assert wifi > 2 * longest
wifi, longest
