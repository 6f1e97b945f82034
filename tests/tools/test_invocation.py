"""The way of a call: admission, intent, record, failures, keys. The same layer whoever calls."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.budget import Limits
from loopworth.runs.decision import Decision
from loopworth.runs.journal import MemoryJournal, Record
from loopworth.runs.message import ToolCall
from loopworth.runs.outcome import Diverged, Waiting
from loopworth.tools.python import python_tool
from loopworth.tools.toolbox import Toolbox
from tests.tools.kit import deciding, invoke, place

DONE = []


@pytest.fixture(autouse=True)
def _():
    DONE.clear()


def pay(amount: int, *, key: str = "") -> str:
    """Pay an amount."""
    DONE.append((amount, key))
    return f"paid {amount}"


def write(**rules):
    return python_tool("pay", pay, effect="write", inline=True, **rules)


def read(function=lambda: DONE.append("read") or "read", **rules):
    return python_tool("t", function, effect="read", inline=True, **rules)


def test_an_observation_holds_what_ran():
    """Call id, canonical arguments, the plain value, its text."""
    seen = invoke(write(), '{"amount": 5}')
    assert (seen.call, seen.tool, seen.status, seen.owner) == ("c1", "pay", "ok", None)
    assert (seen.content, seen.full, seen.arguments) == ("paid 5", "paid 5", {"amount": 5})


def test_a_refusal_by_a_limit_is_an_answer_that_names_it():
    """The call is not made; exit reason, owner and words travel with the observation, also on a replay."""
    journal = MemoryJournal()
    fx = place(limits=Limits(tool_calls=1), journal=journal)
    first, second = invoke(read(), fx=fx, id="a"), invoke(read(), fx=fx, id="b")
    assert (first.status, DONE) == ("ok", ["read"])
    assert (second.status, second.limit, second.owner, second.full) == (
        "not_run",
        "tool_call_limit",
        "",
        "tool_calls: 1",
    )
    assert second.content == second.limit
    assert invoke(read(), fx=place(journal=journal), id="b") == second


def test_refused_arguments_cost_nothing():
    """They leave no record, are not admitted, and are no failure of the tool."""
    journal = MemoryJournal()
    fx = place(limits=Limits(tool_calls=1), journal=journal)
    assert invoke(write(), {"amount": "x"}, fx=fx).status == "invalid_arguments"
    assert (journal.records, fx.budget.tool_calls, fx.budget.failures) == ({}, 0, {})


def test_a_note_on_the_call_is_told_with_unreadable_arguments_only():
    """Such as that the reply was probably cut."""
    assert invoke(write(), '{"amount": 1', note="probably cut").content.endswith("it was cut off (probably cut)")
    assert "probably" not in invoke(write(), '{"amount": "x"}', note="probably cut").content


@pytest.mark.parametrize(("allowed", "hit"), [(3, "tool_failures"), (4, None), (None, None)])
def test_the_third_failure_of_a_tool_ends_the_run(allowed, hit):
    """Only the tool's own failures count: raised, timed out, not convertible."""
    fx = place()
    broken = read(lambda: 1 / 0, max_failures=allowed)
    for k in range(3):
        assert invoke(broken, fx=fx, id=str(k)).status == "tool_error"
    invoke(write(), {"amount": "x"}, fx=fx)
    assert (fx.budget.hit, fx.budget.failures) == (hit, {"t": 3})


def test_a_write_leaves_an_intent_before_it_is_called():
    """And its result after, under the same id and hash; a read leaves only its result."""
    kept = []

    class Watching(MemoryJournal):
        async def put(self, id, record):
            kept.append((id, record.kind, len(DONE)))
            await super().put(id, record)

    invoke(write(), {"amount": 5}, fx=place(journal=Watching()))
    assert kept == [("1/call[0]", "intent", 0), ("1/call[0]", "tool", 1)]
    invoke(read(), fx=place(journal=Watching()))
    assert [kind for _, kind, _ in kept[2:]] == ["tool"]


def test_a_recorded_call_is_not_made_again():
    """The replay's observation is equal, key order included."""
    journal = MemoryJournal()
    tool = read(lambda: DONE.append(1) or {"z": 1, "a": [2]})
    first, again = (invoke(tool, fx=place(journal=journal)) for _ in range(2))
    assert (first, DONE) == (again, [1])
    assert list(again.full) == ["z", "a"]


def test_another_call_under_a_known_id_is_a_divergence():
    """A changed file or a bug of ours: raised, never told to a model."""
    journal = MemoryJournal()
    invoke(write(), {"amount": 5}, fx=place(journal=journal))
    with pytest.raises(Diverged):
        invoke(write(), {"amount": 6}, fx=place(journal=journal))


def interrupted():
    """The journal of a run that was killed inside a write of 5."""
    journal = MemoryJournal()
    invoke(write(), {"amount": 5}, fx=place(journal=journal))
    DONE.clear()
    record = journal.records["1/call[0]"]
    return MemoryJournal({"1/call[0]": Record(record.hash, "intent")})


def test_a_write_that_may_have_happened_waits_for_a_person():
    """Never a second call on its own."""
    with pytest.raises(Waiting) as waiting:
        invoke(write(), {"amount": 5}, fx=place(journal=interrupted()))
    assert (waiting.value.gates, DONE) == (("1/call[0]/uncertain",), [])


