"""A limit that an endpoint has no room for is lowered to what it says, and asked for once more."""

from __future__ import annotations

from typing import Any

import pytest

from loopworth.models.errors import trouble
from loopworth.models.room import room
from tests.agents.kit import make
from tests.cases.wire import play
from tests.endpoint import Answer, Received, said

VLLM = "This model's maximum context length is 4096 tokens. However, you requested {} tokens ({} in the messages,"


@pytest.mark.parametrize(
    ("message", "left"),
    [
        (f"{VLLM.format(5048, 3000)} 2048 in the completion).", 1096),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is 2304 "
            "tokens and your request has 300 input tokens (2048 > 2304 - 300).",
            2004,
        ),
        (
            "This model's maximum context length is 128000 tokens. However, you requested 2048 output tokens and your "
            "prompt contains at least 126466 input tokens, for a total of at least 128514 tokens.",
            1534,
        ),
        ("input length and `max_tokens` exceed context limit: 198500 + 2048 > 200000, decrease input length", 1500),
        ("`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 3000 `inputs` tokens and 2048", 1097),
        ("max_tokens is too large: 2048. This model supports at most 1024 completion tokens", 1024),
        ("max_tokens: 2048 > 1024, which is the maximum allowed number of output tokens for claude-x", 1024),
        ("`max_tokens` must be less than or equal to `1024`, the maximum value for `max_tokens`", 1024),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 1024]", 1024),
        (f"{VLLM.format(6048, 4000)} 2048 in the completion).", None),
        (f"{VLLM.format(8048, 6000)} 2048 in the completion).", None),
        ("This model supports at most 4096 completion tokens", None),
        ("the prompt is too long", None),
    ],
)
def test_an_endpoint_says_how_much_it_has_room_for(message: str, left: int | None) -> None:
    """None where it says nothing, where that is no less than was asked for, and where no reply fits into it."""
    found = trouble(400, {"error": {"message": message, "code": 400}}, {}, 0.0)
    assert found is not None
    assert room(found, 2048) == left


def test_a_reply_is_asked_for_in_the_room_there_is() -> None:
    """Once more, of that call only, and told; the next request may have more room or less."""

    def server(received: Received) -> Any:
        asked = received.body["max_tokens"]
        if asked > 1096:
            return Answer(400, {"error": {"message": f"{VLLM.format(5048, 3000)} 2048 in the completion)."}})
        return said("done")

    found = play({}, make(), last=server)
    assert (found.outcome.exit, found.outcome.answer) == ("success", "done")
    assert [body["max_tokens"] for body in found.sent] == [2048, 1096]
    assert found.outcome.warnings == ("the endpoint has room for 1,096 tokens of output only",)


def test_a_prompt_that_fills_the_context_overflows() -> None:
    """Nothing is asked for twice."""
    full = Answer(400, {"error": {"message": f"{VLLM.format(6048, 4000)} 2048 in the completion)."}})
    found = play({}, make(), full)
    assert (found.outcome.exit, len(found.sent)) == ("context_overflow", 1)
