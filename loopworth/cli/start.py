"""The first thing that runs: it loads the command line, which takes a moment."""

from __future__ import annotations

import gc
import sys

INTERRUPTED = 130  # as in `status`, which loads too much to be imported here


def main() -> None:
    """`loopworth …`. A Ctrl-C is status 130 and no traceback, while the command line is still being loaded too."""
    try:
        # Imported here: it brings the language with it, and most of the time until a command begins is this line's.
        from loopworth.cli.app import main as command

        command()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # the process ends: what a big report left need not be walked once more