@pytest.mark.parametrize(
    ("decision", "status", "content", "calls"),
    [
        (Decision("approve"), "ok", "paid 5", 1),
        (Decision("reject", note="it went through"), "uncertain", "it went through", 0),
        (Decision("reject"), "uncertain", "it is not known whether this call happened", 0),
    ],
)
def test_a_person_says_whether_an_uncertain_write_is_called_again(decision, status, content, calls):
    """Approved it is called once more; otherwise the answer says what they know, and is recorded."""
    journal = interrupted()
    ask, asked = deciding(decision)
    seen = invoke(write(), {"amount": 5}, fx=place(journal=journal, ask=ask))
    assert (seen.status, seen.content, len(DONE), len(asked)) == (status, content, calls, 1)
    assert invoke(write(), {"amount": 5}, fx=place(journal=journal)) == seen


def test_an_idempotent_write_is_simply_called_again_with_its_key():
    """Whoever receives it knows the key."""
    seen = invoke(write(idempotent=True), {"amount": 5}, fx=place(journal=interrupted()))
    assert (seen.status, DONE) == ("ok", [(5, "r/1/call[0]")])


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("paid/call", "r/paid/call"),
        ("figures/3/~2/call", "r/figures/3/call"),
        ("~2/call", "r/call"),
        ("a/~1/b/~12/call[1]", "r/a/b/call[1]"),
        ("choose~2/call", "r/choose~2/call"),
    ],
)
def test_the_key_of_a_write_is_the_same_in_every_attempt(path, key):
    """Run and effect id without the attempts; a model neither sees nor sets it."""
    invoke(write(), {"amount": 5}, id=path)
    assert [(5, key)] == DONE
    assert list(write().parameters["properties"]) == ["amount"]
    assert invoke(write(), {"amount": 5, "key": "mine"}).status == "invalid_arguments"


def test_a_positional_argument_named_key_is_an_argument():
    """Only a keyword-only `key` asks for the idempotency key."""

    def lookup(key: str) -> str:
        return key

    assert invoke(lookup, {"key": "a"}).full == "a"


def test_two_runs_have_different_keys():
    """Or the second payment would be taken for the first."""
    for fx in (place(run=""), place(run="")):
        invoke(write(), {"amount": 5}, fx=fx)
    assert DONE[0][1] != DONE[1][1]


def test_a_bug_of_ours_is_raised():
    """A journal that fails is no tool error."""

    class Broken(MemoryJournal):
        async def put(self, *_):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        invoke(read(), fx=place(journal=Broken()))


# -- whatever comes in ----------------------------------------------------------------------------------------------

ALLOWED = {"field": ["budget", "staff"], "codes": {"pattern": "[A-Z]{1,3}"}}


def lookup(codes: list[str], field: str = "budget", n: int = 1, deep: dict[str, float] | None = None) -> str:
    """Look up."""
    DONE.append((codes, field, n, deep))
    return "x"


GUARDED = python_tool("lookup", lookup, effect="read", inline=True, allow=ALLOWED)
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["budget", "AB", "Z"])
VALUE = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
NAMES = st.sampled_from(["codes", "field", "n", "deep"])
FITTING = st.fixed_dictionaries(
    {"codes": st.lists(st.sampled_from(["AB", "Z", "zz"]), max_size=2)},
    optional={"field": st.sampled_from(["budget", "salary"]), "n": st.integers() | st.text(), "deep": VALUE},
)
OBJECTS = FITTING | st.dictionaries(NAMES | st.text(), VALUE, max_size=5)
ANYTHING = OBJECTS | OBJECTS.map(json.dumps) | OBJECTS.map(json.dumps).map(json.dumps) | st.text() | VALUE | st.binary()


@given(ANYTHING)
def test_whatever_is_written_as_arguments_gives_one_answer_and_only_allowed_calls(arguments):
    """Exactly one observation comes, and the function never sees a value outside its schema and allow-list."""
    DONE.clear()
    seen = asyncio.run(Toolbox([GUARDED]).invoke(ToolCall("c", "lookup", arguments), place().at("c")))
    assert (seen.call, seen.tool) == ("c", "lookup")
    assert seen.content.strip()
    assert seen.status in ("ok", "invalid_arguments", "not_allowed")
    assert len(DONE) == (seen.status == "ok")
    for codes, field, n, deep in DONE:
        assert field in ALLOWED["field"]
        assert all(type(code) is str and code.isascii() and code.isupper() and len(code) <= 3 for code in codes)
        assert type(n) is int
        assert deep is None or all(type(value) is float for value in deep.values())


@given(st.text(st.characters()) | st.sampled_from(["Lookup", "look-up"]), ANYTHING)
def test_whatever_is_written_as_a_name_gives_one_answer(name, arguments):
    """An unknown tool is answered with what there is, in printable text."""
    DONE.clear()
    if name == "lookup":
        return
    seen = asyncio.run(Toolbox([GUARDED]).invoke(ToolCall("c", name, arguments), place().at("c")))
    assert (seen.status, DONE) == ("unknown_tool", [])
    assert seen.content.endswith("the tools are lookup")
    assert seen.content.isprintable()
