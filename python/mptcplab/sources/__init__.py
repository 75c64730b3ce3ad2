"""Files of other tools → rows of the same tables that captures give, as far as they tell."""
