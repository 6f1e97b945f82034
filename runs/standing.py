"""How far the comparisons of a store have come, whichever process makes them."""

from __future__ import annotations

from loopworth.runs.shelf import Shelf
from loopworth.runs.usage import Value

ARMS = """
select arm, count(distinct case when run.state = 'done' then task end),
    sum(case when run.state = 'done' then 1 else 0 end), sum(case when run.state = 'done' then 0 else 1 end),
    sum(case when correct = 1 then 1 else 0 end), sum(case when correct = 0 then 1 else 0 end),
    coalesce(sum(usd), 0), sum(case when run.state = 'done' and usd is null then 1 else 0 end), max(run.began)
from trial join run on run.id = trial.run where run.parent = ? group by arm order by min(run.began), arm
"""


class Standing(Value, frozen=True):
    """One arm: the tasks and runs that are done, the runs that are not, and the scores. `usd` is what is known to be
    spent, `unpriced` counts the runs whose cost is unknown, `last` is when its newest run began (UTC)."""

    arm: str
    tasks: int
    done: int
    open: int
    right: int
    wrong: int
    usd: float
    unpriced: int
    last: str


def standings(shelf: Shelf, comparison: str) -> list[Standing]:
    """The arms of a comparison, in the order in which they began."""
    return [Standing(*row) for row in shelf.select(ARMS, [comparison])]
