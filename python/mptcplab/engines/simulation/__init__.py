"""The simulation: a scenario with endpoints of mptcplab in virtual time, over simulated links."""
