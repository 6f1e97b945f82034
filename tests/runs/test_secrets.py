"""Secrets: whatever spelling a known value comes in, it is masked, and nothing else is."""

from __future__ import annotations

import json
import logging
import string
import urllib.parse

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.effects import Effects
from loopworth.runs.message import Reply, ToolCall, user
from loopworth.runs.secrets import KEY, MASK, Secrets, hide, in_address, learn
from loopworth.runs.transcript import Transcript
from loopworth.runs.world import Nothing
from tests.spellings import SPELLINGS, left

KEYS = (
    "sk-proj-AbC_d3f/9hIjK+LmN==",
    'pass"w\\ord & <s>',
    "schlüssel-ß-2026",
    "-----BEGIN\nKEY-----\nx1y2z3",
    "12345678",
)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_secret_is_masked_in_every_spelling(key: str, name: str) -> None:
    """With what stands around it left."""
    shown = Secrets({key: False}).text(f"before {SPELLINGS[name](key)} after")
    assert MASK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert left(key, shown) == []


MANY = Secrets(dict.fromkeys((*KEYS, *(f"key-{n}-{n * 7919:012d}" for n in range(20))), False))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", SPELLINGS)
def test_a_secret_is_suspected_among_many(key: str, name: str) -> None:
    """However many are known; a word in which none is, is not."""
    assert MANY.suspects(msgspec.json.encode({"said": f"before {SPELLINGS[name](key)} after"}))
    assert not Secrets({f"key-{n}-{n * 7919:012d}": False for n in range(20)}).suspects(b'{"said": "an ordinary word"}')


secret = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=KEY, max_size=40).filter(
    lambda text: text == text.strip() and len(set(text)) > 3
)


@given(secret, st.sampled_from(sorted(SPELLINGS)), st.text(max_size=30))
def test_no_secret_is_found_in_what_is_shown(key: str, name: str, around: str) -> None:
    """For any secret, in any spelling, between any text."""
    shown = Secrets({key: False}).text(f"{around} {SPELLINGS[name](key)} {around}")
    assert MASK in shown
    assert key not in shown


@given(st.text(alphabet=string.printable, max_size=400))
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    """Nothing is masked by chance."""
    secrets = Secrets({KEYS[0]: False, KEYS[1]: False})
    assert secrets.text(text) == text


@pytest.mark.parametrize("key", KEYS)
def test_a_value_is_masked_at_any_depth(key: str) -> None:
    """In texts, names of fields, arguments that are JSON, and our own values; the value itself is not changed."""
    learn(key)
    arguments = json.dumps({"token": key})
    reply = Reply({"role": "assistant", "content": [{"type": "text", "text": key}]}, (ToolCall("1", "t", arguments),))
    value = {"a": [reply, (key, {key: 1})], "b": 7}
    shown = hide(value)
    assert left(key, repr(shown)) == []
    assert json.loads(shown["a"][0].calls[0].arguments) == {"token": MASK}
    assert value["a"][1][0] == key


def test_a_number_that_is_a_secret_is_masked() -> None:
    """A tool may give a PIN back as a number."""
    learn("12345678")
    assert hide({"pin": 12345678, "n": 7, "ok": True}) == {"pin": MASK, "n": 7, "ok": True}


def test_a_value_without_a_secret_is_the_same_object() -> None:
    """It is not copied."""
    learn(KEYS[0])
    value = {"a": ["b", {"c": 1}]}
    assert hide(value) is value


def test_short_values_are_secret_only_by_name_and_as_words() -> None:
    """`eu` in the environment would else be masked in every text."""
    learn("tiny", "hunter2")
    assert hide("tiny hunter2") == "tiny hunter2"
    learn("eu", "hunter2", least=4)
    assert hide("eu hunter2, hunter22 and shunter2") == "eu ***, hunter22 and shunter2"


def test_what_no_codec_takes_is_masked_too() -> None:
    """Half a surrogate pair has no JSON."""
    learn(KEYS[0])
    assert hide({"a": f"\ud800 {KEYS[0]}"}) == {"a": "\ud800 ***"}


def test_the_secrets_of_an_address_are_its_password_and_its_query() -> None:
    """Some endpoints take their key there."""
    assert list(in_address("https://me:pass-word@host/v1?key=abcdefgh&n=1")) == ["pass-word", "abcdefgh", "1"]
    assert list(in_address("http://[::1")) == []


def test_no_log_line_holds_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    """In the message, its arguments, a traceback, or the stack; of any library, since records are made without it."""
    learn(KEYS[0])
    log = logging.getLogger("httpcore.http11")
    with caplog.at_level(logging.DEBUG):
        log.debug("send %r", [(b"Authorization", f"Bearer {KEYS[0]}".encode())])
        log.debug("GET https://host/?key=%s", urllib.parse.quote(KEYS[0], safe=""))
        try:
            raise ValueError(KEYS[0])
        except ValueError:
            log.exception("failed")
    assert left(KEYS[0], caplog.text) == []
    assert caplog.text.count(MASK) == 3
    assert "ValueError" in caplog.text


def test_a_log_call_with_wrong_arguments_is_left_to_logging(caplog: pytest.LogCaptureFixture) -> None:
    """A bug of a caller is reported as ever."""
    learn(KEYS[0])
    with caplog.at_level(logging.DEBUG):
        record = logging.getLogRecordFactory()("a", logging.INFO, "f", 1, "%d", ("x",), None)
    assert record.args == ("x",)


def test_what_is_said_to_a_model_holds_no_secret() -> None:
    """Nor does what is recorded of it; also where the key stood in the author's own prompt."""
    learn(KEYS[0])
    fx = Effects(Nothing())
    log = Transcript(fx)
    log.add(user(f"my key is {KEYS[0]}"))
    assert log.seen == [user(f"my key is {MASK}")] == [said.message for said in fx.transcript()]


def test_json_that_is_encoded_already_is_masked() -> None:
    """A report holds transcripts so; other JSON in it stays as it was written."""
    learn(KEYS[0])
    other = msgspec.Raw(b'{"a":  1}')
    shown = hide({"a": msgspec.Raw(json.dumps({"said": KEYS[0]}).encode()), "b": other})
    assert (bytes(shown["a"]), shown["b"]) == (b'{"said":"***"}', other)


@pytest.mark.parametrize("key", ["\\" * 12 + 'ab"' * 4, '\\"\\"\\"\\"\\"', "/" * 12])
@pytest.mark.parametrize("text", ["\\" * 5000, "\\" * 2000 + '"' * 99, " \n" * 3000, '\\"' * 2000, "/" * 11 + "x"])
def test_no_text_takes_long_to_look_through(key: str, text: str) -> None:
    """Repetitions in a pattern are bounded: a key full of backslashes once took for ever."""
    assert Secrets({key: False}).pattern.sub(MASK, text).count(MASK) <= len(text)
