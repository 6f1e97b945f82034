"""The handed cases of kind http-retry, played over HTTP on a clock that only pauses move; some neighbours of each."""

import asyncio
import pathlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, NamedTuple

import pytest
from ruamel.yaml import YAML

from loopworth.models import ModelSpec, open_model
from loopworth.runs.effects import Effects
from loopworth.runs.events import ModelCalled
from loopworth.runs.executor import execute
from loopworth.runs.outcome import Outcome
from loopworth.runs.world import Live
from tests.agents.kit import make
from tests.endpoint import Answer, FakeEndpoint, said

CASES = YAML(typ="safe").load(pathlib.Path(__file__).with_name("http-retry.yaml"))["cases"]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Played(NamedTuple):
    outcome: Outcome
    requests: int
    pauses: list[float]
    late: float
    """Real seconds from the user's cancelling to the end of the run."""

    @property
    def statuses(self) -> list[int | None]:
        """Of every attempt of the one model call, as the event has them."""
        [call] = [event for event in self.outcome.events if isinstance(event, ModelCalled)]
        return [attempt.status for attempt in call.attempts]


def answer(turn: dict[str, Any]) -> Any:
    headers = dict(turn.get("headers", {}))
    if "one hour ago" in headers.get("Retry-After", ""):
        headers["Retry-After"] = format_datetime(NOW - timedelta(hours=1), usegmt=True)
    body = said("done") if turn["status"] == 200 else turn.get("body", {"error": {"message": "no"}})
    return Answer(turn["status"], body, headers)


def play(given: dict[str, Any]) -> Played:
    pauses: list[float] = []
    left, clock = asyncio.Event(), [0.0, 0.0]

    async def sleep(seconds: float) -> None:
        """A pause takes no time; but where the user will cancel it, it has no end of its own."""
        pauses.append(seconds)
        clock[0] += seconds
        if "cancels" in given.get("event", ""):
            left.set()
            await asyncio.Event().wait()

    async def main(url: str) -> Outcome:
        options: dict[str, Any] = {"sleep": sleep, "clock": lambda: clock[0], "now": NOW.timestamp}
        model = open_model(ModelSpec("vllm/fake", base_url=url), **options)
        run = asyncio.ensure_future(execute(make(), {"q": "hi"}, Effects(Live({"m": model}))))
        if "cancels" in given.get("event", ""):
            await left.wait()
            clock[1] = asyncio.get_running_loop().time()
            run.cancel()
        outcome = await run
        clock[1] = asyncio.get_running_loop().time() - clock[1]
        await model.close()
        return outcome

    with FakeEndpoint(*map(answer, given["http"])) as fake:
        outcome = asyncio.run(main(fake.base_url))
        return Played(outcome, len(fake.requests), pauses, clock[1])


def seven_seconds(found: Played) -> None:
    assert (found.outcome.answer, found.requests) == ("done", 2)
    assert sum(found.pauses) >= 7
    assert found.statuses == [429, 200]


def no_negative_wait(found: Played) -> None:
    assert (found.outcome.exit, found.requests) == ("success", 2)
    assert all(0 <= pause <= 1 for pause in found.pauses)


def growing(found: Played) -> None:
    assert (found.outcome.exit, found.statuses) == ("success", [529, 529, 200])
    assert 0 < found.pauses[0] < found.pauses[1]


def at_once(found: Played) -> None:
    assert (found.outcome.exit, found.requests) == ("cancelled", 1)
    assert found.late < 1


EXPECTED = {
    "Waits at least 7 s on a fake clock, then one more request; both attempts are in the transcript.": seven_seconds,
    "No negative wait and no error; the next try comes at once or after the normal pause.": no_negative_wait,
    "Two retries with growing pauses, then success; the transcript shows three attempts.": growing,
    "The wait stops at once; exit reason cancelled.": at_once,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_http_retry(case: dict[str, Any]) -> None:
    """A busy endpoint is asked again, no sooner than it says and no later than the user bears."""
    found = play(case["given"])
    for line in case["expect"]:
        EXPECTED[line](found)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 529])
def test_what_may_pass_is_tried_again(status: int) -> None:
    """By status, whatever page stands in the body."""
    found = play({"http": [{"status": status, "body": "<html>no</html>"}, {"status": 200}]})
    assert (found.outcome.answer, found.statuses) == ("done", [status, 200])


