"""What runs in a namespace: the transfer over real sockets, and what the kernel says of it."""
