"""Charts of a run over time, and its page."""
