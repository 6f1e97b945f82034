"""The questions that wait for a person, and the decisions on them."""

from __future__ import annotations

from contextlib import closing
from typing import Any, cast
from urllib.parse import quote, unquote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from loopworth import front
from loopworth.comparisons.pages.html import exact
from loopworth.runs import approvals
from loopworth.runs.approvals import Already, Approval, Refused
from loopworth.runs.decision import CHOICES, Decision
from loopworth.runs.store import Store
from loopworth.web.desk import Desk, desk_of, question, run_of, told
from loopworth.web.forms import Refusal
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.source import Changed

router = APIRouter()
MOST = 20
"""Questions on one page."""
NAME = "loopworth_by"
"""The cookie that keeps the name under which a person decides."""


@router.get("/")
def waiting(request: Request, start: int = 0) -> Response:
    """What waits, the oldest first."""
    desk = desk_of(request)
    shelf = desk.shelf()
    every = approvals.waiting(shelf)
    start = max(0, start)
    shown = [card(desk, request, one) for one in every[start : start + MOST]]
    following = start + MOST if len(every) > start + MOST else None
    return desk.page(request, "inbox", cards=shown, following=following, total=len(every))


@router.get("/count")
def count(request: Request) -> Response:
    """How many wait."""
    return PlainTextResponse(str(len(approvals.waiting(desk_of(request).shelf()))))


@router.get("/approvals/{name}")
def show(request: Request, name: str) -> Response:
    desk = desk_of(request)
    return shown(desk, request, question(desk.shelf(), name))


@router.post("/approvals/{name}")
def decide(request: Request, name: str) -> Response:
    """Enter a decision: the first stands, and its run goes on. What cannot be is said, beside what was typed."""
    desk, form = desk_of(request), request.state.form
    one = question(desk.shelf(), name)
    try:
        came = entered(desk, one, form)
    except Refusal as why:
        return shown(desk, request, question(desk.shelf(), name), why.status, trouble=why.why, typed=form)
    if isinstance(came, Already):
        late = f"Your {form['choice']} came too late: {came}."
        return shown(desk, request, question(desk.shelf(), name), 409, trouble=late)
    desk.activations.start(one.run)
    answer = RedirectResponse(f"/approvals/{quote(name)}", 303)
    answer.set_cookie(NAME, quote(form.get("by", "")), httponly=True, samesite="lax")
    return answer


def entered(desk: Desk, one: Approval, form: dict[str, str]) -> approvals.Came:
    """What a decision came to. Raises Refusal."""
    choice, note = form.get("choice", ""), form.get("note", "").strip()
    if choice not in CHOICES:
        raise Refusal(422, "Choose what is to be done.")
    decision = Decision(cast(Any, choice), form.get("by", "").strip() or desk.by, note=note)
    try:
        approvals.reasoned(decision)
    except Refused as why:
        raise Refusal(422, f"{str(why).capitalize()}.") from None
    if form.get("hash") != one.hash:
        raise Refusal(409, "This was asked anew, about another call, since the page was made: look again.")
    arguments = form.get("arguments", "") if choice == "edit" else None
    try:
        with closing(Store(desk.home)) as store:
            return front.decide(store, one, decision, arguments)
    except (Refused, Changed, WorkflowFault, LookupError) as why:
        raise Refusal(409 if not isinstance(why, Refused) or arguments is None else 422, str(why.args[0])) from None


def shown(desk: Desk, request: Request, one: Approval, status: int = 200, **more: Any) -> Response:
    """The page of one question."""
    following = next((other.name for other in approvals.waiting(desk.shelf()) if other.name != one.name), None)
    run = run_of(desk.shelf(), one.run)
    data = {"card": card(desk, request, one, **more), "run": run, "following": following}
    return desk.page(request, "approval", status, **data, live=one.state != "waiting" and not one.over)


def card(desk: Desk, request: Request, one: Approval, trouble: str = "", typed: Any = None) -> dict[str, Any]:
    """What a person has to know to decide, and what was typed so far."""
    shelf = desk.shelf()
    typed = typed or {}
    return {
        "one": one,
        "steps": told(shelf, run_of(shelf, one.run)),
        "trouble": trouble,
        "by": typed.get("by") or unquote(request.cookies.get(NAME, "")) or desk.by,
        "note": typed.get("note", ""),
        "arguments": typed.get("arguments") or exact(one.question.arguments),
        "editing": typed.get("choice") == "edit",
    }
