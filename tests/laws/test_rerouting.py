"""experiments/laws/rerouting.py holds."""

from laws.hold import every_case_of

test_rerouting = every_case_of("rerouting")
