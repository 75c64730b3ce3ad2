"""Results with what it takes to repeat them, in one file."""
