"""One model call over HTTP: what is sent, what comes back, what is tried again."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec
import pytest

from loopworth.models import Model, ModelSpec, Price, open_model
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage
from tests.endpoint import Answer, FakeEndpoint, Item, Received, said, wire

ASKED = Request([{"role": "user", "content": "hello"}])


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


def spec(fake: FakeEndpoint, **fields: Any) -> ModelSpec:
    return ModelSpec("vllm/fake", base_url=fake.base_url, **fields)


async def once(model: Model, request: Request, seconds: float | None = None) -> Reply:
    try:
        return await model.reply(request, seconds)
    finally:
        await model.close()


def ask(
    *script: Item, request: Request = ASKED, clock: Clock | None = None, **fields: Any
) -> tuple[Reply, FakeEndpoint]:
    clock = clock or Clock()
    with FakeEndpoint(*script) as fake:
        model = open_model(spec(fake, **fields), clock=clock, sleep=clock.sleep, now=lambda: 1_000_000.0)
        return asyncio.run(once(model, request)), fake


def stopped(*script: Item, clock: Clock | None = None, **fields: Any) -> Stop:
    with pytest.raises(Stop) as stop:
        ask(*script, clock=clock, **fields)
    assert stop.value.exit == "provider_error"
    return stop.value


def test_a_request_holds_what_was_set_and_nothing_else() -> None:
    """No null, no default of ours goes out: servers refuse what they do not know."""
    _, fake = ask(said("hi"))
    assert fake.requests[0].path == "/v1/chat/completions"
    assert fake.requests[0].body == {"model": "fake", "messages": ASKED.messages}
    assert fake.requests[0].headers["authorization"] == "Bearer none"


def test_everything_a_file_can_set_is_sent() -> None:
    """Spec, request and extras end up in one body; the request's seed and the smaller limit win."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    request = msgspec.structs.replace(ASKED, tools=(tool,), tool_choice="required", max_tokens=9, seed=5)
    _, fake = ask(said("hi"), request=request, temperature=0.5, seed=1, max_tokens=20, extra={"top_k": 3})
    body = fake.requests[0].body
    assert (body["temperature"], body["seed"], body["max_tokens"], body["top_k"]) == (0.5, 5, 9, 3)
    assert (body["tools"], body["tool_choice"]) == ([tool], "required")


