"""``python -m mptcplab``."""

from mptcplab.cli.main import main

if __name__ == "__main__":
    main()
