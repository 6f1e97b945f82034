"""What an answer is worth when right, wrong, slow, dear or harmful, in US dollars."""

from __future__ import annotations

from math import inf

from loopworth.runs.usage import Value


def net_benefit(
    value: float,
    cost_wrong: float,
    correct: float,
    money: float,
    seconds: float,
    price_per_second: float,
    harm: float = 0,
    cost_harm: float = 0,
) -> float:
    """What one run was worth; `correct` and `harm` are 0 or 1, or a task's shares of them."""
    return value * correct - cost_wrong * (1 - correct) - money - price_per_second * seconds - cost_harm * harm


def break_even_gain(
    extra_money: float, extra_seconds: float, price_per_second: float, value: float, cost_wrong: float
) -> float | None:
    """The gain in accuracy that pays for the extra money and time of a run; None where an answer is worth nothing."""
    stake = value + cost_wrong
    return (extra_money + price_per_second * extra_seconds) / stake if stake > 0 else None


class Price(Value, frozen=True):
    """What gains and time are worth: `stake` US dollars between right and wrong, `second` for a second."""

    stake: float
    second: float = 0.0

    def gain(self, usd: float | None, seconds: float | None) -> float | None:
        """The gain in accuracy that pays for so much money and time; None where one of them is needed and unknown."""
        if usd is None or (self.second and seconds is None):
            return None
        return break_even_gain(usd, seconds if self.second and seconds else 0.0, self.second, self.stake, 0.0)

    def most(self, usd: float, seconds: float) -> float:
        """The gain that pays for the dearest run that caps allow; `inf` without a cap that is needed."""
        found = self.gain(usd, seconds)
        return inf if found is None else found
