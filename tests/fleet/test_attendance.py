"""Who is alive, by beats that count up and a clock that is given."""

from __future__ import annotations

import pathlib

import pytest

from loopworth.comparisons.fleet.attendance import Attendance, alive
from loopworth.runs.home import home
from loopworth.runs.store import Store, new_id


class Room:
    """Some workers of one store, and whose chunks were given back."""

    def __init__(self, place: str) -> None:
        home(place).migrate()
        self.store, self.freed = Store(place), list[str]()
        self.name = new_id()

    def worker(self, name: str) -> Attendance:
        one = Attendance(self.store, (f"{self.name}-{name}", "host", 1, "2026-01-01"), self.free, 60)
        one.beat()
        return one

    def free(self, id: str) -> int:
        self.freed.append(id)
        return 1


@pytest.fixture
def room(tmp_path: pathlib.Path) -> Room:
    return Room(str(tmp_path / "runs.db"))


def test_a_worker_whose_beat_stands_still_is_dead(room: Room) -> None:
    """For a minute on the watcher's clock; not one that beats, whatever its own clock says."""
    a, b, c = map(room.worker, "abc")
    assert a.reap(0) == []
    b.beat()
    assert a.reap(59.9) == []
    assert a.reap(60) == [c.id]
    assert room.freed == [c.id]
    assert alive(room.store.shelf()) == [a.id, b.id]
    assert a.reap(119.8) == []
    assert a.reap(119.9) == [b.id]


def test_one_worker_buries_a_dead_one(room: Room) -> None:
    """Two find it dead at once: the second while the first is at it, and after."""
    a, b, c = map(room.worker, "abc")
    a.reap(0)
    b.reap(0)
    late = list[bool]()

    def free(id: str) -> int:
        late.append(b.buried(id))
        return room.free(id)

    a.free = free
    assert [a.buried(c.id), b.buried(c.id), late] == [True, False, [False]]
    assert room.freed == [c.id]


def test_a_worker_that_dies_over_a_burial_is_made_up_for(room: Room) -> None:
    """What it claimed stands still in its turn."""
    a, b, c = map(room.worker, "abc")

    def dies(id: str) -> int:
        raise SystemExit

    a.free = dies
    a.reap(0)
    b.reap(0)
    b.beat()
    with pytest.raises(SystemExit):
        a.reap(60)
    assert b.reap(61) == [a.id]  # what stood still of c has moved
    assert b.reap(120) == []
    assert b.reap(121) == [c.id]
    assert room.freed == [a.id, c.id]


def test_a_worker_that_was_taken_for_dead_comes_back(room: Room) -> None:
    """With its next beat."""
    a, b = map(room.worker, "ab")
    a.reap(0)
    assert a.reap(60) == [b.id]
    b.beat()
    assert alive(room.store.shelf()) == [a.id, b.id]
    a.leave()
    assert alive(room.store.shelf()) == [b.id]
