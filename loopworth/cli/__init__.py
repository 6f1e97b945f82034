"""The command line, one file per group of commands."""

from loopworth.cli.app import main

__all__ = ["main"]
