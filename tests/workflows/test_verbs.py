"""The verbs that ask a model: labels and seeds. The others are tested with the pipeline."""

from loopworth.workflows import verbs
from tests.workflows.kit import ask, pipeline, prompt, run, step


def test_a_choose_step_gives_the_label():
    """The value is the label; what is none of them fails the step with what was said."""
    act = verbs.choose(prompt("Which desk?"), {"billing": "invoices", "how-to": None}, verbs.Chat("m"))
    made = pipeline(step("desk", act), answer="{{ desk }}")
    assert run(made, replies=['"How-To".'])[0].answer == "how-to"
    outcome, _ = run(made, replies=["dunno", "still dunno"])
    assert outcome.exit == "step_failed"
    assert outcome.note == "step 'desk': the model chose none of billing, how-to: it said 'still dunno'"


def test_seeds_differ_by_item_and_are_the_same_in_every_run():
    """A call's seed is made of the model's seed and its place; without a seed there is none."""
    act = verbs.ask(prompt("Vote"), verbs.Chat("m", seed=7))
    made = pipeline(step("v", act, each="{{ [1, 2, 3] }}"), answer="{{ v }}")
    seeds = [[request.seed for request in run(made, replies=["a"] * 3)[1].requests] for _ in range(2)]
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 3
    assert run(pipeline(ask("a", "Hi"), answer="{{ a }}"), replies=["x"])[1].requests[0].seed is None


def test_a_reply_without_text_says_what_it_holds():
    """A step offers no tools, so a call is no answer; it is named, and so is a finish reason that nobody knows."""
    made = pipeline(ask("a", "Hi"), answer="{{ a }}")
    for reply, why in [
        ({"calls": [{"tool": "pay", "arguments": "{}"}]}, "the reply only calls pay: no tool was offered"),
        ({"text": "", "finish": "MALFORMED"}, "unknown finish reason 'MALFORMED'"),
        ("", "the reply held neither text nor a tool call"),
    ]:
        assert run(made, replies=[reply])[0].note == f"step 'a' came back empty: {why}"
