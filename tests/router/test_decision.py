"""Reading a label: exact after what surrounds it is dropped, and nothing else."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models import ScriptedModel
from loopworth.router.decision import AROUND, decide, read
from loopworth.runs.effects import Effects
from loopworth.runs.message import assistant, user
from loopworth.runs.world import Live

LABELS = {"billing": "invoices, refunds", "how-to": None}


@pytest.mark.parametrize(
    "said",
    [
        "billing",
        "Billing.",
        ' "BILLING"\n',
        "**billing**",
        "“Billing”!",
        '{"label": "billing"}',
        '```json\n{"label": "billing"}\n```',
        "- billing",
    ],
)
def test_a_label_is_read_without_what_surrounds_it(said):
    """Whitespace, quotes, a bullet, punctuation and case do not matter, and a JSON object stands for its label."""
    assert (read(said, LABELS).label, read(said, LABELS).rule) == ("billing", "label")


@pytest.mark.parametrize(
    "said",
    [
        *["It is billing", "billing or how-to", "not billing.", "bill", "how to", "", "{}", '{"label": 3}'],
        '{"label": ' + "[" * 5000,
    ],
)
def test_a_sentence_that_holds_a_label_is_not_that_label(said):
    """No word is searched for, and nothing near is taken."""
    assert (read(said, LABELS).label, read(said, LABELS).rule) == (None, "no label")


def test_none_abstains_unless_it_is_a_label():
    """A model may say that nothing fits."""
    assert read("None.", LABELS).rule == "abstained"
    assert read("None.", {"none": "no action", "some": None}).label == "none"


@given(st.sampled_from(sorted(LABELS)), st.text(AROUND, max_size=5), st.text(AROUND, max_size=5))
def test_whatever_surrounds_a_label_it_is_read(label, before, after):
    """The rule holds for any mix of surrounding characters."""
    assert read(f"{before}{label.upper()}{after}", LABELS).label == label


def decided(*replies, **how):
    model = ScriptedModel(list(replies))
    fx = Effects(Live({"m": model}))
    return asyncio.run(decide(fx, [user("Which desk?")], LABELS, model="m", **how)), model, fx


def test_the_model_sees_labels_and_descriptions():
    """The closed set stands under the author's prompt, with the word that abstains."""
    _, model, _ = decided("billing")
    assert model.requests[0].messages == [
        user(
            "Which desk?\n\nAnswer with exactly one of these labels and nothing else:\n"
            "- billing: invoices, refunds\n- how-to\n- none: nothing above fits"
        )
    ]
    assert model.requests[0].schema is None


def test_an_unreadable_reply_is_asked_again_once():
    """The re-ask is `choose~2`; a second bad reply is the end, and a good first one is never asked again."""
    decision, model, fx = decided("dunno", "Billing")
    assert (decision.label, decision.said) == ("billing", "Billing")
    assert [event.at for event in fx.trace()] == ["choose", "choose~2"]
    assert model.requests[1].messages[1:] == [
        assistant("dunno"),
        user("That is not a label. Answer with exactly one of: billing, how-to, none."),
    ]
    decision, model, _ = decided("dunno", "no idea", "never asked")
    assert (decision.label, decision.said, decision.rule, len(model.requests)) == (None, "no idea", "no label", 2)


def test_a_constrained_decision_sends_the_labels_as_an_enum():
    """An endpoint that decodes under a schema can say nothing else."""
    decision, model, _ = decided('{"label": "how-to"}', constrained=True)
    assert decision.label == "how-to"
    assert model.requests[0].schema["properties"]["label"]["enum"] == ["billing", "how-to", "none"]
