"""What an endpoint will not take, in the words of many, and how the request goes without it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models.concessions import Concession, conceded, concession
from loopworth.models.dialects import DIALECTS
from loopworth.models.errors import Trouble, trouble
from loopworth.models.spec import ModelSpec
from loopworth.runs.message import Request, assistant, system, user

BODY: dict[str, Any] = {
    "model": "m",
    "messages": [system("Be brief."), user("hi")],
    "temperature": 0.0,
    "seed": 1,
    "max_tokens": 64,
    "tools": [{}],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "response_format": {"type": "json_schema"},
    "presence_penalty": 0.1,
    "top_p": 0.9,
    "stream": True,
    "stop": ["\n"],
    "stream_options": {"include_usage": True},
    "think": True,
    "reasoning_effort": "low",
}


def asked(status: int, error: Any, body: dict[str, Any] = BODY, *before: Concession) -> Concession | None:
    found = trouble(status, error, {}, 0.0)
    assert found is not None
    return concession(found, body, before)


def words(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "error", "name"),
    [
        (
            400,
            words("Unsupported value: 'temperature' does not support 0", param="temperature", code="unsupported_value"),
            "temperature",
        ),
        (
            400,
            words("Unsupported parameter", param="response_format.json_schema", code="unsupported_parameter"),
            "response_format",
        ),
        (400, words("Unrecognized request argument supplied: parallel_tool_calls"), "parallel_tool_calls"),
        (400, words("'parallel_tool_calls' is only allowed when 'tools' are specified."), "parallel_tool_calls"),
        (400, words("`temperature` is deprecated for this model."), "temperature"),
        (400, words("`temperature` and `top_p` cannot both be specified for this model."), "temperature"),
        (400, words("stream_options: Extra inputs are not permitted"), "stream_options"),
        (400, words("Invalid parameter: 'response_format' of type 'json_schema' is not supported"), "response_format"),
        (400, words("This response_format type is unavailable now"), "response_format"),
        (400, words("This model does not support parameter presencePenalty."), "presence_penalty"),
        (400, words("property 'seed' is unsupported"), "seed"),
        (400, words("Argument not supported on this model: stop"), "stop"),
        (400, words("Thinking may not be enabled when tool_choice forces tool use."), "tool_choice"),
        (400, words("Unsupported value: 'stream' does not support true with this model.", param="stream"), "stream"),
        (400, [words('Invalid JSON payload received. Unknown name "seed": Cannot find field.', code=400)], "seed"),
        (
            422,
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
            "seed",
        ),
        (404, words("No endpoints found that support the provided 'tool_choice' value."), "tool_choice"),
        (400, {"error": '"gemma3" does not support thinking'}, "think"),
        (500, words("Unsupported param: seed"), "seed"),
    ],
)
def test_what_is_named_as_unknown_is_left_out(status: int, error: Any, name: str) -> None:
    """By the parameter that the error names, else by its words, however they are put."""
    change = asked(status, error)
    assert change == Concession("leave_out", name)
    assert name not in change.changed(BODY)
    assert name in change.words


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, words("max_tokens is too large: 200000. This model supports at most 8192.", param="max_tokens")),
        (400, words("The model does not support tools", param="tools", code="unsupported_parameter")),
        (400, {"error": "registry.ollama.ai/library/gemma does not support tools"}),
        (
            400,
            words(
                "Invalid value for 'temperature': expected a number up to 2.", param="temperature", code="invalid_value"
            ),
        ),
        (400, words("something else is not supported")),
        (401, words("temperature is not supported for your key")),
        (429, words("seed is unsupported at this rate")),
        (400, words("context length exceeded, temperature is not supported", code="context_length_exceeded")),
    ],
)
def test_nothing_else_is_touched(status: int, error: Any) -> None:
    """A wrong value is the author's to mend, and a request goes nowhere without its tools."""
    assert asked(status, error) is None


def test_the_limit_is_renamed_once_and_never_left_out() -> None:
    """There is no request without a limit: it has two names, and then it is over."""
    refusal = words("Use 'max_completion_tokens' instead.", param="max_tokens", code="unsupported_parameter")
    change = asked(400, refusal)
    assert change == Concession("rename", "max_tokens")
    body = change.changed(BODY)
    assert (body.get("max_tokens"), body["max_completion_tokens"]) == (None, 64)
    again = words("Unknown parameter", param="max_completion_tokens", code="unknown_parameter")
    assert asked(400, again, body, change) is None
    assert asked(400, refusal, body, change) is None


