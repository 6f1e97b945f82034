"""A comparison on two workers of one Postgres."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import pathlib
import pickle
import time
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

from loopworth.comparisons.comparison import load
from loopworth.comparisons.execution import compare
from loopworth.comparisons.progress import Progress
from loopworth.comparisons.result import Result
from loopworth.runs.database import StoreFault
from loopworth.runs.home import home
from loopworth.runs.shelf import Shelf
from tests.fleet.hosts import KEYED, Host, Sent, asking, fleet, runs_done, written
from tests.fleet.sameness import timeless, told
from tests.fleet.turnstile import PATIENCE, Turnstile, first, questions

ACTIVE = ["PENDING", "ENQUEUED", "DELAYED"]
UNDER_WAY = 16
"""Runs that two workers have under way at an endpoint of as many calls."""


def of_comparison(store: str, id: str, status: list[str]) -> list[str]:
    """The chunks of a comparison that are in one of these states."""
    from loopworth.comparisons.fleet.engine import Queue

    with closing(Queue(home(store))) as queue:
        found = queue.client.list_workflows(workflow_id_prefix=f"{id}:", status=status, load_input=False)
        return [one.workflow_id for one in found]


def test_two_workers_find_what_one_process_finds(postgres: str, project: pathlib.Path, hosts: list[Host]) -> None:
    """The same seed, the same trials, the same verdict, byte for byte but for times."""
    file = written(project, "same", 100)
    here, there = asyncio.run(compare(load(file))), fleet(postgres, file, project)
    assert {trial.planned for trial in here.trials} == {trial.planned for trial in there.trials}
    verdicts = [json.dumps(timeless(told(one)["verdict"])).encode() for one in (here, there)]
    assert verdicts[0] == verdicts[1]
    one, other = (timeless(told(result)) for result in (here, there))
    assert {name: one[name] for name in one if one[name] != other[name]} == {}


def test_a_worker_that_is_killed_loses_nothing(postgres: str, project: pathlib.Path, hosts: list[Host]) -> None:
    """Killed with runs under way: another finds it silent and makes what is missing, and nothing but that again; each
    run is kept once."""
    killed = list[Host]()

    def watch(progress: Progress) -> None:
        if runs_done(progress) >= 20 and not killed:
            assert turnstile.until(lambda: len(turnstile.held) == UNDER_WAY)
            killed.append(next(host for host in hosts if host.key == turnstile.answered[0][1]))
            killed[0].kill()
            lost = [one for one in turnstile.held if one[1] == killed[0].key]
            assert turnstile.until(lambda: sorted(turnstile.dropped) == sorted(lost))
            turnstile.release()

    with Turnstile(first(20)) as turnstile:
        sent = Sent(postgres, asking(project, "killed", 200, turnstile, KEYED), project)
        try:
            result = asyncio.run(asyncio.wait_for(sent.result(watch=watch), PATIENCE))
        finally:
            for host in killed:
                hosts[hosts.index(host)] = Host(postgres, project).ready()
    assert Counter(trial.task for trial in result.trials) == Counter(f"t{i}" for i in range(200))
    shelf = Shelf(postgres)
    assert len(shelf.trials(sent.id)) == len(shelf.scores(sent.id)) == 200
    asked = Counter(questions(turnstile))
    assert asked == Counter(f"killed {i}" for i in range(200)) + Counter(question for question, _ in turnstile.dropped)


def test_a_submitter_that_is_interrupted_leaves_the_workers_idle(
    postgres: str, project: pathlib.Path, hosts: list[Host]
) -> None:
    """What has not begun is dropped, what has is ended; what was made is kept, and the rest is made when it goes on."""

    async def interrupted() -> Result:
        def watch(progress: Progress) -> None:
            if runs_done(progress) >= 30 and turnstile.until(lambda: len(turnstile.held) == UNDER_WAY):
                task.cancel()

        task = asyncio.ensure_future(sent.result(watch=watch))
        return await task

    with Turnstile(first(30)) as turnstile:
        sent = Sent(postgres, asking(project, "interrupted", 200, turnstile, KEYED), project)
        first_part = asyncio.run(interrupted())
        assert first_part.interrupted
        assert of_comparison(postgres, sent.id, ACTIVE) == []
        assert turnstile.until(lambda: len(turnstile.dropped) == UNDER_WAY)
        turnstile.release()
        again = asyncio.run(sent.result(resume=True))
    assert (again.made, len(again.trials), again.finished) == (30, 200, True)
    assert len(turnstile.requests) == 200 + UNDER_WAY


def test_a_comparison_that_is_settled_calls_off_the_chunks_that_are_left(
    postgres: str, project: pathlib.Path, hosts: list[Host]
) -> None:
    """The submitter reads the pairs in the planned order and says what one process says; nothing stays in the queue,
    and what is under way is ended."""
    with Turnstile(first(600)) as turnstile:
        file = asking(project, "early", 600, turnstile, more="stop_early: true\n")
        here = asyncio.run(compare(load(file)))
        needed = set(questions(turnstile))
        turnstile.through = needed.__contains__
        sent = Sent(postgres, file, project)
        there = asyncio.run(asyncio.wait_for(sent.result(), PATIENCE))
        assert of_comparison(postgres, sent.id, ACTIVE) == []
        assert turnstile.held
        assert turnstile.until(lambda: len(turnstile.dropped) == len(turnstile.held))
    assert there.verdict is not None
    assert here.verdict is not None
    assert there.verdict.token == here.verdict.token
    assert there.counted == here.counted


def test_two_workers_send_no_more_together_than_a_models_rate_allows(
    postgres: str, project: pathlib.Path, hosts: list[Host]
) -> None:
    """So many requests take at least so long, however they are divided."""
    began, arrived = time.monotonic(), list[float]()

    def through(_: str) -> bool:
        arrived.append(time.monotonic())
        return True

    with Turnstile(through) as turnstile:
        result = fleet(
            postgres, asking(project, "paced", 40, turnstile, f"{KEYED}, requests_per_minute: 1200"), project
        )
    assert (len(result.trials), len(arrived)) == (40, 40)
    assert max(arrived) - began > 38 * 60 / 1200  # 39 gaps, but for what two clocks may differ by


def test_a_worker_refuses_other_files_than_were_sent(postgres: str, project: pathlib.Path, hosts: list[Host]) -> None:
    """The comparison ends with the name of the file, and can be gone on with."""
    file = written(project, "other", 5)
    sent = Sent(postgres, file, project)
    file.with_suffix(".jsonl").write_text('{"id": "t0", "question": "another", "expected": "4"}', "utf-8")
    with pytest.raises(StoreFault, match=r"other files than the comparison was sent with: other\.jsonl"):
        asyncio.run(sent.result())
    assert of_comparison(postgres, sent.id, ACTIVE) == []


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, at: pathlib.Path) -> None:
        self.at = str(at)

    def __reduce__(self) -> Any:
        return os.mkdir, (self.at,)


def test_a_pickled_row_is_refused(
    postgres: str, project: pathlib.Path, hosts: list[Host], tmp_path: pathlib.Path
) -> None:
    """Neither a worker nor a submitter runs what is in it."""
    import psycopg

    from loopworth.comparisons.fleet.chunk import Chunk
    from loopworth.comparisons.fleet.engine import Queue

    chunk = Chunk("bomb", 1, "2026-01-01T00:00:00+00:00", "x.yaml", {}, 1, ())
    bomb = base64.b64encode(pickle.dumps({"args": (Bomb(tmp_path / "boom"),), "kwargs": {}})).decode()
    asked = "select status from dbos.workflow_status where workflow_uuid = %s"
    with closing(Queue(home(postgres))) as queue, psycopg.connect(postgres, autocommit=True) as db:
        queue.send("bombs", [chunk])  # nobody serves this queue yet
        row = "update dbos.workflow_status set serialization = 'py_pickle', inputs = %s where workflow_uuid = %s"
        assert db.execute(row, (bomb, chunk.id)).rowcount == 1
        queue.open("bombs", 1)
        with pytest.raises(Exception, match="a row of the queue is pickled"):  # a worker has met it
            queue.client.retrieve_workflow(chunk.id).get_result()
        assert db.execute(asked, (chunk.id,)).fetchone() == ("ERROR",)
        assert not (tmp_path / "boom").exists()
        row = "update dbos.workflow_status set status = 'SUCCESS', output = %s, error = null where workflow_uuid = %s"
        db.execute(row, (bomb, chunk.id))
        assert queue.states([chunk.id])[chunk.id][0] == "SUCCESS"
        assert not (tmp_path / "boom").exists()
