"""loopworth: does this feature earn an agent? Define, compare, decide."""

__version__ = "0.1.0"