def test_options_are_left_out_where_they_stand() -> None:
    """Ollama's settings are a level below."""
    body = {"model": "m", "messages": [], "options": {"seed": 1, "num_predict": 9}}
    change = asked(400, words("seed is not supported"), body)
    assert change == Concession("leave_out", "options.seed")
    assert change.changed(body)["options"] == {"num_predict": 9}


def test_a_field_that_comes_back_is_stripped_from_every_message() -> None:
    """What one provider adds, another may refuse."""
    reply = {**assistant("a"), "reasoning_content": "hm"}
    body = {**BODY, "messages": [user("hi"), reply, user("b")]}
    for error in (
        words("property 'messages.1.reasoning_content' is unsupported"),
        words("Extra inputs are not permitted", param="messages[1].reasoning_content"),
        {
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", "messages", 1, "reasoning_content"],
                    "msg": "Extra inputs are not permitted",
                }
            ]
        },
    ):
        change = asked(400, error, body)
        assert change == Concession("strip", "reasoning_content")
        assert change.changed(body)["messages"] == [user("hi"), assistant("a"), user("b")]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, words("System role not supported")),
        (500, words("System role not supported")),
        (400, words("Unsupported value: 'messages[0].role' does not support 'system' with this model.")),
        (400, words("Developer instruction is not enabled: system messages are not supported by this model")),
        (
            400,
            words(
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                param="messages[0].role",
                code="unsupported_value",
            ),
        ),
    ],
)
def test_instructions_are_said_by_the_user_where_there_is_no_system(status: int, error: Any) -> None:
    """They arrive all the same."""
    change = asked(status, error)
    assert change == Concession("fold", "system")
    assert change.changed(BODY)["messages"] == [user("Be brief.\n\nhi")]
    assert change.changed({**BODY, "messages": [system("Alone.")]})["messages"] == [user("Alone.")]


def test_neighbours_of_one_role_are_joined_where_roles_must_alternate() -> None:
    """A reminder after a question is part of it; calls and results stay as they are."""
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "1"}
    body = {**BODY, "messages": [user("a"), user("b"), call, result, assistant("c"), assistant("d")]}
    error = words("Conversation roles must alternate user/assistant/user/assistant/...")
    change = asked(500, error, body)
    assert change == Concession("merge", "messages")
    assert change.changed(body)["messages"] == [user("a\n\nb"), call, result, assistant("c\n\nd")]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("dialect", "error"),
    [
        ("openai", words("This response_format type is unavailable now")),
        ("ollama", {"error": "format is not supported"}),
        ("anthropic", words("output_config: Extra inputs are not permitted")),
    ],
)
def test_a_schema_that_cannot_be_sent_is_said_in_words(dialect: str, error: Any) -> None:
    """The model is told what it was not held to; in a conversation, at its end."""
    request = Request([user("How many?"), assistant("Of what?"), user("Of all.")], schema=SCHEMA)
    body = DIALECTS[dialect].body(ModelSpec("vllm/fake"), request, 64)
    change = asked(400, error, body)
    assert change is not None
    assert change.words.endswith("left out, and the schema said in words")
    found = change.changed(body)
    assert not found.keys() & {"response_format", "format", "output_config"}
    assert "fits this schema" in str(found["messages"][-1]["content"])
    assert "fits this schema" not in str(body["messages"])
    assert [message["role"] for message in found["messages"]] == ["user", "assistant", "user"]


TOOL = {
    "type": "function",
    "function": {
        "name": "f",
        "parameters": {
            "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 1}, "minimum": {"anyOf": [{"minimum": 2}]}},
            "additionalProperties": False,
        },
    },
}


@pytest.mark.parametrize(
    ("message", "keyword"),
    [
        ("Invalid JSON payload. Unknown name \"additionalProperties\" at 'tools[0]'", "additionalProperties"),
        ("Invalid schema for function 'f': In context=('properties', 'n'), 'minimum' is not permitted.", "minimum"),
    ],
)
def test_a_keyword_goes_from_the_schemas_and_from_no_name(message: str, keyword: str) -> None:
    """A property may be called like a keyword; what the schema no longer says is checked here."""
    body = {**BODY, "tools": [TOOL]}
    change = asked(400, words(message), body)
    assert change == Concession("unkey", keyword)
    parameters = change.changed(body)["tools"][0]["function"]["parameters"]
    assert set(parameters["properties"]) == {"n", "minimum"}
    there = ("additionalProperties" in parameters, "minimum" in parameters["properties"]["n"])
    assert there == (keyword != "additionalProperties", keyword != "minimum")
    assert asked(400, words(message), change.changed(body), change) != change


