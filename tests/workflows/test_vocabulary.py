"""What other tools call a thing is answered with what it is called here, where it may stand."""

from typing import Literal, get_args, get_origin

import pytest

from loopworth.comparisons.named_scores import JUDGE, KINDS
from loopworth.comparisons.spec import Comparison, Decide
from loopworth.workflows import spec
from loopworth.workflows.builder import Builder
from loopworth.workflows.document import parse
from loopworth.workflows.faults import suggestion
from loopworth.workflows.form import Form, all_forms, later_keys, leads, members, unborn, unwrapped, usable
from loopworth.workflows.vocabulary import KEYS, WORDS, meant, places

FORMS = sorted(set(all_forms(Form)), key=lambda form: form.__name__)


def told(form, text):
    """What is written of each unknown key: what to write instead."""
    builder = Builder(parse(text, "f"))
    builder.form(form, builder.document.value)
    return [fault.instead for fault in builder.faults if "unknown key" in fault.what]


@pytest.mark.parametrize("place", KEYS)
def test_every_place_of_the_vocabulary_is_one_of_the_language(place):
    """A key that was renamed is renamed there too."""
    assert any(leads(tuple(place.split(".")), form) for form in FORMS)


def test_every_word_of_the_vocabulary_is_one_that_some_key_takes():
    """The same of the words: shapes, scores and the closed ones."""
    closed = {
        word
        for form in FORMS
        for info in form.model_fields.values()
        for option in members(info.annotation)
        for one in (unwrapped(option), *map(unwrapped, get_args(unwrapped(option))))
        if get_origin(one) is Literal
        for word in get_args(one)
    }
    assert WORDS.keys() <= {*closed, *spec.SHAPES, *KINDS, "python", JUDGE}


@pytest.mark.parametrize(
    ("form", "text", "instead"),
    [
        (spec.OpenLoop, "max_iterations: 8", "write `budget: {turns: 8}`"),
        (spec.OpenLoop, "maxTurns: 8", "write `budget: {turns: 8}`"),
        (spec.OpenLoop, "budget: {tokens: 9}\nrecursion-limit: 8", "write `turns: 8` under `budget`"),
        (spec.Budget, "max_steps: 8", "did you mean 'turns'?"),
        (spec.Step, "call: x\nargs: {a: 1}", "did you mean 'with'?"),
        (spec.Step, "call: x\narguments: {a: 1}", "did you mean 'with'?"),
        (spec.OpenLoop, "inputs: {a: str}", "did you mean 'input'?"),
        (spec.OpenLoop, "system_prompt: x", "did you mean 'instructions'?"),
        (spec.Step, "tool: x", "did you mean 'call'?"),
        (spec.OpenLoop, "tool: x", "did you mean 'tools'?"),
        (spec.Step, "call: x\nmax_retries: 3", "write `retry: {attempts: 3}`"),
        (spec.ModelForm, "name: a/b\nmax_retries: 3", "did you mean 'retries'?"),
        (Comparison, "agents: {}", "did you mean 'arms'?"),
        (Comparison, "decide: {max_iterations: 8}", ""),
    ],
)
def test_a_word_of_another_tool_is_answered_with_ours(form, text, instead):
    """However it is cased and joined; the value that it holds is in what to write, where that is short."""
    assert instead in told(form, text)[0]
    assert told(form, text)[0]


def test_a_word_of_another_tool_counts_as_what_is_meant():
    """What it holds is read there, so that one mistake is one fault."""
    builder = Builder(parse("workflow: w\nshape: open_loop\nprompt: x\nmax_iterations: 8\n", "f"))
    made = builder.form(spec.OpenLoop, builder.document.value)
    assert made.budget is not None
    assert (made.budget.turns, len(builder.faults)) == (8, 1)
    builder = Builder(parse("workflow: w\nshape: open_loop\nprompt: x\nmax_iterations: lots\n", "f"))
    builder.form(spec.OpenLoop, builder.document.value)
    assert [(fault.line, fault.column) for fault in builder.faults] == [(4, 1), (4, 17)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_what_is_suggested_for_a_key_may_stand_there(form):
    """A fourth of the words of other tools, and of the keys of other forms, in every form, and each in some: never a
    key that it has not."""
    words = {word for theirs in KEYS.values() for word in theirs.split()} | {
        key for one in FORMS for key in usable(one)
    }
    unknown = sorted(words - {*usable(form), *form.misplaced})
    for word in unknown[FORMS.index(form) % 4 :: 4]:
        place, advice = Builder(parse("x: 1", "f")).meant(form, word, {word: 1}, ())
        assert not place or leads(place, form), word
        assert advice, word
        assert "mcp" not in advice, word


@pytest.mark.parametrize("word", ["mcq", "mpc", "mcp_server", "args", "url"])
def test_nothing_of_a_later_version_is_suggested(word):
    """Not as the nearest key, not in a list of keys, and not as the place where a key stands."""
    assert later_keys(spec.Tool) == ("mcp", "use")
    assert spec.McpServer in unborn()
    [advice] = told(spec.Tool, f"python: a:b\neffect: read\n{word}: x")
    assert "mcp" not in advice
    assert "mcp" not in told(Decide, f"{word}: x")[0]


def test_a_list_that_is_short_enough_is_shown_whole():
    """And one that is not says that there is more; one of nothing says so, whatever should be in it."""
    assert suggestion("zzz", [f"word{n:02}" for n in range(30)], "words").endswith("word28, word29")
    assert suggestion("zzz", [f"word{n:03}" for n in range(300)], "words").endswith(", …")
    assert suggestion("zzz", [], "arguments") == "there are no arguments"


def test_words_are_known_however_they_are_joined():
    """As programs and files of other tools write them."""
    for word in ("maxIterations", "max-iterations", "Max Iterations"):
        assert ("budget", "turns") in places(word)
        assert places(word) == places("max_iterations")


def test_what_other_tools_call_a_word_comes_before_what_is_near_it():
    """`exact` is like `equals` in no letter."""
    assert (meant("exact_match", KINDS), meant("equls", KINDS), meant("zzz", KINDS)) == ("equals", "equals", None)
