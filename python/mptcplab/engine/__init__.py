"""Engines: what runs a scenario and leaves a run directory."""
