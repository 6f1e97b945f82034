"""What other tools call a thing of this language: their word, and where it may stand here."""

from __future__ import annotations

from collections.abc import Iterable

from loopworth.runs.spelling import folded, nearest

KEYS: dict[str, str] = {
    "budget.turns": "max_iterations max_iter max_turns max_steps max_loops max_rounds recursion_limit step_limit"
    " turn_limit iterations",
    "budget.tool_calls": "max_tool_calls tool_call_limit max_calls",
    "budget.tokens": "token_limit token_budget max_total_tokens total_tokens",
    "budget.usd": "max_cost max_usd max_budget cost_limit max_budget_usd cost",
    "budget.time": "max_time time_limit max_execution_time deadline timeout timeout_seconds",
    "model.max_tokens": "max_tokens max_output_tokens max_completion_tokens",
    "model.temperature": "temperature",
    "tokens": "max_tokens",
    "turns": "max_iterations max_iter max_turns max_steps steps recursion_limit iterations",
    "usd": "max_cost max_usd cost_limit cost dollars",
    "attempts": "max_retries retries max_attempts stop_after_attempt",
    "retry.attempts": "max_retries retries max_attempts",
    "wait": "delay backoff interval retry_interval",
    "timeout": "timeout_seconds time_limit max_time max_execution_time deadline",
    "repeat.times": "max_iterations times iterations max_loops",
    "with": "args arguments argument inputs input params parameters kwargs variables vars bind",
    "input": "inputs args arguments params parameters variables vars input_schema",
    "output": "outputs returns output_schema output_type response_format response_model result_type schema",
    "instructions": "system_prompt system system_message instruction backstory preamble developer",
    "prompt": "user_prompt ask question user goal task message messages template",
    "ask": "prompt user_prompt question message messages template generate llm complete",
    "call": "tool function action uses invoke tool_call",
    "choose": "classify switch decide route router select",
    "run": "workflow subworkflow sub_workflow subgraph agent flow",
    "python": "function callable func code entrypoint implementation handler command",
    "set": "value assign let transform",
    "id": "name key label",
    "if": "when condition cond only_if",
    "for_each": "foreach loop map each with_items for over items",
    "steps": "nodes tasks jobs stages chain sequence pipeline",
    "answer": "result return final_answer response final outputs",
    "from": "options labels choices routes branches cases categories",
    "otherwise": "fallback default on_failure catch on_error else_run",
    "on_error": "on_failure continue_on_error ignore_errors",
    "model": "llm engine model_name model_id deployment",
    "name": "model id model_name model_id deployment",
    "base_url": "endpoint api_base url host server",
    "workflow": "name title",
    "shape": "type kind mode",
    "tools": "tool functions toolbox toolset",
    "use": "allowed_tools tool_names",
    "gate": "approval approvals require_approval human_in_the_loop hitl interrupt interrupt_before confirm",
    "approval": "gate require_approval human_in_the_loop hitl interrupt confirm needs_approval",
    "guard": "guardrail guardrails validators",
    "effect": "access permission side_effect side_effects",
    "compact": "summarize summarise trim",
    "comparison": "name title experiment",
    "arms": "agents contenders systems variants candidates workflows providers prompts models",
    "tasks": "dataset data tests test_cases cases examples samples",
    "tasks.limit": "max_samples max_examples sample num_samples n",
    "limit": "max_samples max_examples sample num_samples n",
    "where": "filter query",
    "score": "metric metrics scorer scorers evaluator evaluators assert grader evals solver",
    "repeats": "epochs trials runs n_repeats num_repetitions repetitions samples_per_task",
    "decide.error": "alpha significance p_value confidence",
    "error": "alpha significance",
}
"""Where a thing stands in this language (a key, or a key in a key's mapping) → what other tools call it."""
WORDS: dict[str, str] = {
    "equals": "exact_match exact match string_match equality equal accuracy em",
    "icontains": "substring_ignore_case case_insensitive_contains",
    "contains": "includes include substring in contains_all contains_any",
    "regex": "pattern regexp re matches",
    "number": "numeric float numerical math close approx isclose",
    "set": "list unordered jaccard f1 multiset",
    "json": "is_json json_match json_schema",
    "python": "javascript custom function code lambda callable",
    "judge": "llm_judge llm_rubric llm_as_judge llm_as_a_judge model_graded model_graded_qa model_graded_fact"
    " model_graded_closedqa g_eval geval rubric factuality answer_relevance similar semantic_similarity correctness",
    "pipeline": "chain sequential workflow dag graph sequence steps",
    "router": "routing classifier switch",
    "open_loop": "agent react loop autonomous tool_calling_agent",
    "read": "readonly read_only none safe get",
    "write": "readwrite read_write mutate post side_effect",
    "irreversible": "destructive delete dangerous",
    "skip": "continue ignore",
    "fail": "raise abort stop error",
    "required": "any always must",
    "native": "tools tool_calls function_calling functions",
}
"""A word that a key takes → what other tools call it."""


def places(word: str) -> list[tuple[str, ...]]:
    """Where the thing that other tools call `word` may stand in this language."""
    return [tuple(key.split(".")) for key, theirs in KEYS.items() if called(word, theirs)]


def meant(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that `word` is likely to mean: what other tools call so, or else the nearest."""
    allowed = set(words)
    return ours(word, allowed) or nearest(word, allowed)


def ours(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that other tools call `word`; None where there is none."""
    allowed = set(words)
    return next((one for one, theirs in WORDS.items() if one in allowed and called(word, theirs)), None)


def called(word: str, theirs: str) -> bool:
    """Whether a word is one of those that other tools use, however it is cased and joined."""
    return folded(word) in map(folded, theirs.split())
