"""The field engine: real networks between this host and one where ``mptcplab serve`` runs."""
