"""Failures are told apart by code and type before wording."""

from __future__ import annotations

from typing import Any

import pytest

from loopworth.models.errors import Trouble, trouble


def found(status: int, body: Any, **headers: str) -> Trouble:
    result = trouble(status, body, headers, 1_000_000.0)
    assert result is not None
    return result


def error(**fields: Any) -> dict[str, Any]:
    return {"error": fields}


def test_a_body_without_choices_shows_the_providers_error() -> None:
    """MS-05: message and code are shown, and credit that is used up is not tried again."""
    said = found(200, {"choices": None, "error": {"message": "credit used up", "code": 402}})
    assert said.words == "status 402: credit used up"
    assert not said.again


def test_an_error_inside_a_choice_is_an_error() -> None:
    """MS-07: a rate limit told inside a choice is a rate limit."""
    choice = {"finish_reason": "error", "message": {"content": ""}, "error": {"code": 429, "message": "slow down"}}
    said = found(200, {"choices": [choice]})
    assert (said.kind, said.status, said.message) == ("busy", 429, "slow down")


@pytest.mark.parametrize(
    "body",
    [
        {"choices": None},
        {"choices": []},
        {"choices": ["text"]},
        {},
        [],
        "not JSON",
        {"choices": [{"finish_reason": "error", "message": {"content": ""}}]},
    ],
)
def test_an_answer_with_nothing_to_read_is_tried_again(body: Any) -> None:
    """Status 200 alone is no answer."""
    assert found(200, body).kind == "broken"


@pytest.mark.parametrize("body", [{"error": None}, {"error": {}}, {"error": ""}])
def test_an_empty_error_field_is_no_error(body: dict[str, Any]) -> None:
    """Some endpoints send `error: null` with every answer."""
    assert trouble(200, body | {"choices": [{"message": {"content": "x"}}]}, {}, 0.0) is None


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (404, {"error": "model 'x' not found"}, "model 'x' not found"),
        (422, {"detail": [{"msg": "bad"}]}, '[{"msg": "bad"}]'),
        (400, {"object": "error", "message": "bad", "code": 40001}, "bad"),
        (502, "<html><h1>Bad Gateway</h1></html>", "Bad Gateway"),
        (500, "", ""),
        (200, "<html><h1>Welcome to nginx!</h1></html>", "the answer is not JSON: Welcome to nginx!"),
        (200, " ", "the answer is empty"),
        (200, {"choices": []}, "the answer holds no reply"),
    ],
)
def test_the_message_is_found_in_every_shape(status: int, body: Any, message: str) -> None:
    """Error bodies differ; the words in them are shown."""
    assert found(status, body).message == message


@pytest.mark.parametrize(
    "body",
    [
        error(code="content_filter", message="Blocked by rule set 7", type=None),
        error(code="invalid_request", message="no", innererror={"code": "ResponsibleAIPolicyViolation"}),
        error(type="content_policy_violation", message="no"),
        error(message="The response was filtered due to our content management policy", code=None),
        error(message="Your prompt was flagged as potentially violating our usage policy", code="invalid_prompt"),
        error(message="sensitive", code="1301"),
        error(message="flagged", code="cyber_policy_violation"),
    ],
)
def test_a_content_filter_is_known_by_its_code(body: dict[str, Any]) -> None:
    """CF-04: the code decides; wording only where there is no code."""
    assert found(400, body).kind == "content_filter"


