"""One browser's session: a cookie that only this server can have made, and the sign that its forms carry."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie

from loopworth.runs.usage import Value

COOKIE = "loopworth"


class Session(Value, frozen=True):
    """A browser. `entered`: it has shown the token, or none is asked for."""

    id: str
    entered: bool
    fresh: bool = False


class Sessions:
    """Makes and reads the cookies of one server. Nothing is kept: a cookie says all, under the server's own key."""

    def __init__(self, token: str | None, key: bytes | None = None) -> None:
        self.token, self.key = token, key or secrets.token_bytes(32)

    def sign(self, *words: str) -> str:
        return hmac.new(self.key, "\0".join(words).encode(), hashlib.sha256).hexdigest()

    def fresh(self, entered: bool = False) -> Session:
        return Session(secrets.token_urlsafe(18), entered or self.token is None, fresh=True)

    def cookie(self, session: Session, secure: bool) -> str:
        """The `Set-Cookie` of a session: no script reads it, and no other site's form sends it."""
        entered = "1" if session.entered else "0"
        value = f"{session.id}.{entered}.{self.sign('cookie', session.id, entered)}"
        return f"{COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"

    def read(self, header: str) -> Session:
        """The session of a request's `Cookie`; a fresh one where it has none of ours."""
        try:
            value = SimpleCookie(header)[COOKIE].value
        except (CookieError, KeyError):
            return self.fresh()
        parts = value.split(".")
        if len(parts) != 3 or not same(parts[2], self.sign("cookie", *parts[:2])):
            return self.fresh()
        id, entered, _ = parts
        return Session(id, entered == "1")

    def form_sign(self, session: Session) -> str:
        """What a form of this session carries."""
        return self.sign("form", session.id)

    def genuine(self, session: Session, signed: str) -> bool:
        """Whether a form is of this session."""
        return same(signed, self.form_sign(session))

    def opens(self, token: str) -> bool:
        return self.token is not None and same(token, self.token)


def same(given: str, wanted: str) -> bool:
    """Whether two texts are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