@pytest.mark.parametrize(("closed", "strict"), [(False, True), (True, False)])
def test_a_schema_is_strict_where_it_is_closed(closed: bool, strict: bool) -> None:
    """OpenAI refuses an open schema in strict mode, so strict is only asked for where every object is closed."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": closed,
    }
    _, fake = ask(said("{}"), request=msgspec.structs.replace(ASKED, schema=schema))
    form = fake.requests[0].body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"] == {"name": "answer", "schema": schema, "strict": strict}


def test_a_reply_has_text_usage_and_one_attempt() -> None:
    """The plain case, whole."""
    reply, _ = ask(said("hi"), price=Price(2.0, 10.0))
    assert (reply.text, reply.finish, reply.waits) == ("hi", "stop", ())
    assert reply.usage == Usage(10, 5, usd=pytest.approx((10 * 2 + 5 * 10) / 1e6))
    assert [a.status for a in reply.attempts] == [200]


def test_a_rate_limit_is_waited_out_and_the_wait_is_no_service_time() -> None:
    """HR-01: at least as long as the server asks, then one more request; both attempts are there."""
    clock = Clock()
    reply, fake = ask(Answer(429, headers={"Retry-After": "7"}), said("hi"), clock=clock)
    assert (reply.text, len(fake.requests), clock.slept) == ("hi", 2, [7.0])
    assert [(a.status, a.waited) for a in reply.attempts] == [(429, 0.0), (200, 7.0)]
    assert (reply.waits, reply.seconds) == (((0.0, 7.0),), 0.0)


def test_a_rate_limit_inside_a_choice_is_tried_again() -> None:
    """MS-07: it is not an empty answer."""
    choice = {"finish_reason": "error", "message": {"content": ""}, "error": {"code": 429, "message": "slow down"}}
    reply, fake = ask({"choices": [choice]}, said("hi"))
    assert (reply.text, len(fake.requests)) == ("hi", 2)
    assert "slow down" in reply.attempts[0].error


def test_a_date_in_the_past_is_no_wait_beyond_the_normal_pause() -> None:
    """HR-03: no negative wait and no error."""
    clock = Clock()
    ask(Answer(503, headers={"Retry-After": "Mon, 12 Jan 1970 12:46:40 GMT"}), said("hi"), clock=clock)
    assert clock.slept == [0.5]


def test_pauses_grow() -> None:
    """HR-05: two overloads, two growing pauses, three attempts."""
    clock = Clock()
    reply, _ = ask(Answer(529, "overloaded"), Answer(529), said("hi"), clock=clock)
    assert clock.slept == [0.5, 1.0]
    assert [a.status for a in reply.attempts] == [529, 529, 200]


def test_a_pause_after_a_broken_answer_is_our_own_time() -> None:
    """Only what the server asked for is taken out of the latency."""
    reply, _ = ask(Answer(500), said("hi"))
    assert (reply.waits, reply.seconds) == ((), 0.5)


def test_jitter_spreads_pauses_by_its_seed() -> None:
    """Off by default; with a seed the same pauses come again."""

    def pauses(seed: int) -> list[float]:
        clock = Clock()
        with FakeEndpoint(Answer(500), said("hi")) as fake:
            model = open_model(spec(fake), clock=clock, sleep=clock.sleep, jitter=random.Random(seed))
            asyncio.run(once(model, ASKED))
        return clock.slept

    assert pauses(1) == pauses(1) != pauses(2)
    assert 0.25 <= pauses(1)[0] <= 0.75


@pytest.mark.parametrize("first", [Answer(200, said("half"), cut=40), Answer(gone=True), Answer(200, "<html>")])
def test_half_an_answer_is_asked_for_again(first: Answer) -> None:
    """CN-01, CN-03: a connection that breaks is no answer; both attempts are there."""
    reply, fake = ask(first, said("whole"))
    assert (reply.text, len(fake.requests), len(reply.attempts)) == ("whole", 2, 2)
    assert reply.attempts[0].error
    if first.status == 200 and first.cut is not None:
        assert reply.attempts[0].status is None


def test_attempts_end_after_the_retries_of_the_file() -> None:
    """The last trouble is told, with the number of attempts and what to do."""
    clock = Clock()
    stop = stopped(*[Answer(500, {"error": {"message": "oops"}})] * 9, clock=clock, retries=2)
    assert clock.slept == [0.5, 1.0]
    assert "status 500: oops, after 3 attempts; try again later" in stop.note
    assert [a.status for a in stop.attempts] == [500, 500, 500]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "api_key: {env: NAME}"), (402, "credit"), (403, "may use"), (404, "serves 'fake'"), (400, "will not take")],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_do(status: int, advice: str) -> None:
    """One request, the provider's words, and the next step."""
    stop = stopped(Answer(status, {"error": {"message": "no such luck", "code": "x1"}}))
    assert f"status {status} (x1): no such luck" in stop.note
    assert advice in stop.note
    assert len(stop.attempts) == 1  # type: ignore[attr-defined]


def test_an_error_body_of_status_200_is_told_and_not_retried() -> None:
    """MS-05: the provider's message and the code 402."""
    stop = stopped({"choices": None, "error": {"message": "credit used up", "code": 402}})
    assert "402" in stop.note
    assert "credit used up" in stop.note
    assert len(stop.attempts) == 1  # type: ignore[attr-defined]


def test_a_wait_of_an_hour_ends_the_call() -> None:
    """Nobody sits through a daily quota."""
    clock = Clock()
    stop = stopped(Answer(429, headers={"Retry-After": "3600"}), clock=clock)
    assert clock.slept == []
    assert "asks to wait 3600 s" in stop.note


def test_a_server_that_is_not_there_is_told_soon() -> None:
    """Refused connections are tried three times in all, and the note asks the likely question."""
    clock = Clock()
    with FakeEndpoint() as fake:
        pass
    model = open_model(spec(fake), clock=clock, sleep=clock.sleep)
    with pytest.raises(Stop, match=r"no answer: connection refused, after 3 attempts; is the server running\?"):
        asyncio.run(once(model, ASKED))
    assert clock.slept == [0.5, 1.0]


def test_a_server_that_hangs_is_left_after_the_timeout() -> None:
    """`timeout` is for one attempt."""
    stop = stopped(*[Answer(200, said("late"), delay=0.4)] * 3, timeout=0.05, retries=0)
    assert "no answer (timeout): none came within 0.05 s; raise the model's `timeout`" in stop.note


def test_a_content_filter_ends_the_reply_and_names_the_category() -> None:
    """CF-02: one request; what a filtered prompt costs is unknown."""
    inner = {"content_filter_result": {"self_harm": {"filtered": True}}}
    reply, fake = ask(
        Answer(400, {"error": {"code": "content_filter", "message": "prompt filtered", "innererror": inner}})
    )
    assert (reply.finish, reply.note, reply.message) == ("content_filter", "self_harm: prompt filtered", {})
    assert (len(fake.requests), reply.usage.output) == (1, None)


