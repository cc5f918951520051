"""What a sample of deals says: means with intervals from clusters, a sign test, and intervals of a wished width."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FEWEST_CLUSTERS = 20  # below it an interval is printed, but no verdict is drawn from it
ROUNDING = 6  # decimals: rewards are float32, so sums that ought to cancel do so only up to here


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval.

    ``mean``, ``low`` and ``high`` are in the unit of the sample; ``error`` is the standard error, ``clusters`` the
    number of independent deals behind it and ``level`` the coverage the interval aims at.
    """

    mean: float
    low: float
    high: float
    error: float
    clusters: int
    level: float = 0.95

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def verdict(self) -> str:
        """Return ``better``, ``worse``, ``even`` (every deal exactly level) or ``inconclusive``."""
        if self.mean == 0 and self.error == 0 and self.clusters > 1:
            return "even"
        if self.clusters < FEWEST_CLUSTERS or self.low <= 0 <= self.high:
            return "inconclusive"
        return "better" if self.mean > 0 else "worse"

    def scaled(self, factor: float) -> Estimate:
        """Return the same estimate in another unit (``factor`` > 0)."""
        mean, low, high, error = (part * factor for part in (self.mean, self.low, self.high, self.error))
        return Estimate(mean, low, high, error, self.clusters, self.level)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers for JSON; an interval without bounds has null."""
        numbers = {key: _finite(value) for key, value in asdict(self).items()}
        return numbers | {"verdict": self.verdict}

    def __str__(self) -> str:
        width = f"{self.half_width:.4f}" if math.isfinite(self.half_width) else "?"
        return f"{self.mean:+.4f} ± {width}"


def estimate(cluster_means: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the mean of independent clusters with its Student interval.

    ``cluster_means`` is float[D], one number a deal: the mean over everything that was played on that deal. Hands on
    one deal are anything but independent, so the spread between the deals, and only it, says how far to trust the mean.
    A single deal has an interval without bounds. Raises ``ValueError`` if there is none.
    """
    values = _sample(cluster_means)
    mean = float(values.mean())
    if values.size == 1:
        return Estimate(mean, -math.inf, math.inf, math.inf, 1, level)
    error = float(values.std(ddof=1) / math.sqrt(values.size))
    reach = student_quantile(0.5 + level / 2, values.size - 1) * error
    return Estimate(mean, mean - reach, mean + reach, error, values.size, level)


def deals_needed(first: ArrayLike, half_width: float, level: float = 0.95) -> int:
    """Return how many deals in all give an interval of at most this half-width, from those of a first stage.

    ``first`` is float[n], the cluster means of the first stage. This is Stein's two-stage procedure (1945): the spread of
    the first stage alone decides how many deals are played and how wide the interval of ``estimate_two_stage`` is, so
    that looking at the data does not spoil its coverage. Raises ``ValueError`` for fewer than two deals.
    """
    values = _sample(first)
    if values.size < 2 or not half_width > 0:
        raise ValueError("a half-width above 0 and a first stage of at least two deals are needed")
    reach = student_quantile(0.5 + level / 2, values.size - 1) * float(values.std(ddof=1))
    return max(values.size, math.ceil((reach / half_width) ** 2))


def estimate_two_stage(cluster_means: ArrayLike, first: int, level: float = 0.95) -> Estimate:
    """Return the mean of all deals with the interval of Stein's two-stage procedure; ``first`` deals were the first stage."""
    values = _sample(cluster_means)
    start = estimate(values[:first], level)
    error = start.error * math.sqrt(first / values.size)
    reach = student_quantile(0.5 + level / 2, first - 1) * error
    mean = float(values.mean())
    return Estimate(mean, mean - reach, mean + reach, error, values.size, level)


@dataclass(frozen=True)
class SignTest:
    """On how many deals a player came out ahead, behind and level, and how likely so uneven a split is by chance alone.

    ``p`` is two-sided and exact (binomial with 1/2, deals that came out level left out). It asks who wins more deals, which
    is another question than who earns more.
    """

    ahead: int
    behind: int
    level: int
    p: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        p = "p < 0.0001" if self.p < 0.0001 else f"p = {self.p:.4f}"
        return f"ahead on {self.ahead:,} deals, behind on {self.behind:,} (sign test {p})"


def sign_test(cluster_means: ArrayLike) -> SignTest:
    """Return the sign test of float[D] cluster means. Raises ``ValueError`` if there is none."""
    values = _sample(cluster_means)
    ahead, behind = int((values > 0).sum()), int((values < 0).sum())
    return SignTest(ahead, behind, values.size - ahead - behind, _binomial_p(min(ahead, behind), ahead + behind))


def _binomial_p(fewer: int, trials: int) -> float:
    """Return the two-sided probability of a split as uneven as this one, or more, in fair trials."""
    logs = [math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1) for k in range(fewer + 1)]
    return min(1.0, 2 * math.fsum(math.exp(log - trials * math.log(2)) for log in logs))


def student_quantile(probability: float, degrees: int) -> float:
    """Return the quantile of Student's t distribution, by bisection on its distribution function (error below 1e-8)."""
    if not 0 < probability < 1 or degrees < 1:
        raise ValueError(f"no quantile for probability {probability} with {degrees} degrees of freedom")
    if probability < 0.5:
        return -student_quantile(1 - probability, degrees)
    normal = NormalDist().inv_cdf(probability)
    if degrees > 1000:  # the first term of the expansion in 1/degrees leaves less than 1e-5
        return normal + (normal**3 + normal) / (4 * degrees)
    low, high = normal, max(2.0, normal)
    while _student_distribution(high, degrees) < probability:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_distribution(middle, degrees) < probability else (low, middle)
    return (low + high) / 2


def _student_distribution(value: float, degrees: int) -> float:
    """Return P(T <= value) for value >= 0, by the finite trigonometric sums for whole degrees of freedom."""
    angle = math.atan2(value, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for step in range(degrees // 2):
        total += term
        numerator = 2 * step + 2 if odd else 2 * step + 1
        term *= cosine * cosine * numerator / (numerator + 1)
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return 0.5 + inside / 2


def _sample(cluster_means: ArrayLike) -> NDArray[np.float64]:
    """Return the sample as float64[D], rounded to what rewards are exact to. Raises ``ValueError``."""
    values = np.asarray(np.round(np.asarray(cluster_means, dtype=np.float64), ROUNDING), dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"cluster_means has shape {values.shape}; one number for each of at least one deal is needed")
    if not np.isfinite(values).all():
        raise ValueError("cluster_means holds numbers that are not finite")
    return values


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
