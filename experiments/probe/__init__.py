"""Whether probes find what stands in a path."""
