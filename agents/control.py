"""Control variates: what simple players earn on the same deals explains some of the luck that seatings leave.

Compiled players meet each other on every deal of an evaluation, and on many deals more, which tell their true mean. Where a
measured payoff goes along with theirs, the part that they explain is taken off. The weights come from the other half of the
deals (cross-fitting), so that the estimate stays unbiased; what is uncertain about the true mean is added to the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from agents.outcomes import Outcomes
from agents.playing import play_deals
from agents.seatings import LineUp, cluster_means, line_ups
from agents.specs import make_agent
from agents.statistics import Estimate
from tonk_env.rules import RuleSet

PLAYERS = ("greedy", "drop:15", "drop:20", "drop:26")  # whoever is compiled is fast
EXTRA = 10  # further deals for each measured one, from which the true means come
EXTRA_SEED = 77_000_000  # added to the seed: further deals are others
CHUNK = 8192
LEAST_GAIN = 0.02  # share of the variance; less is not worth a more complicated estimate
FEWEST = 200  # deals, below which weights are guesses


@dataclass(frozen=True)
class Control:
    """A sample with the luck taken off that control variates explain.

    ``values`` float64[D] are the adjusted cluster means, ``reduction`` the share of the variance of the mean that is gone,
    ``extra`` the variance that the means of the variates add to that of the mean, ``used`` whether any of it is used.
    """

    values: NDArray[np.float64]
    reduction: float
    extra: float
    used: bool

    def widened(self, entry: Estimate) -> Estimate:
        """Return the estimate of ``values`` with ``extra`` added to its error."""
        if not self.extra or not entry.error:
            return entry
        error = math.sqrt(entry.error**2 + self.extra)
        reach = entry.half_width * error / entry.error
        return replace(entry, low=entry.mean - reach, high=entry.mean + reach, error=error)


def controlled(
    samples: dict[tuple[int, int], NDArray[np.float64]], plan: Sequence[LineUp], rules: RuleSet, num_players: int, seed: int
) -> dict[tuple[int, int], Control]:
    """Return for every pair the sample adjusted by control variates, or as it was where they do not help."""
    deals = len(next(iter(samples.values())))
    here = _variates(rules, num_players, range(deals), seed)
    there = _variates(rules, num_players, range(EXTRA * deals), seed + EXTRA_SEED)
    return {pair: adjust(values, here, there) for pair, values in samples.items()}


def combined(controls: Sequence[Control]) -> Control:
    """Return what a player's controls say of its mean over the opponents, deal by deal.

    The further deals are the same for all of them, so that their errors may go together: the standard errors are averaged.
    """
    extra = float(np.mean([math.sqrt(control.extra) for control in controls])) ** 2
    values = np.mean([control.values for control in controls], axis=0)
    reduction = float(np.mean([control.reduction for control in controls]))
    return Control(values, reduction, extra, used=any(control.used for control in controls))


def adjust(values: NDArray[np.float64], here: NDArray[np.float64], there: NDArray[np.float64]) -> Control:
    """Return float64[D] ``values`` adjusted by variates float64[D, V], whose means come from float64[M, V] further deals."""
    plain = Control(values, 0.0, 0.0, used=False)
    if len(values) < FEWEST or not values.std():
        return plain
    mean = there.mean(axis=0)
    adjusted, weights = values.copy(), []
    for half in range(2):
        other, own = slice(1 - half, None, 2), slice(half, None, 2)
        weight = _weights(values[other], here[other])
        adjusted[own] -= (here[own] - mean) @ weight
        weights.append(weight * len(values[own]) / len(values))
    weight = np.sum(weights, axis=0)
    extra = float((there @ weight).var(ddof=1) / len(there))
    before, after = values.var(ddof=1) / len(values), adjusted.var(ddof=1) / len(values) + extra
    reduction = float(1 - after / before)
    return Control(adjusted, reduction, extra, used=True) if reduction >= LEAST_GAIN else plain


def _weights(values: NDArray[np.float64], variates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the least squares fit of the sample by the variates."""
    centred = variates - variates.mean(axis=0)
    return np.asarray(np.linalg.lstsq(centred, values - values.mean(), rcond=None)[0], dtype=np.float64)


def _variates(rules: RuleSet, num_players: int, deals: range, seed: int) -> NDArray[np.float64]:
    """Return float64[D, V]: what each simple player earns against each other one on these deals, in all seatings."""
    agents = [make_agent(spec, rules, num_players) for spec in PLAYERS]
    columns = []
    for line_up in line_ups(len(agents), num_players, list(combinations(range(len(agents)), 2))):
        chunks = [range(first, min(first + CHUNK, deals.stop)) for first in range(deals.start, deals.stop, CHUNK)]
        parts = [play_deals(agents, line_up.seatings, rules, chunk, seed, Outcomes(len(agents))) for chunk in chunks]
        columns.append(cluster_means(np.concatenate(parts), line_up.seatings, line_up.entries[0][0]))
    return np.stack(columns, axis=1)
