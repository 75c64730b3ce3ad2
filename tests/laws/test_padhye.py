"""experiments/laws/padhye.py holds."""

from laws.hold import every_case_of

test_padhye = every_case_of("padhye")
