"""Skill ratings from the deals of an evaluation, by OpenSkill's Plackett-Luce model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_GAMES = 4000  # a rating settles long before; more would only take time


@dataclass(frozen=True)
class Rating:
    """Estimated skill ``mu`` with its uncertainty ``sigma`` (25 and 25/3 before the first game) and its games."""

    mu: float
    sigma: float
    games: int

    @property
    def ordinal(self) -> float:
        """The skill that is nearly sure: mu - 3 sigma."""
        return self.mu - 3 * self.sigma


def rate(samples: Mapping[tuple[int, int], NDArray[np.float64]], players: int, seed: int) -> dict[int, Rating]:
    """Return a rating for each player.

    ``samples`` maps (player, opponent) to float64[D], the player's mean reward on each deal over all its seatings. One
    deal is one game, won by whoever got more out of the same cards. The games are taken in an order drawn from
    ``seed``, as a rating depends a little on the order.
    """
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    ratings = [model.rating(name=str(player)) for player in range(players)]
    played = [0] * players
    for seats, ranks in _games(samples, seed):
        rated = model.rate([[ratings[player]] for player in seats], ranks=ranks)
        for player, team in zip(seats, rated, strict=True):
            ratings[player] = team[0]
            played[player] += 1
    return {player: Rating(rating.mu, rating.sigma, played[player]) for player, rating in enumerate(ratings)}


def _games(
    samples: Mapping[tuple[int, int], NDArray[np.float64]], seed: int
) -> list[tuple[list[int], list[float]]]:
    """Return games as (players, ranks), lower ranks better, in random order."""
    games: list[tuple[list[int], list[float]]] = []
    together = [player for player, opponent in samples if opponent < 0]
    if together:
        rewards = np.round(np.stack([samples[player, -1] for player in together], axis=1), 6)
        games = [(together, list(-row)) for row in rewards[:MOST_GAMES]]
    pairs = [pair for pair in samples if pair[1] >= 0 and not _is_mirror(samples, pair)]
    for pair in pairs:
        rewards = np.round(samples[pair][: max(1, MOST_GAMES // len(pairs))], 6)
        games += [(list(pair), [-float(reward), 0.0]) for reward in rewards]
    order = np.random.default_rng(seed).permutation(len(games))
    return [games[at] for at in order]


def _is_mirror(samples: Mapping[tuple[int, int], NDArray[np.float64]], pair: tuple[int, int]) -> bool:
    """Return whether a pair is the other side of the very games of an earlier one, as with two seats."""
    other = samples.get(pair[::-1])
    return pair[0] > pair[1] and other is not None and bool(np.allclose(other, -samples[pair], atol=1e-6))
