"""What all pages share: the store, the runs that go on, the sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from loopworth.runs import approvals
from loopworth.runs.approvals import Approval
from loopworth.runs.database import Home
from loopworth.runs.kept import Kept
from loopworth.runs.outcome import Said
from loopworth.runs.recording import Recording
from loopworth.runs.shelf import Shelf
from loopworth.runs.steps import Note, steps
from loopworth.web.activations import Activations
from loopworth.web.forms import Refusal
from loopworth.web.rendering import page
from loopworth.web.session import Sessions


@dataclass(frozen=True)
class Desk:
    """`by` is who decides where a person gives no name."""

    home: Home
    activations: Activations
    sessions: Sessions
    by: str

    def shelf(self) -> Shelf:
        return Shelf(self.home)

    def page(self, request: Request, name: str, status: int = 200, **data: Any) -> HTMLResponse:
        """A page with what stands on all of them."""
        shared = {
            "waiting": len(approvals.waiting(self.shelf())),
            "sign": self.sessions.form_sign(request.state.session),
            "path": request.url.path,
            "live": False,
        }
        return page(name, status, **{**shared, **data})


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def question(shelf: Shelf, name: str) -> Approval:
    """The question of this name. Raises Refusal."""
    try:
        return approvals.found(shelf, name)
    except LookupError as why:
        raise Refusal(404, str(why.args[0])) from None


def run_of(shelf: Shelf, id: str) -> Kept:
    try:
        return shelf.run(id)
    except LookupError as why:
        raise Refusal(404, str(why.args[0])) from None


def told(shelf: Shelf, run: Kept) -> list[Said | Note]:
    """A run so far. While it goes on again, what its last activation came to is not the news."""
    outcome = None if run.exit is None and run.state != "done" else shelf.outcome(run.id)
    return list(steps(Recording(run, shelf.records(run.id), outcome)))
