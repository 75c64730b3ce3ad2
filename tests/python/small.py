"""A small scenario over two paths."""

SMALL = """\
schema = 1
title = "something small"

[transfer]
direction = "download"
size = "300 kB"

[path.wifi]
rate = "10 Mbit/s"
delay = "5 ms"
loss = "0.5 %"
queue = "50 kB"

[path.lte]
rate = "8 Mbit/s"
delay = "20 ms"
queue = "100 kB"
"""
