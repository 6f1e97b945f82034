"""`python -m loopworth`."""

from loopworth.cli import main

if __name__ == "__main__":
    main()
