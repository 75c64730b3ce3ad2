"""What surrounds a run: the radio of its paths and the position of its client.

Rows are those of the tables ``radio`` and ``positions`` without ``at_s``, which a run gives them.
"""
