"""Capturing: by a packet socket of ours, or by dumpcap."""
