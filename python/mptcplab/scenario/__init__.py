"""Scenarios: what runs, over which paths, what happens meanwhile. The schema, and what ships."""
