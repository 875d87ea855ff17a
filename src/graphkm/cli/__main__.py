"""``python -m graphkm.cli``: the command without its script."""

from .app import main

if __name__ == "__main__":
    main()
