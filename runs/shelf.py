"""What a run store holds, to be read: by `loopworth runs`, a replay, or a comparison that goes on."""

from __future__ import annotations

import shlex
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Literal

from loopworth.runs.database import Home, StoreFault
from loopworth.runs.home import home, nearby
from loopworth.runs.journal import Record, reader
from loopworth.runs.kept import Kept, Query, Score, usage_of
from loopworth.runs.outcome import Outcome
from loopworth.runs.packing import Pool
from loopworth.runs.recording import Recording
from loopworth.runs.rows import text, value
from loopworth.runs.store_file import StoreFile
from loopworth.runs.stored_journal import unpacked
from loopworth.runs.usage import Usage

RUN = """
run.id, kind, name, file, run.began, parent, input, state, exit, note, model_calls, tool_calls, usage, seconds,
run.epoch, arm, task, repeat, attempt, correct, source from run left join trial on trial.run = run.id
"""
EFFECT = "id, n, hash, kind, request, body, began, ended from effect"
EFFECTS = f"select {EFFECT} where run = ? order by n"
FIGURES = """
select run.id, trial.figures from trial cross join run
where trial.comparison = ? and run.id = trial.run and run.state = 'done' order by run.began, run.id
"""
ALL = Query()
AT_ONCE = 500
"""Runs of which something is read at once."""
outcome_of = reader(Outcome)


class Shelf:
    """What a store holds, to be read; it needs not be writable. Raises StoreFault."""

    def __init__(self, place: str | Path | Home | None = None) -> None:
        self.home = home(place) if isinstance(place, str | Path | None) else place
        if self.home is place:  # an open store's
            return
        if not self.home.there():
            near = elsewhere(self.home, bool)
            raise StoreFault(f"there is no run store at {self.home}: `loopworth run` and `compare` make one{near}")
        self.select("select 1 from run limit 1")

    def select(self, question: str, values: Iterable[Any] = ()) -> list[Any]:
        try:
            with closing(self.home.reading()) as db:
                return db.execute(question, tuple(values)).fetchall()
        except (OSError, self.home.errors) as error:
            raise self.home.fault(error) from None

    def runs(self, query: Query = ALL) -> list[Kept]:
        """The newest first."""
        where, values = conditions(query)
        most = "" if query.most is None else f" limit {int(query.most)}"
        rows = self.select(f"select {RUN} where {where} order by run.began desc, run.id desc{most}", values)
        return [kept_of(row) for row in rows]

    def run(self, id: str) -> Kept:
        """The run of this id, or of the one id that starts so; `last` is the newest run or comparison.

        Raises LookupError that says which there are.
        """
        if id == "last" and (newest := self.runs(Query(most=1))):
            return newest[0]
        rows = self.select(f"select {RUN} where run.id = ?", [id]) or self.select(
            f"select {RUN} where substr(run.id, 1, cast(? as int)) = ? and kind <> 'trial' limit 9", [len(id), id]
        )
        if len(rows) == 1:
            return kept_of(rows[0])
        if rows:
            raise LookupError(f"several runs start with {id!r}: {', '.join(row[0] for row in rows)}")
        near = elsewhere(self.home, lambda other: id != "last" and other.holds(id))
        raise LookupError(f"there is no run {id!r} in {self.home}: `loopworth runs` lists them{near}")

    def holds(self, id: str) -> bool:
        """Whether there is a run of this id, or one that starts so."""
        asked = "select 1 from run where substr(id, 1, cast(? as int)) = ? limit 1"
        return bool(self.select(asked, [len(id), id]))

    def trials(self, comparison: str) -> list[Kept]:
        """All trials of a comparison, in the order in which they began."""
        return [
            kept_of(row)
            for row in self.select(f"select {RUN} where run.parent = ? order by run.began, run.id", [comparison])
        ]

    def names(self, what: Literal["arm", "task"]) -> list[str]:
        """The arms, or the tasks, of all trials that are kept."""
        return [row[0] for row in self.select(f"select distinct {what} from trial")]

    def scores(self, comparison: str) -> dict[str, Score]:
        """The scores of a comparison's trials, by run."""
        asked = "select run, correct, harmful, remark, route, latency, began from trial where comparison = ?"
        return {run: score_of(rest) for run, *rest in self.select(asked, [comparison])}

    def figures(self, comparison: str) -> dict[str, bytes]:
        """What a comparison kept of each trial that ended, to be read without its transcript, by run, in the order in
        which they began; empty where there is nothing, as in an older store, or nothing of ours."""
        rows = self.select(FIGURES, [comparison])
        return {run: inflated(content) for run, content in rows}

    def records(self, id: str) -> dict[str, Record]:
        """What a run was asked and answered, by effect id, in the order in which it happened."""
        return dict(unpacked(self.select(EFFECTS, [id]), Pool()))

    def journals(self, ids: Iterable[str]) -> Iterator[tuple[str, dict[str, Record]]]:
        """The records of runs, in this order; read many at once."""
        for some in batched(ids):
            asked = f"select run, {EFFECT} where run in ({', '.join('?' * len(some))}) order by run, n"
            rows = groupby(self.select(asked, some), key=lambda row: row[0])
            found = {run: dict(unpacked([row[1:] for row in its], Pool())) for run, its in rows}
            yield from ((id, found.get(id, {})) for id in some)

    def outcome(self, id: str) -> Outcome | None:
        """What a run came to; None where it did not end."""
        rows = self.select("select body from transcript where run = ?", [id])
        return outcome_of(unpressed(rows[0][0], f"the transcript of the run {id}")) if rows else None

    def outcomes(self, ids: Iterable[str]) -> Iterator[tuple[str, Outcome]]:
        """What runs came to, in this order, without those that did not end; read many at once."""
        for some in batched(ids):
            asked = f"select run, body from transcript where run in ({', '.join('?' * len(some))})"
            found = dict(self.select(asked, some))
            for id in some:
                if id in found:
                    yield id, outcome_of(unpressed(found[id], f"the transcript of the run {id}"))

    def recording(self, id: str) -> Recording:
        """A run with all it was asked and answered. Raises LookupError."""
        run = self.run(id)
        return Recording(run, self.records(run.id), self.outcome(run.id))