def test_a_context_overflow_ends_the_reply() -> None:
    """It is the prompt's fault, not the endpoint's."""
    reply, _ = ask(Answer(400, {"error": {"code": "context_length_exceeded", "message": "too long"}}))
    assert (reply.finish, reply.note) == ("context_overflow", "too long")
    reply, _ = ask(Answer(413, ""))
    assert (reply.finish, reply.note) == ("context_overflow", "status 413")


def test_the_other_name_of_the_output_limit_is_tried_once() -> None:
    """PS-02: a server that wants max_completion_tokens gets it, now and from then on."""

    def server(received: Received) -> Any:
        if "max_tokens" in received.body:
            fault = {"code": "unsupported_parameter", "param": "max_tokens", "message": "use max_completion_tokens"}
            return Answer(400, {"error": fault})
        return said(str(received.body["max_completion_tokens"]))

    reply, fake = ask(server, server, max_tokens=50)
    assert (reply.text, len(fake.requests)) == ("50", 2)
    assert (
        "max_tokens" in stopped(*[Answer(400, {"error": {"param": "max_tokens", "message": "no max_tokens"}})] * 5).note
    )


def choosy(*refused: str) -> Any:
    """A server that refuses parameters, the first that it meets."""

    def server(received: Received) -> Any:
        for name in refused:
            if name in received.body:
                return Answer(400, {"error": {"message": f"'{name}' is not supported", "param": name}})
        return said("hi")

    return server


def test_what_is_refused_goes_one_after_another_and_stays_away() -> None:
    """Each once; every later call goes without, and says so as the first one did."""

    async def twice(model: Model) -> list[Reply]:
        replies = [await model.reply(ASKED, None) for _ in range(2)]
        await model.close()
        return replies

    with FakeEndpoint(last=choosy("seed", "temperature")) as fake:
        first, second = asyncio.run(twice(open_model(spec(fake, seed=1, temperature=0.5, extra={"top_k": 3}))))
    assert [sorted(r.body) for r in fake.requests[2:]] == [["messages", "model", "top_k"]] * 2
    assert len(fake.requests) == 4
    assert first.warnings == second.warnings
    assert [name in warning for name, warning in zip(("seed", "temperature"), first.warnings, strict=True)] == [
        True
    ] * 2
    assert [a.status for a in first.attempts] == [400, 400, 200]


def test_calls_under_way_at_once_all_learn_what_is_refused() -> None:
    """A refusal of a request that was sent before the first one came back is no reason to give up."""

    async def many(model: Model) -> list[Reply]:
        replies = await asyncio.gather(*(model.reply(ASKED, None) for _ in range(6)))
        await model.close()
        return replies

    with FakeEndpoint(last=choosy("seed", "top_k")) as fake:
        replies = asyncio.run(many(open_model(spec(fake, seed=1, concurrency=6, extra={"top_k": 3}))))
    assert [reply.text for reply in replies] == ["hi"] * 6
    assert len(fake.requests) <= 6 * 3


def test_what_cannot_be_left_out_ends_the_call_and_is_named() -> None:
    """Without its limit or its tools a request is another one."""
    for name, request in (("max_tokens", ASKED), ("tools", msgspec.structs.replace(ASKED, tools=({"type": "x"},)))):
        refusal = Answer(400, {"error": {"message": "unsupported", "param": name, "code": "unsupported_parameter"}})
        with FakeEndpoint(last=refusal) as fake, pytest.raises(Stop, match=name):
            asyncio.run(once(open_model(spec(fake, max_tokens=9)), request))
        assert len(fake.requests) == (2 if name == "max_tokens" else 1)


def test_a_call_stops_itself_at_its_time_and_charges_what_was_held() -> None:
    """`seconds` cuts a request in flight; its output is what was asked for, an estimate."""
    with FakeEndpoint(Answer(200, said("late"), delay=0.3)) as fake:
        model = open_model(spec(fake, max_tokens=70))
        reply = asyncio.run(once(model, ASKED, 0.1))
    assert (reply.finish, reply.message) == ("time_limit", {})
    assert reply.usage == Usage(0, 70, usd=None, estimated=True)
    assert [(a.status, a.error) for a in reply.attempts] == [(None, "cut at the time limit")]


def test_a_call_cut_while_it_waits_used_nothing() -> None:
    """Between two attempts nothing is in flight, so nothing is charged."""
    with FakeEndpoint(Answer(429, headers={"Retry-After": "30"})) as fake:
        reply = asyncio.run(once(open_model(spec(fake)), ASKED, 1.0))
    assert (reply.finish, reply.usage, len(reply.attempts)) == ("time_limit", Usage(), 1)
    assert len(reply.waits) == 1


