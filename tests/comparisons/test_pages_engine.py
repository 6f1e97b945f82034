"""The engine of the charts, started ahead of them."""

from __future__ import annotations

import sys
import threading

import pytest

from loopworth.comparisons.pages import engine


def test_it_is_ready_when_its_thread_ends(recwarn: pytest.WarningsRecorder) -> None:
    """What is drawn then is drawn as ever, and starting it again changes nothing."""
    vl_convert = pytest.importorskip("vl_convert")
    before = vl_convert.vegalite_to_svg(engine.EMPTY)
    for _ in range(2):
        thread = engine.start()
        thread.join()
    assert not thread.daemon, "a process that ends waits for it"
    assert vl_convert.vegalite_to_svg(engine.EMPTY) == before
    assert not recwarn


def test_without_the_extra_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is where the charts are not installed: nothing is raised in the thread."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    thread = engine.start()
    thread.join()
    assert raised == []
