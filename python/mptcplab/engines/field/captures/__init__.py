"""Who captures: a packet socket of ours, dumpcap, or nobody."""
