"""experiments/laws/buffer.py and schedulers.py hold; they share runs."""

from laws.hold import every_case_of

test_buffer = every_case_of("buffer", "schedulers")