def test_a_content_filter_names_the_category() -> None:
    """CF-02: what was filtered is shown."""
    result = {"self_harm": {"filtered": True, "severity": "medium"}, "hate": {"filtered": False}}
    said = found(
        400, error(code="content_filter", message="prompt filtered", innererror={"content_filter_result": result})
    )
    assert said.message == "self_harm: prompt filtered"
    assert not said.again


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error(code="context_length_exceeded", message="got 512345")),
        (400, error(type="context_window_exceeded", code=400, message="too big")),
        (400, error(type="exceed_context_size_error", code=400, message="request")),
        (400, error(message="input tokens above the configured limit of 300000; got 512345")),
        (400, error(message="This model's maximum context length is 4096 tokens. However, you requested 5000")),
        (400, error(message="prompt is too long: 200001 tokens > 200000 maximum", type="invalid_request_error")),
        (400, error(message="The input token count (1200000) exceeds the maximum number of tokens allowed")),
        (400, error(message="This model's maximum prompt length is 131072 but the request contains 537812 tokens.")),
        (500, error(message="the request exceeds the available context size")),
        (413, "Payload Too Large"),
        (422, {"error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"}),
        (422, error(message="`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens")),
        (400, error(message="Please reduce the length of the messages or completion.")),
        (400, error(message="Invalid request: Your request exceeded model token limit: 8192")),
        (400, error(message="Prompt exceeds max length")),
        (400, error(message="Range of input length should be [1, 30720]")),
        (400, error(message="Request payload size exceeds the limit: 20971520 bytes.")),
        (400, error(code="string_above_max_length", message="Invalid 'messages[0].content': string too long.")),
    ],
)
def test_a_context_overflow_is_one_class(status: int, body: Any) -> None:
    """CO-02, CO-04: by code, by type with a numeric code, or by wording where the code is absent."""
    assert found(status, body).kind == "context_overflow"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, error(code="invalid_api_key", message="wrong context length header"), "refused"),
        (400, error(message="max_tokens is too large: 100000. At most 16384 completion tokens"), "refused"),
        (400, error(code="unsupported_parameter", message="context_window is not supported"), "refused"),
        (429, error(code="rate_limit_exceeded", message="too many tokens per minute"), "busy"),
        (429, error(message="prompt is too long for your tier, context length"), "busy"),
        (413, error(code="rate_limit_exceeded", message="Request too large on tokens per minute"), "refused"),
        (429, error(code="insufficient_quota", message="check your plan"), "refused"),
        (400, error(code="invalid_value", message="tools.0: the name 'moderation_tool' is invalid"), "refused"),
        (400, error(message="You exceeded your daily token limit"), "refused"),
    ],
)
def test_wording_does_not_overrule_a_code_or_a_status(status: int, body: Any, kind: str) -> None:
    """Words about contexts and limits stand in other errors too."""
    assert found(status, body).kind == kind


@pytest.mark.parametrize(
    ("status", "again"),
    [
        *[(status, False) for status in (400, 401, 402, 403, 404, 422, 501)],
        *[(status, True) for status in (408, 409, 429, 500, 502, 503, 504, 529)],
    ],
)
def test_what_may_pass_is_tried_again(status: int, again: bool) -> None:
    """A wrong request stays wrong; a busy or broken server may recover."""
    assert found(status, error(message="no")).again is again


@pytest.mark.parametrize("reason", ["error", "ABORT", "cancelled", "timeout", "insufficient_system_resource"])
def test_a_reply_that_the_server_broke_off_is_no_answer(reason: str) -> None:
    """Half an answer is never taken for a whole one: it is asked for again, and the reason is shown."""
    trouble = found(200, {"choices": [{"finish_reason": reason, "message": {"content": "Half of the"}}]})
    assert (trouble.kind, trouble.words) == (
        "broken",
        f"an error in the answer: the provider broke the reply off: {reason.lower()}",
    )


def test_no_answer_is_said_only_where_none_came() -> None:
    """An error in an answer of status 200 is not the silence of a server that is down."""
    assert found(200, {"error": "boom"}).words == "an error in the answer: boom"
    assert Trouble("down", "connection refused").words == "no answer: connection refused"


def test_a_code_that_is_a_number_is_no_status_unless_it_may_be_one() -> None:
    """Some providers count their errors; one in an answer of status 200 is not the status 1234."""
    said = found(200, error(code="1234", message="no"))
    assert (said.status, said.code, said.kind) == (None, "1234", "broken")
    assert found(200, error(code=404, message="no")).kind == "refused"
