"""Making the runs of chunks, in this process, on a store in a file."""

from __future__ import annotations

import asyncio
import pathlib
import re
from typing import Any

import msgspec
import pytest

from loopworth.comparisons.fleet.chunk import Chunk, Ordered, cut
from loopworth.comparisons.fleet.workshop import Workshop
from loopworth.runs.store import Store
from tests.fleet.hosts import chunk_of, written


@pytest.fixture
def store(tmp_path: pathlib.Path) -> Store:
    return Store(tmp_path / "runs.db")


async def made(store: Store, project: pathlib.Path, chunk: Chunk) -> dict[str, Any]:
    shop = Workshop(store, project, 8)
    try:
        return await shop.make(chunk)
    finally:
        await shop.close()


def test_a_chunk_that_is_made_again_makes_what_is_missing(store: Store, tmp_path: pathlib.Path) -> None:
    """It asks the store first."""
    chunk = chunk_of(store, written(tmp_path, "again", 10))
    part = msgspec.structs.replace(chunk, runs=chunk.runs[:7])
    assert asyncio.run(made(store, tmp_path, part)) == {"made": 7}
    assert asyncio.run(made(store, tmp_path, chunk)) == {"made": 13}
    assert asyncio.run(made(store, tmp_path, chunk)) == {"made": 0}
    assert len(store.shelf().trials(chunk.comparison)) == 20


def test_a_chunk_that_two_make_at_once_is_kept_once(store: Store, tmp_path: pathlib.Path) -> None:
    """Whoever was taken for dead and is not enters nothing twice: one row a run, with one run's effects."""
    chunk = chunk_of(store, written(tmp_path, "twice", 10))

    async def both() -> None:
        await asyncio.gather(made(store, tmp_path, chunk), made(store, tmp_path, chunk))

    asyncio.run(both())
    shelf = store.shelf()
    trials = shelf.trials(chunk.comparison)
    assert len({(one.arm, one.task) for one in trials}) == len(trials) == len(shelf.scores(chunk.comparison)) == 20
    loops = [one.id for one in trials if one.arm == "loop"]
    assert {len(shelf.records(id)) for id in loops} == {3}  # two model calls, and a tool call


def test_a_chunk_of_an_activation_that_is_over_enters_nothing(store: Store, tmp_path: pathlib.Path) -> None:
    """The comparison has been taken up again, by whoever makes what is missing."""
    chunk = chunk_of(store, written(tmp_path, "over", 3))
    store.resume(chunk.comparison)
    asyncio.run(made(store, tmp_path, chunk))
    assert store.shelf().trials(chunk.comparison) == []


def test_a_run_can_be_replayed(store: Store, tmp_path: pathlib.Path) -> None:
    """Its effects are kept, as those of any run."""
    chunk = chunk_of(store, written(tmp_path, "replayed", 1))
    asyncio.run(made(store, tmp_path, chunk))
    [loop] = [one for one in store.shelf().trials(chunk.comparison) if one.arm == "loop"]
    recording = store.shelf().recording(loop.id)
    assert (loop.exit, loop.state, loop.model_calls, loop.right) == ("success", "done", 2, True)
    assert [record.kind for record in recording.records.values()] == ["model", "tool", "model"]


def test_a_worker_without_the_key_of_a_model_refuses_a_chunk(store: Store, tmp_path: pathlib.Path) -> None:
    """Before it makes any of its runs; where the model is named, and what to set there."""
    file = written(tmp_path, "keyless", 3)
    asks = tmp_path / "asks.yaml"
    own = "model: {name: mine, base_url: 'http://127.0.0.1:1', api_key: {env: LOOPWORTH_TEST_UNSET_KEY}}"
    asks.write_text(re.sub(r"(?m)^model: .*(\n  .*)*$", own, asks.read_text("utf-8"), count=1), "utf-8")
    chunk = chunk_of(store, file)
    refused = asyncio.run(made(store, tmp_path, chunk))["refused"]
    assert refused.startswith("a worker lacks what the comparison's models need")
    assert "mine needs a key, and the environment variable LOOPWORTH_TEST_UNSET_KEY is not set" in refused
    assert store.shelf().trials(chunk.comparison) == []


def test_a_chunk_of_other_files_is_refused(store: Store, tmp_path: pathlib.Path) -> None:
    """With their names; one whose file is missing too."""
    chunk = chunk_of(store, written(tmp_path, "files", 3))
    other = msgspec.structs.replace(chunk, files=chunk.files | {"asks.yaml": "0"})
    gone = msgspec.structs.replace(chunk, file="gone.yaml", epoch=2)
    assert asyncio.run(made(store, tmp_path, other)) == {
        "refused": "a worker has other files than the comparison was sent with: asks.yaml"
    }
    away = msgspec.structs.replace(chunk, file=str(written(tmp_path.parent, "away", 1)), epoch=3)
    assert "is not in the project's folder" in asyncio.run(made(store, tmp_path, away))["refused"]
    assert "gone.yaml cannot be read by a worker" in asyncio.run(made(store, tmp_path, gone))["refused"]
    assert asyncio.run(made(store, tmp_path, chunk)) == {"made": 6}


def test_a_chunk_has_the_id_of_what_is_in_it() -> None:
    """The same runs of the same activation are the same chunk; of another activation they are another."""
    chunk = Chunk("c", 1, "", "f.yaml", {}, 1, (Ordered("a", "t", 0, 0, 1),))
    again = msgspec.convert(msgspec.to_builtins(chunk), Chunk)
    assert (again, again.id) == (chunk, chunk.id)
    assert chunk.id.startswith("c:")
    assert msgspec.structs.replace(chunk, epoch=2).id != chunk.id
    assert [list(part) for part in cut(list(range(5)), 2)] == [[0, 1], [2, 3], [4]]
