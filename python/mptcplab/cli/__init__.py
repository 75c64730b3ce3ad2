"""The command ``mptcplab``: one file per command, each a thin call."""
