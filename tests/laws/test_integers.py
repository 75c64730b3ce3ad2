"""experiments/laws/integers.py holds."""

from laws.hold import every_case_of

test_integers = every_case_of("integers")
