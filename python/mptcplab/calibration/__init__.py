"""Calibration: links over which plain TCP shows given figures."""
