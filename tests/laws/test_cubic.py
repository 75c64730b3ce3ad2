"""experiments/laws/cubic.py holds."""

from laws.hold import every_case_of

test_cubic = every_case_of("cubic")
