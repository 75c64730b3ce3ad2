"""Campaigns by the calendar: visits to real networks, within budgets, for days and weeks."""
