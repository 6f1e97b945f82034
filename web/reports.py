"""The report of a comparison: the very page that `loopworth report --html` writes."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from loopworth.comparisons.extension import ExtensionFault
from loopworth.comparisons.pages.disagreements import TRANSCRIPTS
from loopworth.comparisons.pages.html import POLICY, drawings, html
from loopworth.comparisons.retelling import told
from loopworth.web.desk import desk_of, run_of
from loopworth.web.forms import Refusal
from loopworth.workflows.faults import WorkflowFault

router = APIRouter()


@router.get("/runs/{id}/report")
def report(request: Request, id: str) -> Response:
    """A kept comparison as it was. The page brings its style with it, so it has a policy of its own."""
    shelf = desk_of(request).shelf()
    one = run_of(shelf, id)
    if one.kind != "comparison":
        raise Refusal(404, f"The run {one.id} is no comparison: it has no report.")
    if not Path(one.file).is_file():
        raise Refusal(409, f"{one.file} is not there any more: `loopworth report {one.id} --comparison FILE` names it.")
    try:
        _, found = told(shelf, one, pairs=TRANSCRIPTS)
    except (ExtensionFault, WorkflowFault) as fault:
        raise Refusal(409, f"The files of {one.id} cannot be read any more: {fault}") from None
    page = html(found, drawings=drawings(found)).encode()
    return HTMLResponse(page, headers={"Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'"})
