"""The pipeline: order, barriers, for_each, skipped values, and how it ends."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.runs.budget import Limits
from loopworth.runs.decision import Decision
from loopworth.runs.effects import Effects
from loopworth.runs.events import ToolCalled
from loopworth.runs.executor import execute
from loopworth.runs.journal import MemoryJournal
from loopworth.runs.world import Live, Nothing
from loopworth.tools.gate import Gate
from loopworth.workflows import verbs
from loopworth.workflows.pipeline import Step, needs
from loopworth.workflows.template_data import Skipped
from tests.workflows.kit import ask, assign, call, check, pipeline, run, states, step, tools


def length(code: str) -> int:
    return len(code)


def note(n: int = 1) -> int:
    return n


def test_a_pipeline_runs_its_steps_and_answers():
    """Values flow from step to step, keep their types, and make the answer."""
    made = pipeline(
        call("figures", "lookup", {"code": "{{ item }}"}, each="{{ codes }}"),
        assign("total", "{{ figures | sum }}"),
        check("checked", "total >= 0", "negative"),
        answer={"total": "{{ total }}", "of": "{{ codes | length }} codes"},
    )
    outcome, _ = run(made, {"codes": ["A", "BB"]}, box=tools(lookup=length))
    assert (outcome.answer, outcome.exit) == ({"total": 3, "of": "2 codes"}, "success")
    assert [e.at for e in outcome.events if type(e) is ToolCalled] == ["figures/0/call", "figures/1/call"]
    assert states(outcome) == {"figures": "done", "total": "done", "checked": "done"}


def meeting(n):
    """A tool that answers only when `n` calls of it are in flight."""
    came = []

    async def meet(name: str = "") -> int:
        came.append(name)
        while len(came) < n:  # noqa: ASYNC110 - the others are to come while this one waits
            await asyncio.sleep(0)
        return len(came)

    return meet


def test_steps_that_do_not_read_each_other_run_concurrently():
    """Three reads meet: each waits until all are in flight."""
    made = pipeline(*(call(id, "meet", {}) for id in "abc"), answer="{{ [a, b, c] }}")
    assert run(made, box=tools(meet=meeting(3)))[0].answer == [3, 3, 3]


def test_a_step_waits_for_what_it_reads_and_for_barriers():
    """Data edges come from names; a barrier waits for all above, and all below wait for it."""
    steps = [Step("a", None), Step("b", None, reads=frozenset("a")), Step("c", None), Step("d", None, writes=True)]
    steps += [Step("e", None), Step("f", None, frozenset("aeg")), Step("g", None, barrier=True), Step("h", None)]
    edges = {id: "".join(sorted(of)) for id, of in needs(steps).items()}
    assert edges == {"a": "", "b": "a", "c": "", "d": "abc", "e": "d", "f": "ade", "g": "def", "h": "g"}


@given(st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 6))), min_size=1, max_size=7))
def test_every_step_runs_once_and_after_what_it_reads(plan):
    """Whatever the graph, each step runs exactly once, and never before a step above that it reads."""
    ran = []

    def act(n, reads):
        async def run(names, fx):
            assert all(f"s{r}" in names for r in reads if r < n)
            ran.append(n)

        return run

    steps = [
        Step(f"s{n}", act(n, reads), frozenset(f"s{r}" for r in reads), barrier=b) for n, (b, reads) in enumerate(plan)
    ]
    assert run(pipeline(*steps, answer="ok"))[0].answer == "ok"
    assert sorted(ran) == list(range(len(plan)))


def test_a_for_each_keeps_length_and_order_whatever_ends_first():
    """The last item to start may be the first to end: the list is in the order of the items."""
    ends = []

    async def slow(n: int) -> int:
        for _ in range(20 - 4 * n):
            await asyncio.sleep(0)
        ends.append(n)
        return n * 10

    made = pipeline(call("xs", "slow", {"n": "{{ item }}"}, each="{{ range(5) | list }}"), answer="{{ xs }}")
    assert run(made, box=tools(slow=slow))[0].answer == [0, 10, 20, 30, 40]
    assert ends == [4, 3, 2, 1, 0]


def test_item_and_index_are_in_scope_of_a_for_each():
    """Each item sees itself, its index, and the names above."""
    made = pipeline(assign("xs", "{{ index }}{{ item }}{{ mark }}", each="{{ letters }}"), answer="{{ xs }}")
    assert run(made, {"letters": ["a", "b"], "mark": "!"})[0].answer == ["0a!", "1b!"]


def test_a_for_each_over_a_write_runs_one_item_at_a_time():
    """Reads run concurrently, up to a bound; writes never do."""
    most = {"read": 0, "write": 0}
    now = {"read": 0, "write": 0}

    async def busy(kind):
        now[kind] += 1
        most[kind] = max(most[kind], now[kind])
        for _ in range(3):
            await asyncio.sleep(0)
        now[kind] -= 1
        return 0

    box = tools(read=lambda: busy("read"), write=lambda: busy("write"))
    items = "{{ range(20) | list }}"
    run(
        pipeline(call("a", "read", {}, each=items), call("b", "write", {}, each=items, writes=True), answer="ok"),
        box=box,
    )
    assert most == {"read": 8, "write": 1}


def test_after_a_failed_item_no_new_one_starts():
    """Items in flight end, the rest are never called; the end names step, item, tool and reason."""
    called = []

    def lookup(n: int) -> int:
        called.append(n)
        if n == 2:
            raise LookupError("no such project")
        return n

    made = pipeline(call("xs", "write", {"n": "{{ item }}"}, each="{{ range(100) | list }}", writes=True), answer="ok")
    outcome, _ = run(made, box=tools(write=lookup))
    assert called == [0, 1, 2]
    assert outcome.exit == "step_failed"
    assert outcome.note == "step 'xs': item 2: write (tool_error): write failed: LookupError: no such project"


def test_a_for_each_needs_a_list():
    """A text is not taken for a list of its letters."""
    outcome, _ = run(pipeline(assign("xs", "{{ item }}", each="{{ word }}"), answer="ok"), {"word": "abc"})
    assert (outcome.exit, outcome.note) == ("step_failed", "step 'xs': for_each needs a list, got a text")


def test_a_skipped_step_is_falsy_and_its_unguarded_use_fails_the_reader():
    """`if` false skips; a guarded read works, and any other names the reader and the skipped step."""
    skipping = assign("a", "x", when="no")
    guarded = pipeline(skipping, assign("b", "{{ a or 'none' }}"), answer="{{ b }} {{ a is defined }}")
    outcome, _ = run(guarded, {"no": False})
    assert outcome.answer == "none false"
    assert states(outcome) == {"a": "skipped", "b": "done"}
    outcome, _ = run(pipeline(skipping, assign("b", "{{ a }}"), answer="ok"), {"no": False})
    assert outcome.exit == "step_failed"
    assert "step 'b': `{{ a }}`: reads a step that was skipped" in outcome.note


def test_skipped_items_keep_their_places():
    """`if` under `for_each` is asked per item; `select('defined')` drops what was skipped."""
    xs = assign("xs", "{{ item }}", each="{{ [1, 2, 3] }}", when="item != 2")
    outcome, _ = run(
        pipeline(xs, answer="{{ xs | length }} {{ xs | select('defined') | list }} {{ xs[1] is defined }}")
    )
    assert outcome.answer == "3 [1, 3] false"
    assert states(outcome) == {"xs/1": "skipped", "xs": "done"}
    outcome, _ = run(pipeline(xs, answer="{{ xs }}"))
    assert (outcome.exit, outcome.answer) == ("step_failed", None)
    assert "answer: `{{ xs }}`: reads a list with skipped items" in outcome.note


def test_in_flight_steps_finish_when_one_fails_and_nothing_new_starts():
    """What was begun is kept; what would have come next never runs."""
    done = []

    async def slow() -> str:
        for _ in range(10):
            await asyncio.sleep(0)
        done.append("slow")
        return "slow"

    def fail() -> str:
        raise ValueError("broken")

    made = pipeline(call("a", "slow", {}), call("b", "fail", {}), call("c", "slow", {"x": "{{ a }}"}), answer="ok")
    outcome, _ = run(made, box=tools(slow=slow, fail=fail))
    assert done == ["slow"]
    assert outcome.exit == "step_failed"
    assert outcome.note == "step 'b': fail (tool_error): fail failed: ValueError: broken"
    assert states(outcome) == {"a": "done", "b": "failed"}


def test_a_parked_step_lets_its_siblings_go_on():
    """A step that waits for a person ends the run as `waiting`, after all that does not wait for it has run."""
    box = tools(write=lambda: "paid", note=note).gated({"write": Gate()})
    made = pipeline(
        call("a", "write", {}), call("b", "note", {"n": 1}), assign("c", "{{ b }}"), assign("d", "{{ a }}"), answer="ok"
    )
    outcome, _ = run(made, box=box)
    assert (outcome.exit, outcome.gates) == ("waiting", ("a/call/gate",))
    assert states(outcome) == {"a": "waiting", "b": "done", "c": "done"}


def test_a_rejected_call_ends_the_pipeline_as_rejected():
    """A person's no is not a failure of the step; their note is kept."""

    async def no(question, id):
        return Decision("reject", "ann", note="not today")

    box = tools(write=lambda: "paid").gated({"write": Gate()})
    outcome, _ = run(pipeline(call("pay", "write", {}, writes=True), answer="ok"), box=box, gate=no)
    assert outcome.exit == "rejected"
    assert outcome.note.startswith("step 'pay': write: ")
    assert "not today" in outcome.note


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        ({"text": "Half of the", "finish": "length"}, "step 'draft' was truncated"),
        ({"text": "", "finish": "content_filter"}, "step 'draft' was filtered"),
        ({"text": ""}, "step 'draft' came back empty"),
    ],
)
def test_a_reply_that_ended_badly_fails_its_step(reply, note):
    """The step below never sees half a text; the run names the step that was cut."""
    made = pipeline(ask("draft", "Write"), ask("review", "Review {{ draft }}"), answer="{{ review }}")
    outcome, model = run(made, replies=[reply, "fine"])
    assert outcome.exit == "step_failed"
    assert outcome.note.startswith(note)
    assert len(model.requests) == 1


