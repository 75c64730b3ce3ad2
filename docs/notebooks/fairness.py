# %% [markdown]
# # Coupled congestion control
#
# Two subflows through one bottleneck, each as greedy as a TCP connection, take twice a neighbour's
# share. Coupled controllers (LIA, RFC 6356) take about as much as one connection would.

# %%
import mptcplab

settings = ["transfer.duration=60 s"]
runs = {
    name: mptcplab.run(
        "shared-bottleneck",
        baselines=False,
        settings=[*settings, f"mptcp.congestion_control={name}"],
    )
    for name in ("reno", "lia")
}


def shares(comparison):
    """Throughput of MPTCP, and of the neighbour's plain TCP, in Mbit/s."""
    (neighbour,) = comparison.mptcp.outcome["cross_traffic"]
    theirs = neighbour["bytes"] * 8e-6 / neighbour["active_s"]
    return round(comparison.mptcp.throughput_mbps, 1), round(theirs, 1)


table = {name: shares(run) for name, run in runs.items()}
table

# %% [markdown]
# Uncoupled Reno takes much more than its neighbour; LIA leaves it about half. One run is one draw: the
# comments of the scenario that ships say what twenty seeds gave (`mptcplab scenarios shared-bottleneck`).

# %%
ratio = {name: ours / theirs for name, (ours, theirs) in table.items()}
assert ratio["reno"] > 1.3 * ratio["lia"]
ratio

# %%
runs["lia"].plot("congestion-window")
