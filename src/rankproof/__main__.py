"""`rankproof` and `python -m rankproof`: Ctrl-C ends either without a traceback, even while it is loading."""

import sys

try:
    from rankproof.cli import main
except KeyboardInterrupt:
    print(file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    main()