def batched(ids: Iterable[str]) -> Iterator[list[str]]:
    left = iter(ids)
    while some := list(islice(left, AT_ONCE)):
        yield some


def elsewhere(used: Home, holds: Callable[[Shelf], object], *beside: Path) -> str:
    """The advice to name another store near this one, which has what this one lacks, in a line of its own; "" where
    none has. The default store is that of the current folder, which may not be the one a run was made from."""
    for path in nearby(used, *beside):
        with suppress(StoreFault):
            if holds(Shelf(StoreFile(path))):
                return f"\n    {path} has it: add --store {shlex.quote(str(path))}"
    return ""


def conditions(query: Query) -> tuple[str, list[Any]]:
    """A query as SQL. One for an arm, a task or a comparison is about trials."""
    of_trials = query.arm is not None or query.task is not None or query.comparison is not None
    named = "(parent = ? or parent in (select id from run where kind = 'comparison' and name = ?))"
    marks = ", ".join("?" * len(query.kinds))
    wanted: list[tuple[str, list[Any]]] = [
        ("kind = 'trial'", []) if of_trials else (f"kind in ({marks})", list(query.kinds)),
        ("name = ?", [query.workflow]),
        ("coalesce(exit, state) = ?", [query.exit]),
        (named, [query.comparison, query.comparison]),
        ("arm = ?", [query.arm]),
        ("task = ?", [query.task]),
        ("run.began >= ?", [query.since]),
    ]
    found = [(text, values) for text, values in wanted if None not in values]
    return " and ".join(text for text, _ in found), [value for _, values in found for value in values]


def kept_of(row: tuple[Any, ...]) -> Kept:
    id, kind, name, file, began, parent, input, state, exit, note, model_calls, tool_calls, usage, *rest = row
    seconds, epoch, arm, task, repeat, attempt, right, source = rest
    return Kept(
        id, kind, name, file, began, parent, value(input, f"the input of the run {id}"), state, exit, note,
        model_calls, tool_calls, usage_of(usage) if usage else Usage(), seconds, epoch, arm, task, repeat, attempt,
        flag(right), value(source, f"the source of the run {id}"),
    )  # fmt: skip


def unpressed(content: Any, what: str) -> bytes:
    """The JSON of a compressed row. Raises StoreFault."""
    try:
        return text(zlib.decompress(content), what)
    except zlib.error:
        return text(content, what)


def inflated(content: Any) -> bytes:
    """A compressed row; empty where it is none. Whoever decodes it sees what it is."""
    try:
        return zlib.decompress(content) if content else b""
    except zlib.error:
        return b""


def score_of(row: list[Any]) -> Score:
    right, harmful, remark, route, latency, began = row
    return Score(flag(right), flag(harmful), remark, route, latency, began)


def flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)
