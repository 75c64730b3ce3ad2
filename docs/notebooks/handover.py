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
# Until then nothing new was in order: that is the pause that an application sees.

# %%
gap = lost.transfer["longest_gap_ms"], lost.transfer["longest_gap_start_s"]
assert 100 < gap[0] < 3000
assert 3.5 < gap[1] < 5
gap

# %% [markdown]
# Plain TCP over Wi-Fi alone stood still for as long as Wi-Fi was gone, and longer: its time-outs doubled.

# %%
comparison.plot("beside")

# %%
wifi = comparison.baselines["wifi"].transfer["longest_gap_ms"]
assert wifi > 2 * gap[0]
wifi
