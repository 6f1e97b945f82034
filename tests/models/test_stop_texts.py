"""The texts at which a reply ends, in each wire format."""

import pytest

from loopworth.models.dialects import DIALECTS
from loopworth.models.spec import ModelSpec
from loopworth.models.wire import decode, encode
from loopworth.runs.message import Request, user

WHERE = {"openai": ("stop",), "anthropic": ("stop_sequences",), "ollama": ("options", "stop")}


@pytest.mark.parametrize("name", WHERE)
def test_stop_texts_are_sent_by_the_name_that_the_format_has_for_them(name):
    """https://platform.openai.com/docs/api-reference/chat/create (stop), https://docs.anthropic.com/en/api/messages
    (stop_sequences), https://docs.ollama.com/modelfile (options, stop); without any, nothing is said of it."""
    body = sent(name, Request([user("hi")], stop=("\nObservation:",)))
    for key in WHERE[name]:
        body = body[key]
    assert body == ["\nObservation:"]
    assert "stop" not in str(sent(name, Request([user("hi")])))


@pytest.mark.parametrize(("name", "key"), [("openai", "stop"), ("anthropic", "stop_sequences")])
def test_a_file_s_own_stop_texts_go_first(name, key):
    """`extra` is the author's last word."""
    assert sent(name, Request([user("hi")], stop=("\nObservation:",)), {key: ["END"]})[key] == ["END"]


def sent(name, request, extra=None):
    return decode(encode(DIALECTS[name].body(ModelSpec("vllm/m", extra=extra or {}), request, None)))