def test_an_endpoint_that_fails_is_not_the_steps_failure():
    """`provider_error` stays what it is, and names the step."""
    outcome, _ = run(
        pipeline(ask("a", "Hi"), answer="{{ a }}"), replies=[{"error": {"status": 401, "message": "bad key"}}]
    )
    assert outcome.exit == "provider_error"
    assert outcome.note.startswith("step 'a': ")
    assert "bad key" in outcome.note


def test_a_failed_check_says_its_words():
    """`check` fails with `else`, rendered; nothing below it runs."""
    made = pipeline(check("c", "n > 0", "n is {{ n }}"), call("a", "note", {}), answer="ok")
    outcome, _ = run(made, {"n": -1}, box=tools(note=lambda: 1 / 0))
    assert (outcome.exit, outcome.note) == ("step_failed", "step 'c': n is -1")


def nested(inner, limits=None):
    return pipeline(step("sub", verbs.run(inner, lambda _: {"q": "q"}, limits)), answer="{{ sub }}")


def test_a_limit_of_its_own_ends_a_pipeline_and_fails_the_step_of_an_outer_one():
    """The owner of a limit decides: its own or an outer one passes, an inner one is the step's failure."""
    two = pipeline(ask("a", "one"), ask("b", "two {{ a }}"), answer="{{ b }}")
    outcome, _ = run(two, replies=["1", "2"], limits=Limits(turns=1))
    assert (outcome.exit, outcome.note) == ("turn_limit", "step 'b': turns: 1")
    outcome, _ = run(nested(two, Limits(turns=1)), replies=["1", "2"])
    assert (outcome.exit, outcome.note) == ("step_failed", "step 'sub' ended with turn_limit: step 'b': turns: 1")
    outcome, _ = run(nested(two, Limits(turns=5)), replies=["1", "2"], limits=Limits(turns=1))
    assert (outcome.exit, outcome.note) == ("turn_limit", "step 'sub': step 'b': turns: 1")


