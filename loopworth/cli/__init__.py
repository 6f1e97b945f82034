"""The command line, one file per group of commands."""

from loopworth.cli.start import main

__all__ = ["main"]
