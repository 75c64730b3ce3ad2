"""experiments/laws/misjudging.py holds."""

from laws.hold import every_case_of

test_misjudging = every_case_of("misjudging")
