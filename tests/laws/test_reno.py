"""experiments/laws/reno.py holds."""

from laws.hold import every_case_of

test_reno = every_case_of("reno")