@pytest.mark.parametrize("status", [204, 304, 400, 401, 402, 403, 404, 405, 410, 422, 431, 451, 501, 505])
def test_what_will_not_pass_is_not_tried_for_long(status: int) -> None:
    """A refusal is told after one request; an empty success may be a slip and is tried again, but is no answer."""
    found = play({"http": [{"status": status, "body": ""}] * 9})
    assert found.outcome.exit == "provider_error"
    assert found.requests == {204: 5, 505: 5}.get(status, 1)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "2.5"}, 2.5, 2.5),
        ({"Retry-After": " 3 "}, 3, 3),
        ({"Retry-After": "-1"}, 0, 1),
        ({"Retry-After": "0"}, 0, 1),
        ({"Retry-After": "soon"}, 0, 1),
        ({"Retry-After": "nan"}, 0, 1),
        ({"Retry-After": "inf"}, 0, 1),
        ({"Retry-After": "1e3000"}, 0, 1),
        ({"Retry-After": "7s"}, 7, 7),
        ({"Retry-After": "Fri, 32 Foo 2026"}, 0, 1),
        ({"Retry-After": format_datetime(NOW + timedelta(seconds=9), usegmt=True)}, 9, 9),
        ({"Retry-After": (NOW + timedelta(seconds=9)).isoformat()}, 9, 9),
        ({"retry-after-ms": "1500"}, 1.5, 1.5),
        ({"retry-after-ms": "nope", "Retry-After": "4"}, 4, 4),
        ({"x-ratelimit-reset": "12"}, 12, 12),
        ({"x-ratelimit-reset": str(int(NOW.timestamp()) + 12)}, 12, 12),
        ({"x-ratelimit-reset": str(int(NOW.timestamp() * 1000) + 12_000)}, 12, 12),
        ({"ratelimit-reset": "12"}, 12, 12),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2.5s"}, 62.5, 62.5),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "850ms"}, 0.85, 0.85),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "5m"}, 0, 1),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": (NOW + timedelta(seconds=20)).isoformat().replace("+00:00", "Z"),
            },
            20,
            20,
        ),
        ({"x-ratelimit-reset": "99999999999999999999"}, 0, 1),
        ({"Retry-After": "1", "x-ratelimit-reset": "60"}, 1, 1),
    ],
)
def test_a_server_may_say_how_long(headers: dict[str, str], least: float, most: float) -> None:
    """In seconds, milliseconds, as a date, or as the time at which its limit is full again; what cannot be read is the
    normal pause."""
    found = play({"http": [{"status": 429, "headers": headers}, {"status": 200}]})
    assert found.outcome.answer == "done"
    [pause] = found.pauses
    assert least <= pause <= most


def test_a_server_may_say_how_long_in_its_error() -> None:
    """Google has no header for it."""
    error = {"error": {"code": 429, "message": "quota", "details": [{"retryDelay": "34s"}]}}
    found = play({"http": [{"status": 429, "body": error}, {"status": 200}]})
    assert (found.outcome.answer, found.pauses) == ("done", [34.0])


def test_a_server_may_say_it_in_words_or_say_never() -> None:
    """A header goes before the words of an error; `x-should-retry: false` is OpenAI's own."""
    words = {"error": {"message": "Rate limit reached. Please try again in 9.5s."}}
    assert play({"http": [{"status": 429, "body": words}, {"status": 200}]}).pauses == [9.5]
    asked = {"status": 429, "body": words, "headers": {"Retry-After": "3"}}
    assert play({"http": [asked, {"status": 200}]}).pauses == [3.0]
    found = play({"http": [{"status": 429, "headers": {"x-should-retry": "false"}}, {"status": 200}]})
    assert (found.outcome.exit, found.requests) == ("provider_error", 1)


@pytest.mark.parametrize("headers", [{"Retry-After": "86400"}, {"x-ratelimit-reset": "7200"}])
def test_nobody_waits_for_hours(headers: dict[str, str]) -> None:
    """The run ends at once and says what was asked for."""
    found = play({"http": [{"status": 429, "headers": headers}]})
    assert (found.outcome.exit, found.pauses) == ("provider_error", [])
    assert "asks to wait" in found.outcome.note
