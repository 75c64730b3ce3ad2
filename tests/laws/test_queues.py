"""experiments/laws/queues.py holds."""

from laws.hold import every_case_of

test_queues = every_case_of("queues")
