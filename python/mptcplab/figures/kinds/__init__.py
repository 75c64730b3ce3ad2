"""The kinds of figures, one file each: a file that is here is found."""
