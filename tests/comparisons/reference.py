"""Every function of reference.json by its name there, with its arguments in that order; each only calls loopworth's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopworth.comparisons import branching as paths
from loopworth.comparisons import (
    decay,
    e_process,
    evidence,
    homogeneity,
    intervals,
    paired_test,
    quantiles,
    ratios,
    reliability,
)
from loopworth.comparisons import net_benefit as worth
from loopworth.comparisons import power as sizes
from loopworth.comparisons.verdict import WORDS, Token

BRANCHING = (
    "distinct",
    "entropy_plugin",
    "entropy_miller_madow",
    "top1",
    "unseen",
    "replay_one_path",
    "replay_router",
    "replay_machine",
    "label",
)


def wilson(k: int, n: int, conf: float) -> Any:
    return intervals.wilson(k, n, conf)


def fisher_two_sided(k1: int, n1: int, k2: int, n2: int) -> float:
    return homogeneity.fisher_two_sided(k1, n1, k2, n2)


def chi2_homogeneity(k: Sequence[int], n: Sequence[int]) -> Any:
    found = homogeneity.chi2_homogeneity(k, n)
    return found and found._asdict()


def per_step(accuracy: float, k: int) -> float:
    return decay.per_step(accuracy, k)


def chain(p: float, k: int) -> float:
    return decay.chain(p, k)


def cumulative_turns(n: int) -> int:
    return decay.cumulative_turns(n)


def pass_hat_k(correct: Sequence[int], runs: int, k: int) -> float | None:
    return reliability.pass_hat_k(correct, runs, k)


def newcombe_paired(both: int, agent_only: int, pipeline_only: int, neither: int, conf: float) -> Any:
    return intervals.newcombe_paired(both, agent_only, pipeline_only, neither, conf)


def tango_ci(agent_only: int, pipeline_only: int, n: int, conf: float) -> Any:
    return intervals.tango(agent_only, pipeline_only, n, conf)


def mcnemar_exact(b: int, c: int) -> float:
    return paired_test.mcnemar_exact(b, c)


def mcnemar_midp(b: int, c: int) -> float:
    return paired_test.mcnemar_midp(b, c)


def exact_p_paired(b: int, c: int, n: int, margin: float) -> float:
    return paired_test.exact_p(b, c, n, margin)


def newcombe_unpaired(k1: int, n1: int, k2: int, n2: int, conf: float) -> Any:
    return intervals.newcombe_unpaired(k1, n1, k2, n2, conf)


def miettinen_nurminen(k1: int, n1: int, k2: int, n2: int, conf: float) -> Any:
    return intervals.miettinen_nurminen(k1, n1, k2, n2, conf)


def wilson_clustered(task_shares: Sequence[float], runs: int, conf: float) -> Any:
    return intervals.wilson_clustered(task_shares, runs, conf)


def paired_t(task_differences: Sequence[float], conf: float) -> Any:
    return intervals.paired_t(task_differences, conf)


def ratio_of_means(numerator: Sequence[float], denominator: Sequence[float], conf: float) -> Any:
    found = ratios.ratio_of_means(numerator, denominator, conf)
    return found and {"ratio": found.ratio, "ci": found.interval}


def ratio_of_means_bca(numerator: Sequence[float], denominator: Sequence[float], conf: float) -> Any:
    return ratios.ratio_of_means_bca(numerator, denominator, conf)


def cost_per_correct_ratio(cost_a: float, correct_a: float, cost_p: float, correct_p: float) -> float | None:
    return ratios.cost_per_correct_ratio(cost_a, correct_a, cost_p, correct_p)


def quantile_ci(x: Sequence[float], p: float, conf: float) -> Any:
    return quantiles.quantile_ci(x, p, conf)


def min_n_quantile_upper(p: float, conf: float) -> int:
    return quantiles.min_n_quantile_upper(p, conf)


def cochran_armitage(k: Sequence[int], n: Sequence[int], x: Sequence[float]) -> Any:
    found = decay.cochran_armitage(k, n, x)
    return found and found._asdict()


def logit_slope(k: Sequence[int], n: Sequence[int], x: Sequence[float]) -> Any:
    found = decay.logit_slope(k, n, x)
    return found and found._asdict()


def holm(p: Sequence[float]) -> list[float]:
    return homogeneity.holm(p)


def log_e(x: Sequence[float], margin: float, lower_bound: float) -> float:
    return e_process.log_e(x, margin, lower_bound)


def log_e_counts(b: int, c: int, n: int, margin: float) -> float:
    return e_process.log_e_counts(b, c, n, margin)


def conf_seq(b: int, c: int, n: int, alpha_each_end: float) -> Any:
    return e_process.conf_seq(b, c, n, alpha_each_end)


def n_fixed(gain: float, discordance: float, delta: float, alpha: float, power: float) -> int | None:
    return sizes.n_fixed(gain, discordance, delta, alpha, power)


def gain_gate(n: int, delta: float, level: float) -> int:
    return sizes.gain_gate(n, delta, level)


def zero_event_upper(n: int, alpha: float) -> float:
    return intervals.zero_event_upper(n, alpha)


def n_more(b: int, c: int, n: int, delta: float, alpha: float, cap: int) -> int | None:
    return e_process.n_more(b, c, n, delta, alpha, cap)


def said(token: Token) -> str:
    return WORDS[token].format(arm="agent", against="pipeline")


def verdict_from_interval(lower: float, upper: float, delta: float) -> str:
    return said(evidence.by_interval(lower, upper, delta))


def verdict_fixed(b: int, c: int, n: int, delta: float, alpha: float) -> str:
    return said(evidence.by_exact_test(b, c, n, delta, alpha))


def verdict_anytime(b: int, c: int, n: int, delta: float, alpha_each: float) -> str:
    return said(evidence.by_e_process(b, c, n, delta, alpha_each))


def net_benefit(
    value: float,
    cost_wrong: float,
    correct: float,
    money: float,
    seconds: float,
    price_per_second: float,
    harm: float,
    cost_harm: float,
) -> float:
    return worth.net_benefit(value, cost_wrong, correct, money, seconds, price_per_second, harm, cost_harm)


def break_even_gain(
    extra_money: float, extra_seconds: float, price_per_second: float, value: float, cost_wrong: float
) -> float | None:
    return worth.break_even_gain(extra_money, extra_seconds, price_per_second, value, cost_wrong)


def branching(traces: Sequence[Any], kinds: Sequence[str] | None = None) -> Any:
    found = paths.branching(traces, kinds)
    return found and {name: getattr(found, name) for name in BRANCHING}


def obs_information_plugin(traces: Sequence[Any], kinds: Sequence[str] | None = None) -> float | None:
    return paths.observation_information(traces, kinds)
