"""Runs as they lie on the disk: their tables as polars frames, and how they compare."""
