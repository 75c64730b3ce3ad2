"""experiments/laws/equilibria.py holds."""

from laws.hold import every_case_of

test_equilibria = every_case_of("equilibria", "shares")
