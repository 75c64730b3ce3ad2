"""The other host: ``mptcplab serve``."""
