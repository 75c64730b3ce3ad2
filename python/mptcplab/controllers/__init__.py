"""Congestion controllers as programs that root loads into the kernel, once for everybody."""
