"""The one tool: its result is about 200 bytes, and starts with what the scripted endpoint reads."""

PADDING = "the quick brown fox jumps over the lazy dog; " * 4


def lookup(key: str) -> str:
    """Look up the value stored under a key.

    Args:
        key: the key to look up, such as item-3
    """
    n = key.rpartition("-")[2]
    return f"RES-{n} {key} holds {int(n) * 7919 % 1009}: {PADDING}"
