"""Two measurements side by side: their configurations, then their figures."""
