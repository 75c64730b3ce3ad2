"""``mptcplab serve --open``: downloads for clients that have nothing of ours."""
