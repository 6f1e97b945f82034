"""The gate of a dearer arm, which runs on the failures of the arm that holds the place before it runs on every task."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

from loopworth.comparisons.schedule import Planned


class Gate:
    """What the holder leaves to be gained. Until it is passed, a dearer arm runs on the holder's failures alone.

    A task without an outcome, when nothing of it is to be made again, may have been gained.
    """

    def __init__(self, tasks: Iterable[str], most: int) -> None:
        self.most, self.unseen = most, set(tasks)
        self.planned = len(self.unseen)
        self.failed, self.unknown = set[str](), set[str]()
        self.queue = deque[str]()
        self.outcomes: dict[str, float | None] = {}
        self.tried, self.gained, self.lost = 0, 0, 0

    def holder(self, task: str, right: float | None) -> None:
        self.unseen.discard(task)
        self.unknown.discard(task)
        if right is None:
            self.unknown.add(task)
        elif right < 1:
            self.failed.add(task)
            self.queue.append(task)
            if task in self.outcomes:
                self.count(self.outcomes[task], 1)

    def arm(self, task: str, right: float | None) -> None:
        if task in self.failed and task in self.outcomes:
            self.count(self.outcomes[task], -1)
        self.outcomes[task] = right
        if task in self.failed:
            self.count(right, 1)

    def count(self, right: float | None, by: int) -> None:
        """The arm's outcome on a task that the holder failed."""
        self.tried += by
        self.gained += by * (right == 1)
        self.lost += by * (right == 0)

    @property
    def missing(self) -> int:
        """Tasks without an outcome."""
        return len(self.unknown) + self.tried - self.gained - self.lost

    @property
    def shut(self) -> bool:
        """Whether it is shown that too little is gained."""
        return not self.unseen and len(self.unknown) + len(self.failed) - self.lost <= self.most

    @property
    def passed(self) -> bool:
        """Whether it has nothing more to say, so that the arm runs on every task."""
        return self.gained > self.most or (not self.unseen and self.tried == len(self.failed) and not self.shut)

    def due(self, arm: str, started: Collection[Planned]) -> Planned | None:
        """The next failure to run; none while there may turn out to be too few of them."""
        while self.queue and Planned(arm, self.queue[0], 0) in started:
            self.queue.popleft()
        few = bool(self.unseen) and len(self.failed) <= self.most
        return Planned(arm, self.queue[0], 0) if self.queue and not few else None
