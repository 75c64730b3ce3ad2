"""What Python programs call: a file for each thing that users do; slow modules wait until then."""
