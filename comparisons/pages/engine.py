"""The engine that draws the charts: it takes most of a second to start, and nearly none of it is Python's."""

from __future__ import annotations

from threading import Thread

EMPTY = {"data": {"values": []}, "mark": "point"}


def start() -> Thread:
    """Start it beside what goes before the charts; without the extra `report` nothing is started.

    The process waits for the thread at its end, since an engine that is cut off at its start may take it down.
    """
    thread = Thread(target=warm, name="charts")
    thread.start()
    return thread


def warm() -> None:
    try:
        from vl_convert import vegalite_to_svg  # loaded on use: it is an extra
    except ImportError:
        return
    vegalite_to_svg(EMPTY)