def test_a_word_stands_between_a_result_and_a_user_where_one_must() -> None:
    """The last word of a loop is asked for right after results."""
    refusal = words("Unexpected role 'user' after role 'tool'")
    change = asked(400, refusal, {**BODY, "messages": [user("a"), CALLED, RESULT, user("b")]})
    assert change == Concession("bridge", "messages")
    assert asked(400, refusal, {**BODY, "messages": [user("a")]}) is None
    said = change.changed({"messages": [user("a"), CALLED, RESULT, user("b")]})["messages"]
    assert said == [user("a"), CALLED, RESULT, assistant("…"), user("b")]


CALLED = {"role": "assistant", "tool_calls": [{"id": "a"}]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": ""}


@pytest.mark.parametrize(
    "error",
    [
        {"detail": [{"type": "missing", "loc": ["body", "messages", 1, "content"], "msg": "Field required"}]},
        words("Invalid value for 'content': expected a string, got null."),
        words("messages[1]: missing field `content`"),
    ],
)
def test_a_message_without_content_gets_an_empty_one(error: Any) -> None:
    """A message of calls only has none, and some servers want it there."""
    change = asked(422, error, {**BODY, "messages": [user("hi"), CALLED, RESULT]})
    assert change == Concession("fill", "content")
    assert change.changed({"messages": [CALLED, RESULT]})["messages"] == [{**CALLED, "content": ""}, RESULT]


@pytest.mark.parametrize(
    "message",
    ["messages: text content blocks must be non-empty", "Assistant message must have either content or tool_calls"],
)
def test_empty_content_is_no_content_where_it_is_refused(message: str) -> None:
    """Beside calls it goes; elsewhere it becomes a sign."""
    reply = {**CALLED, "content": ""}
    change = asked(400, words(message), {**BODY, "messages": [user("hi"), reply, RESULT]})
    assert change == Concession("blank", "content")
    assert change.changed({"messages": [reply, RESULT]})["messages"] == [CALLED, {**RESULT, "content": "…"}]


NAMES = [name for name in BODY if name not in ("model", "messages", "tools")]


@given(st.lists(st.sampled_from(NAMES), max_size=30))
def test_every_request_of_an_endpoint_that_wants_one_thing_less_each_time_comes_to_an_end(names: list[str]) -> None:
    """Parameters go one after another, each once, and what was conceded stays so."""
    made: tuple[Concession, ...] = ()
    rounds = 0
    for name in names:
        body = conceded(BODY, made)
        found = Trouble("refused", f"{name} is not supported", "unsupported_parameter", 400, param=name)
        change = concession(found, body, made)
        if change is None:
            continue
        rounds += 1
        assert change not in made
        assert conceded(BODY, (*made, change)) != body
        made = (*made, change)
    assert rounds == len(made) <= len(NAMES) + 1
    assert {"model", "messages", "tools"} <= set(conceded(BODY, made))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(message=st.text(max_size=40), param=st.text(max_size=12), code=st.text(max_size=6))
def test_no_words_raise(dialect: str, message: str, param: str, code: str) -> None:
    """What an endpoint says is data."""
    for status in (400, 500):
        found = DIALECTS[dialect].trouble(status, words(message, param=param, code=code), {}, 0.0)
        assert found is not None
        concession(found, BODY, ())


IMAGE = {"type": "image_url", "image_url": {"url": "https://h/a.png"}}


def test_an_image_stays_where_messages_are_joined() -> None:
    """Instructions go before it as a part of their own, and neighbours keep all of theirs."""
    text = {"type": "text", "text": "What is this?"}
    asked = {**BODY, "messages": [system("Be brief."), user([text, IMAGE]), user("Well?")]}
    whole = [{"type": "text", "text": "Be brief."}, text, IMAGE]
    folded = Concession("fold", "system").changed(asked)
    assert folded["messages"] == [user(whole), user("Well?")]
    merged = Concession("merge", "messages").changed(folded)
    assert merged["messages"] == [user([*whole, {"type": "text", "text": "Well?"}])]


@pytest.mark.parametrize(
    "message",
    [
        "Requests which include `tool_use` or `tool_result` blocks must define tools.",
        "litellm.UnsupportedParamsError: Bedrock doesn't support tool calling without `tools=` param specified.",
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    ],
)
def test_tools_of_the_history_are_named_where_an_endpoint_wants_them(message: str) -> None:
    """Proxies to Anthropic and Bedrock refuse a last word otherwise; none of the tools may be called."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [user("hi"), {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "a"}]
    asked_for = {"model": "m", "messages": history}
    change = asked(400, words(message), asked_for)
    assert change == Concession("declare", "tools")
    made = change.changed(asked_for)
    assert ([tool["function"]["name"] for tool in made["tools"]], made["tool_choice"]) == (["f"], "none")
    assert asked(400, words(message), made) is None
    assert asked(400, words(message), {"model": "m", "messages": [user("hi")]}) is None


@pytest.mark.parametrize(
    "error",
    [
        words("Tool call id was call_1_0 but must be a-z, A-Z, 0-9, with a length of 9."),
        words(
            "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
            code="string_above_max_length",
            param="messages[1].tool_calls[0].id",
        ),
        words("Value 'a:1' at 'toolUse.toolUseId' failed: Member must satisfy regular expression pattern: [a-z]+"),
    ],
)
def test_ids_are_sent_in_a_form_that_any_endpoint_takes(error: dict[str, Any]) -> None:
    """Mistral wants nine letters and digits, OpenAI at most forty: it is no prompt that is too long. A call and its
    result stay together, and two calls stay two."""

    def turn(id: str) -> list[dict[str, Any]]:
        call = {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        return [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": id, "content": ""}]

    history = {"model": "m", "messages": [user("hi"), *turn("call_1_0"), *turn("x" * 300), *turn("call_1_0")]}
    change = asked(400, error, history)
    assert change == Concession("shorten", "ids of calls")
    made = change.changed(history)
    ids = [m["tool_calls"][0]["id"] for m in made["messages"] if "tool_calls" in m]
    assert [m["tool_call_id"] for m in made["messages"] if "tool_call_id" in m] == ids
    assert len(set(ids)) == 3
    assert all(len(id) == 9 and id.isalnum() and id.isascii() for id in ids)
    assert asked(400, error, made, change) is None


@pytest.mark.parametrize(
    "message",
    [
        "messages.1.content.1: tool_use ids must be unique",
        "Invalid parameter: Duplicate value for 'tool_call_id' of 'a' in messages[7] and messages[8].",
        "The toolUse blocks at messages.2.content contain duplicate Ids: a",
    ],
)
def test_ids_that_come_again_are_numbered_where_an_endpoint_wants_them_unique(message: str) -> None:
    """A call and its result stay together, whatever other endpoints make of ids."""

    def turn() -> list[dict[str, Any]]:
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        return [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "a", "content": ""}]

    history = {"model": "m", "messages": [user("hi"), *turn(), *turn(), *turn()]}
    change = asked(400, words(message), history)
    assert change == Concession("number", "ids of calls")
    made = change.changed(history)["messages"]
    assert [m["tool_calls"][0]["id"] for m in made if "tool_calls" in m] == ["a", "a_2", "a_3"]
    assert [m["tool_call_id"] for m in made if m["role"] == "tool"] == ["a", "a_2", "a_3"]
    assert asked(400, words(message), {"model": "m", "messages": made}) is None


@pytest.mark.parametrize(
    "message",
    [
        "System message must be at the beginning.",
        "Only user and assistant roles are supported, with the exception of an initial optional system message!",
    ],
)
def test_one_system_message_stands_first_where_an_endpoint_wants_it_so(message: str) -> None:
    """The templates of Qwen and Mistral: those at the beginning are joined, and what comes later the user says."""
    history = [system("A."), system("B."), user("hi"), assistant("yes"), system("C."), user("go on")]
    change = asked(400, words(message), {"model": "m", "messages": history})
    assert change == Concession("lead", "system")
    made = change.changed({"messages": history})["messages"]
    assert made == [system("A.\n\nB."), user("hi"), assistant("yes"), user("C.\n\ngo on")]
    assert change.changed({"messages": made})["messages"] == made


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Only user and assistant roles are supported!"),
        (400, "Input should be 'user' or 'assistant'"),
        (400, 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter.'),
        (500, "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."),
    ],
)
def test_a_template_without_a_system_message_may_say_it_in_other_words(status: int, message: str) -> None:
    """It may only name the roles there are, or count the system's message among those that alternate."""
    asked_for = {"model": "m", "messages": [system("Be brief."), user("hi")]}
    change = asked(status, words(message), asked_for)
    assert change == Concession("fold", "system")
    assert change.changed(asked_for)["messages"] == [user("Be brief.\n\nhi")]


def test_roles_that_alternate_are_joined_before_a_system_message_goes() -> None:
    """What changes least comes first: whoever takes a system message keeps it."""
    body = {"model": "m", "messages": [system("A."), user("hi"), user("there")]}
    said = words("Conversation roles must alternate user/assistant")
    first = asked(400, said, body)
    assert first == Concession("merge", "messages")
    assert asked(400, said, first.changed(body), first) == Concession("fold", "system")
