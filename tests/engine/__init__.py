"""What runs with this machine's kernel, in real time."""
