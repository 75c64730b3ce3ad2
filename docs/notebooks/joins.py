# %% [markdown]
# # Joins and middleboxes
#
# MPTCP begins as one TCP connection with an option in its handshake. Further paths join it with
# handshakes of their own. What stands in between may take such options away: then a path is not used,
# or all of it goes on as plain TCP. The transfer itself always works.

# %%
import mptcplab

scenario = {
    "schema": 1,
    "title": "a download over Wi-Fi and LTE",
    "transfer": {"direction": "download", "size": "2 MB"},
    "path": {
        "wifi": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": "100 kB"},
        "lte": {"rate": "10 Mbit/s", "delay": "30 ms", "queue": "100 kB"},
    },
    "run": {"baselines": False},
}


def without_options(name):
    """The same, with something on a path that takes options of MPTCP away."""
    box = {"middleboxes": [{"element": "strip-options"}]}
    paths = {**scenario["path"], name: {**scenario["path"][name], **box}}
    return {**scenario, "path": paths}


plain = mptcplab.run(scenario)
plain.mptcp.subflows.select("subflow", "path", "handshake", "join_time_ms")

# %% [markdown]
# Both paths are there: LTE joined a few round trips after the beginning. Each message stands in the events:

# %%
plain.mptcp.events.filter(event="join_established").select("at_s", "event", "subflow")

# %% [markdown]
# Now options get lost on LTE. Its join is refused, and Wi-Fi carries everything:

# %%
refused = mptcplab.run(without_options("lte"))
assert "refused" in refused.mptcp.subflows["handshake"].to_list()
assert refused.mptcp.outcome["finished"]
refused.mptcp.subflows.select("subflow", "path", "handshake", "handshake_remark")

# %% [markdown]
# And on Wi-Fi, where the connection begins: it is plain TCP from the start.

# %%
fallen = mptcplab.run(without_options("wifi"))
assert fallen.mptcp.connections["fallback"][0] is not None
assert fallen.mptcp.outcome["finished"]
fallen.mptcp.connections.select("mptcp_version", "fallback")
