"""Who sits where: the line-ups an evaluation plays and the seatings of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

MOST_SEATINGS = 24  # every order of up to four players; five or six at one table are only rotated


@dataclass(frozen=True)
class LineUp:
    """Players at one table, and every seating in which they play each deal.

    ``seatings`` is int64[K, N]: the number of the player in each seat. In every line-up each player sits in every seat
    equally often, so that a seat's advantage cancels. ``entries`` are the (player, opponent) pairs whose payoff this
    line-up measures; opponent -1 stands for the whole table.
    """

    seatings: NDArray[np.int64]
    entries: tuple[tuple[int, int], ...]


def line_ups(
    players: int, seats: int, pairs: Sequence[tuple[int, int]] | None = None, together: bool = False
) -> list[LineUp]:
    """Return the line-ups that compare ``players`` players at tables of ``seats`` seats.

    By default every player meets every other: one of A against a table full of B, for all ordered pairs (with two seats
    one line-up serves both directions). ``pairs`` asks for some (A, B) only; ``together`` seats all players at one
    table.
    """
    if together:
        return [LineUp(_orders(players), tuple((player, -1) for player in range(players)))]
    if pairs is None:
        everyone = combinations(range(players), 2) if seats == 2 else permutations(range(players), 2)
        pairs = list(everyone)
    return [_against_field(one, other, seats) for one, other in dict.fromkeys(pairs)]


def _against_field(one: int, other: int, seats: int) -> LineUp:
    """Return the line-up of one player in each seat in turn, the other player in all the rest."""
    seatings = np.full((seats, seats), other, dtype=np.int64)
    np.fill_diagonal(seatings, one)
    return LineUp(seatings, ((one, other), (other, one)) if seats == 2 else ((one, other),))


def _orders(players: int) -> NDArray[np.int64]:
    """Return int64[K, players]: all orders if they are few, otherwise the rotations of the order given."""
    orders = list(permutations(range(players))) if players <= 4 else []
    if not 0 < len(orders) <= MOST_SEATINGS:
        orders = [tuple((seat - shift) % players for seat in range(players)) for shift in range(players)]
    return np.array(orders, dtype=np.int64)


def cluster_means(returns: NDArray[np.float64], seatings: NDArray[np.int64], player: int) -> NDArray[np.float64]:
    """Return float64[D]: the mean of a player's returns over all seatings of each deal.

    ``returns`` is float64[D, K, N], in reward units, ``seatings`` int64[K, N].
    """
    own = seatings == player
    means: NDArray[np.float64] = returns[:, own].mean(axis=1)
    return means
