"""What is between two hosts: probes over ordinary sockets, without privileges."""
