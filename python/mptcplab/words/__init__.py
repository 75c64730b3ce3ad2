"""Figures, subflows, events and runs in the words that people read, on terminal and page alike."""
