"""``mptcplab serve --open``: downloads for clients without mptcplab."""
