"""experiments/laws/equilibria.py, formulas.py, coupling.py, integers.py hold; they share runs."""

from laws.hold import every_case_of

test_equilibria = every_case_of("equilibria", "shares", "formulas", "coupling", "integers")
