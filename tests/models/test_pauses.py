"""How long an answer asks to wait."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models.pauses import YEAR, limit_reset, retry_after, retry_delay, told


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": ""}, 0.0),
        ({"retry-after": "Mon, 12 Jan 1970 13:47:00 GMT"}, 20.0),
        ({"retry-after": "Mon, 12 Jan 1970 12:46:40 GMT"}, 0.0),
        ({"retry-after": "Mon, 12 Jan 1970 13:47:00"}, 20.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({}, 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_never_negative(headers: dict[str, str], seconds: float) -> None:
    """HR-03: an hour ago is now."""
    assert retry_after(headers, 1_000_000.0) == seconds


SIGNS = st.text(alphabet="0123456789.-+:smhdTZe einfa", max_size=12) | st.text(max_size=8)


@given(SIGNS, SIGNS, st.sampled_from([0.0, 1_000_000.0, 1.8e9]))
def test_no_header_makes_a_wait_that_is_no_wait(text: str, other: str, now: float) -> None:
    """Whatever a server writes: never negative, never more than a year, never an exception."""
    assert 0 <= retry_after({"retry-after": text, "retry-after-ms": other}, now) < YEAR
    headers = {"x-ratelimit-reset": text, "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": other}
    assert 0 <= limit_reset(headers, now) < YEAR


def test_the_limit_that_is_full_last_counts() -> None:
    """Both have to be: the call needs a request and its tokens."""
    headers = {
        f"x-ratelimit-{what}-{name}": value
        for name, reset in (("requests", "2s"), ("tokens", "9s"))
        for what, value in (("remaining", "0"), ("reset", reset))
    }
    assert limit_reset(headers, 0.0) == 9.0


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"details": [{"@type": "type.googleapis.com/google.rpc.Help"}, {"retryDelay": "34.07s"}]}, 34.07),
        ({"details": [{"retryDelay": None}, "text", {"retryDelay": "soon"}]}, 0.0),
        ({"details": {"retryDelay": "3s"}}, 0.0),
        ({}, 0.0),
    ],
)
def test_a_wait_may_stand_among_the_details_of_an_error(error: dict[str, object], seconds: float) -> None:
    """As Google writes it, without a header."""
    assert retry_delay(error, 0.0) == seconds


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached: Limit 10000, Used 9999, Requested 100. Please try again in 1.5s. Visit https://h.", 1.5),
        ("Requests have exceeded call rate limit. Please retry after 26 seconds.", 26.0),
        ("Quota exceeded. Please retry in 34.07s.", 34.07),
        ("Please try again in 7m12.5s.", 432.5),
        ("Please try again in 850ms.", 0.85),
        ("Retry after 200 milliseconds", 0.2),
        ("Wait for 1 hour 2 minutes", 3720.0),
        ("Try again in 2H5M", 7500.0),
        ("Try again later, in 5 s or more", 0.0),
        ("try again in 5 MB", 0.0),
        (f"try again in {'9' * 400}s", 0.0),
        ("", 0.0),
    ],
)
def test_a_wait_may_stand_in_words(message: str, seconds: float) -> None:
    """As OpenAI, Azure, Groq and Google write it."""
    assert told(message) == seconds


@given(st.text(alphabet="try again in 0123456789.msh", max_size=40))
def test_no_words_make_a_wait_that_is_no_wait(text: str) -> None:
    """Never negative, never more than a year, never an exception."""
    assert 0 <= told(f"try again in {text}") < YEAR
