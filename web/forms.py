"""What a page sends back: the fields of a form of this very session."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from loopworth.web.door import SAFE
from loopworth.web.session import Session, Sessions

MOST_BYTES, MOST_OF_STRANGERS, MOST_FIELDS = 20_000_000, 10_000, 20
"""Bytes of a form, and of one whose sender has not shown the token; a form holds all arguments of a call."""
SIGN = "sign"


class Refusal(Exception):
    """A request that is not done: the status of the answer, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


async def genuine(request: Request) -> None:
    """Read the form of every request that may change something; raises Refusal unless it is of this session."""
    if request.method in SAFE:
        return
    session: Session = request.state.session
    fields = read(await body(request, MOST_BYTES if session.entered else MOST_OF_STRANGERS))
    sessions: Sessions = request.app.state.desk.sessions
    if not sessions.genuine(session, fields.pop(SIGN, "")):
        raise Refusal(403, "This form is of another session: reload the page, and send it again.")
    request.state.form = fields


async def body(request: Request, most: int) -> bytes:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            raise Refusal(413, f"A form holds at most {most:,} bytes.")
    return bytes(found)


def read(body: bytes) -> dict[str, str]:
    """The fields by name; line ends as everywhere else."""
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise Refusal(400, "This is no form.") from None
    return {name: value.replace("\r\n", "\n") for name, value in pairs}
