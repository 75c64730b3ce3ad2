"""experiments/laws/coupling.py holds."""

from laws.hold import every_case_of

test_coupling = every_case_of("coupling")
