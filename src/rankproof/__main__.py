"""`python -m rankproof`."""

from rankproof.cli import main

if __name__ == "__main__":
    main()
