"""Campaigns: a matrix of scenarios, run in any order on any number of cores, and kept."""
