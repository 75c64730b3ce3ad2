"""experiments/laws/bbr.py holds."""

from laws.hold import every_case_of

test_bbr = every_case_of("bbr")
