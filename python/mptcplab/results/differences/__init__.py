"""Two measurements side by side: how they were configured, then what they gave."""
