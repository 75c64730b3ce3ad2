"""The papers' measurements as data, and their experiments as campaigns beside them."""
