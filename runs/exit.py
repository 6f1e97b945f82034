"""Exit reasons: why a run ended, and what some of them have in common."""

from __future__ import annotations

from typing import Literal

Exit = Literal[
    "success",
    "turn_limit",
    "tool_call_limit",
    "token_limit",
    "cost_limit",
    "time_limit",
    "repetition",
    "tool_failures",
    "truncated",
    "filtered",
    "refused",
    "empty",
    "unparsable",
    "context_overflow",
    "guardrail",
    "rejected",
    "waiting",
    "check_failed",
    "step_failed",
    "no_route",
    "invalid_input",
    "cancelled",
    "provider_error",
    "harness_error",
]
BAD_FINISH: dict[str, Exit] = {
    "length": "truncated",
    "content_filter": "filtered",
    "refusal": "refused",
    "context_overflow": "context_overflow",
    "time_limit": "time_limit",
}
"""The finishes of a reply that end a run, and the exit reason each becomes."""
LIMITS: tuple[Exit, ...] = ("turn_limit", "tool_call_limit", "token_limit", "cost_limit", "time_limit")
"""Ends at a limit of a budget, on which `on_limit` acts."""
APART: tuple[Exit, ...] = ("waiting", "cancelled", "provider_error", "harness_error")
"""Ends that say nothing about the workflow: counted apart, never scored as wrong."""
