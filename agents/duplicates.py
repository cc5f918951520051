"""Duplicate deals: what a move brought is compared with what other plays of the same deal brought from the same position.

As in duplicate bridge, groups of tables play the same decks with the same opponents in the same seats. Plays that stand in
the same position, with the same cards still to come, differ only in what is done from there: the mean of what the others
brought is a baseline that knows the luck of the deal, hidden cards and stock included, and that does not depend on the
move. It is used in training only, so nothing of it reaches a player.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonk_env.state import TABLE_DTYPE

Keys = NDArray[np.uint64]

# Of a table's record, what the rest of the hand depends on; ``key`` stands for the deck.
POSITION = (
    "key dealt hand known thrown laid taken open_book open_high open_low turns waiting frozen hits turn phase in_hand live "
    "pile_size num_spreads tunker last_left must_use tunk_clean spread_places spread_owner spread_kind wild_place wild_spread"
).split()
PRIOR = 0.25  # weight of the critic's value beside the other plays, each of which counts 1
UNANIMOUS = 0.15  # share kept, for the critics' sake, of the positions in which all plays did the same

_generator = np.random.default_rng(20)
_BYTES = np.concatenate([
    np.arange(TABLE_DTYPE.fields[name][1], TABLE_DTYPE.fields[name][1] + TABLE_DTYPE.fields[name][0].itemsize)  # type: ignore[index]
    for name in POSITION
])  # fmt: skip
_WORDS = -(-len(_BYTES) // 8)
_FACTORS = _generator.integers(0, 2**64, _WORDS, dtype=np.uint64) | np.uint64(1)
_SEAT_FACTORS = _generator.integers(0, 2**64, (4, 6), dtype=np.uint64) | np.uint64(1)


def position_keys(tables: NDArray[Any], *opponents: NDArray[Any]) -> Keys:
    """Return uint64[T], equal where the rest of a hand has the same cards to come, in the same hands, before the same players.

    ``tables`` are T records of ``TABLE_DTYPE``; ``opponents`` up to four integer arrays [T, N] that say who plays the seats.
    """
    packed = np.zeros((len(tables), _WORDS * 8), np.uint8)
    packed[:, : len(_BYTES)] = tables.view(np.uint8).reshape(len(tables), -1)[:, _BYTES]
    keys = _mixed(packed.view(np.uint64), _FACTORS)
    for array, factors in zip(opponents, _SEAT_FACTORS, strict=False):
        keys += _mixed(array.astype(np.int64).view(np.uint64), factors[: array.shape[1]])
    return keys


def _mixed(words: NDArray[np.uint64], factors: NDArray[np.uint64]) -> Keys:
    """Sum of the words uint64[T, W] of each row, mixed so that no bit of a word stays in its place."""
    spread = words * factors
    spread ^= spread >> np.uint64(32)
    spread *= factors
    spread ^= spread >> np.uint64(29)
    total: Keys = spread.sum(axis=1, dtype=np.uint64)
    return total


@dataclass(frozen=True)
class Compared:
    """Moves to learn from, one for each move that was made in a position: ``rows`` int64[M] of a play that made it.

    ``advantages`` and ``returns`` float32[M] are means over the plays that made it, ``weights`` float32[M] their number.
    """

    rows: NDArray[np.int64]
    advantages: NDArray[np.float32]
    returns: NDArray[np.float32]
    weights: NDArray[np.float32]


def compare(
    keys: NDArray[Any],
    actions: NDArray[Any],
    returns: NDArray[Any],
    values: NDArray[Any],
    *,
    generator: np.random.Generator,
    share: float = UNANIMOUS,
) -> Compared:
    """Return what there is to learn from D decisions: their positions uint64[D], moves int64[D], what they brought float32[D]
    and the critic's values float32[D].

    The baseline of a play is the mean of the other plays from its position, with ``PRIOR`` of the critic's value mixed in;
    the value alone where there is no other play. A position in which all did the same says nothing about moves, so only
    a ``share`` of those is kept.
    """
    _, node = np.unique(keys, return_inverse=True)
    plays = np.bincount(node)[node]
    total = np.bincount(node, weights=returns)[node]
    baseline = (total - returns + PRIOR * values) / (plays - 1 + PRIOR)
    _, first, move = np.unique(node * (np.int64(actions.max()) + 1) + actions, return_index=True, return_inverse=True)
    made = np.bincount(move)
    advantages = np.bincount(move, weights=returns - baseline) / made
    mean_returns = np.bincount(move, weights=returns) / made
    unanimous = (made == plays[first]) & (made > 1)
    advantages[unanimous] = 0.0
    kept = ~unanimous | (generator.random(len(made)) < share)
    return Compared(
        first[kept].astype(np.int64),
        advantages[kept].astype(np.float32),
        mean_returns[kept].astype(np.float32),
        made[kept].astype(np.float32),
    )
