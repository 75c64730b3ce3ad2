"""The kernel engine: a scenario with the real MPTCP of Linux, over emulated links."""