def test_a_cancelled_wait_stops_at_once() -> None:
    """HR-07: a person who gives up does not sit through Retry-After."""

    async def cancelled(model: Model) -> float:
        task = asyncio.ensure_future(once(model, ASKED))
        await asyncio.to_thread(asked.wait, 5)
        began = asyncio.get_running_loop().time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time() - began

    import threading

    asked = threading.Event()

    def server(_: Received) -> Answer:
        asked.set()
        return Answer(429, headers={"Retry-After": "30"})

    with FakeEndpoint(server) as fake:
        assert asyncio.run(cancelled(open_model(spec(fake)))) < 5


def test_calls_queue_for_the_endpoint_and_say_how_long() -> None:
    """The bound holds over all models of an endpoint; the smallest named one counts; queueing is a wait."""

    async def many(fake: FakeEndpoint) -> list[Reply]:
        models = [open_model(spec(fake, concurrency=2)), open_model(spec(fake, concurrency=5, temperature=0.0))]
        assert [m.concurrency for m in models] == [2, 2]
        assert models[0].endpoint == models[1].endpoint
        replies = await asyncio.gather(*(models[k % 2].reply(ASKED, None) for k in range(6)))
        for model in models:
            await model.close()
        return replies

    with FakeEndpoint(last=Answer(200, said("hi"), delay=0.05)) as fake:
        replies = asyncio.run(many(fake))
    assert fake.most == 2
    assert [len(r.waits) for r in replies] == [0, 0, 1, 1, 1, 1]
    assert all(start == pytest.approx(0, abs=0.05) and end > 0.01 for r in replies[2:] for start, end in r.waits)


def test_one_model_may_close_while_another_is_asking() -> None:
    """A shared client lives as long as somebody uses it."""

    async def both(fake: FakeEndpoint) -> str:
        first, second = open_model(spec(fake)), open_model(spec(fake, seed=1))
        task = asyncio.ensure_future(second.reply(ASKED, None))
        await first.reply(ASKED, None)
        await first.close()
        await first.close()
        text = (await task).text
        await second.close()
        return text

    with FakeEndpoint(last=Answer(200, said("hi"), delay=0.05)) as fake:
        assert asyncio.run(both(fake)) == "hi"


def test_a_model_works_on_one_event_loop_after_another() -> None:
    """A command may run the loop more than once."""
    with FakeEndpoint(last=said("hi")) as fake:
        model = open_model(spec(fake))
        assert [asyncio.run(once(model, ASKED)).text for _ in range(2)] == ["hi", "hi"]


def test_a_users_own_client_is_used_and_left_open() -> None:
    """Its headers and key go out; retries stay ours; who made it closes it."""
    from openai import AsyncOpenAI

    async def run(fake: FakeEndpoint) -> tuple[str, bool]:
        async with AsyncOpenAI(base_url=fake.base_url, api_key="k1", default_headers={"X-Own": "1"}) as client:
            model = open_model(ModelSpec("openai/fake"), client=client, sleep=Clock().sleep)
            text = (await once(model, ASKED)).text
            return text, client.is_closed()

    with FakeEndpoint(Answer(500), said("hi")) as fake:
        assert asyncio.run(run(fake)) == ("hi", False)
    assert len(fake.requests) == 2
    assert {fake.requests[0].headers[h] for h in ("x-own", "authorization")} == {"1", "Bearer k1"}


def test_a_key_never_stands_in_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may echo the request; what it says is told without the key."""
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    stop = stopped(Answer(401, {"error": {"message": "wrong key sk-very-secret"}}), api_key="MY_KEY")
    assert "sk-very-secret" not in stop.note
    assert "check the key in MY_KEY" in stop.note


def test_the_organisation_of_the_environment_goes_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another server has no business with it."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    _, fake = ask(said("hi"))
    assert "openai-organization" not in fake.requests[0].headers
    assert "sk-1" not in fake.requests[0].headers["authorization"]


def test_a_raw_surrogate_in_an_answer_is_mended() -> None:
    """UN-02: the text is whole, whatever the endpoint sent."""
    reply, _ = ask(Answer(200, rb'{"choices":[{"message":{"content":"a \ud800 b"},"finish_reason":"stop"}]}'))
    assert reply.text == "a � b"
    assert reply.usage.output is None


def test_a_filtered_choice_keeps_its_calls_unrun_by_its_finish() -> None:
    """FR-07 at this level: the finish is content_filter, whatever calls stand beside it."""
    call = {"id": "c", "type": "function", "function": {"name": "send_mail", "arguments": "{}"}}
    reply, _ = ask(wire({"content": None, "tool_calls": [call]}, "content_filter"))
    assert reply.finish == "content_filter"
