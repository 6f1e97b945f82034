"""The runs and comparisons of the store: which there are, and what each did, step by step."""

from __future__ import annotations

from contextlib import closing
from typing import get_args

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from loopworth.runs import approvals
from loopworth.runs.exit import Exit
from loopworth.runs.kept import Kept, Query
from loopworth.runs.orphans import orphans
from loopworth.runs.shelf import Shelf
from loopworth.runs.standing import Standing, standings
from loopworth.runs.store import Store
from loopworth.web.desk import desk_of, run_of, told
from loopworth.web.forms import Refusal

router = APIRouter()
MOST, AT_MOST = 50, 5_000
FILTERS = ("workflow", "exit", "comparison", "arm", "task", "since")


@router.get("/runs")
def runs(request: Request, most: int = MOST) -> Response:
    """The runs that are kept, the newest first; trials where a comparison, an arm or a task is named."""
    desk = desk_of(request)
    given = {name: request.query_params.get(name, "").strip() for name in FILTERS}
    most = min(max(1, most), AT_MOST)
    query = Query(**{name: value for name, value in given.items() if value}, most=most)  # type: ignore[arg-type]
    shelf = desk.shelf()
    found = shelf.runs(query)
    lost = {one.run for one in orphans(shelf)} if any(one.state != "done" for one in found) else set()
    ends = (*get_args(Exit), "unfinished")
    more = most * 4 if len(found) == most < AT_MOST else None
    return desk.page(request, "runs", runs=found, lost=lost, given=given, ends=ends, more=more)


@router.get("/runs/{id}")
def run(request: Request, id: str) -> Response:
    """One run, or the trials of one comparison."""
    desk = desk_of(request)
    shelf = desk.shelf()
    one = run_of(shelf, id)
    if one.kind == "comparison":
        return desk.page(request, "comparison", run=one, bars=bars(shelf, one), live=one.state != "done")
    asked = approvals.of_run(shelf, one.id)
    trouble = desk.activations.trouble.get(one.id, "")
    lost = next((other for other in orphans(shelf) if other.run == one.id), None) if one.exit is None else None
    trouble = trouble or (lost.why if lost is not None else "")
    idle = one.source is not None and one.state != "done" and one.exit not in (None, "waiting")
    more = {
        "asked": asked,
        "trouble": trouble,
        "idle": idle or trouble != "",
        "killed": lost is not None,
        "steps": told(shelf, one),
    }
    return desk.page(request, "run", 200, run=one, live=one.state != "done", **more)


@router.post("/runs/{id}/resume")
def resume(request: Request, id: str) -> Response:
    """Go on with a durable run that was interrupted."""
    desk = desk_of(request)
    one = run_of(desk.shelf(), id)
    if one.source is None or one.state == "done":
        raise Refusal(409, f"The run {one.id} has ended, or is no durable one: there is nothing to go on with.")
    desk.activations.start(one.id)
    return RedirectResponse(f"/runs/{one.id}", 303)


@router.post("/runs/{id}/cancel")
def cancel(request: Request, id: str) -> Response:
    """End a run that waits or is under way: it calls nothing more."""
    desk = desk_of(request)
    one = run_of(desk.shelf(), id)
    with closing(Store(desk.home)) as store:
        if one.kind != "run" or not store.cancel(one.id):
            raise Refusal(409, f"The run {one.id} has ended: there is nothing to cancel.")
    return RedirectResponse(f"/runs/{one.id}", 303)


@router.get("/comparisons")
def comparisons(request: Request) -> Response:
    """The newest comparisons; how far those have come that are under way."""
    desk = desk_of(request)
    shelf = desk.shelf()
    found = [(one, bars(shelf, one)) for one in shelf.runs(Query(kinds=("comparison",), most=MOST))]
    return desk.page(request, "comparisons", found=found, live=any(one.state != "done" for one, _ in found))


def bars(shelf: Shelf, one: Kept) -> list[tuple[Standing, int]]:
    """The arms of a comparison, each with the number of its tasks, 0 where that is not known."""
    planned = one.input.get("n", 0) if isinstance(one.input, dict) else 0
    return [(arm, planned) for arm in standings(shelf, one.id)]
