"""The kernel engine with this machine's kernel."""