def test_a_tool_call_limit_ends_the_run_with_its_owner():
    """A call that was not made for a limit is no answer of the tool."""
    made = pipeline(call("a", "note", {}), call("b", "note", {"n": "{{ a }}"}), answer="ok")
    outcome, _ = run(made, box=tools(note=note), limits=Limits(tool_calls=1))
    assert (outcome.exit, outcome.note) == ("tool_call_limit", "step 'b': tool_calls: 1")


def test_a_sub_workflow_that_fails_fails_the_step_with_its_reason():
    """The reason is carried up, each level named."""
    outcome, _ = run(nested(pipeline(check("c", "q == 'z'", "no z"), answer="ok")))
    assert (outcome.exit, outcome.note) == ("step_failed", "step 'sub': step 'c': no z")
    outcome, _ = run(nested(pipeline(assign("a", "{{ q }}{{ q }}"), answer="{{ a }}")))
    assert outcome.answer == "qq"


def test_a_bug_is_never_a_failed_step():
    """What no tool, model or file did wrong is ours, with its traceback."""

    async def act(names, fx):
        raise RuntimeError("ours")

    outcome, _ = run(pipeline(Step("a", act), answer="ok"))
    assert outcome.exit == "harness_error"
    assert "ours" in outcome.traceback


def test_a_cancelled_run_drains_what_is_in_flight():
    """Ctrl-C reaches every step in flight, all have ended when the run ends, and what was done is kept."""
    ended = []

    async def hang(n: int) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(n)
        return n

    made = pipeline(*(call(f"s{n}", "hang", {"n": n}) for n in range(3)), call("z", "note", {}), answer="ok")

    async def interrupted():
        task = asyncio.ensure_future(execute(made, {}, Effects(Live({}), tools=tools(hang=hang, note=note))))
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()
        return await task

    outcome = asyncio.run(interrupted())
    assert outcome.exit == "cancelled"
    assert sorted(ended) == [0, 1, 2]
    assert states(outcome)["z"] == "done"


def test_a_replay_leaves_the_same_outcome():
    """Recorded and replayed, a pipeline has equal answer, events and transcript, whatever ended first."""
    made = pipeline(
        ask("votes", "Vote {{ item }}", each="{{ range(5) | list }}"),
        call("n", "note", {"n": "{{ votes | length }}"}),
        answer="{{ votes | join }}{{ n }}",
    )
    journal = MemoryJournal()
    replies = {"votes": "y"}
    box = tools(note=note)
    recorded, _ = run(made, replies=replies, box=box, journal=journal)
    replayed, _ = run(made, box=box, journal=MemoryJournal(dict(journal.records)), world=Nothing())
    assert recorded.answer == replayed.answer == "yyyyy5"
    assert recorded.transcript == replayed.transcript
    assert [e.at for e in recorded.events] == [e.at for e in replayed.events]


def test_a_skipped_value_can_be_read_from_python():
    """The value itself says why."""
    assert not Skipped("because")
    assert Skipped("because").reason == "because"
