"""Making something big without the garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """While something big is made that has no cycles: the collector would walk it again and again as it grows, and once
    more at the end, were it not put with what is old."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not gc.get_freeze_count():  # else a program froze what is to stay so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
