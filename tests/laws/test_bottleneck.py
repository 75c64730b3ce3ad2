"""experiments/laws/bottleneck.py holds."""

from laws.hold import every_case_of

test_bottleneck = every_case_of("bottleneck")
