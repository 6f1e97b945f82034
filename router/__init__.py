"""One decision, then fixed paths."""

from loopworth.router.decision import ABSTAIN, Decision, decide
from loopworth.router.router import Route, Router
from loopworth.router.similarity import Similarity

__all__ = ["ABSTAIN", "Decision", "Route", "Router", "Similarity", "decide"]
