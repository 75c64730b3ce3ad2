"""Recordings of real networks, as other tools and data sets have them, made into links."""
