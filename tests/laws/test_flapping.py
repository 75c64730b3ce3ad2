"""experiments/laws/flapping.py holds."""

from laws.hold import every_case_of

test_flapping = every_case_of("flapping")
