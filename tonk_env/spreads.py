"""Every shape of spread (R13, R14) as small tables, built at import by plain loops.

A *book* shape is the set of its suits; a *run* shape is its length. Where they lie (rank, or suit and low rank) is added by
the action. Wild books are shapes too: which suits are natural, and which the wilds fill.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

MIN_SPREAD = 3
MAX_BOOK = 4
MAX_RUN = 8  # a hand of 7 and the card drawn
RUN_LENGTHS = tuple(range(MIN_SPREAD, MAX_RUN + 1))
KIND_BOOK, KIND_RUN = np.int64(0), np.int64(1)

ALL_SUITS = (0, 1, 2, 3)

# Books without wilds: the four triples, by the suit that is missing, then the book of four.
BOOK_SUITS = [tuple(s for s in ALL_SUITS if s != missing) for missing in ALL_SUITS] + [ALL_SUITS]

# Books with wilds: (natural suits, suits the wilds fill). Wilds fill the first missing suits in the order C D H S (R14).
WILD_BOOKS: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
for _naturals, _wilds in ((2, 1), (2, 2), (3, 1)):
    for _suits in combinations(ALL_SUITS, _naturals):
        _missing = tuple(s for s in ALL_SUITS if s not in _suits)
        WILD_BOOKS.append((_suits, _missing[:_wilds]))

NUM_BOOKS = len(BOOK_SUITS)  # a rank: 5
NUM_WILD_BOOKS = len(WILD_BOOKS)  # a rank: 16


def _lanes(suits: tuple[int, ...]) -> int:
    """Rank A in each of some suits, as a card set; shift left by a rank to move it there."""
    return sum(1 << (16 * s) for s in suits)


BOOK_LANES = np.array([_lanes(s) for s in BOOK_SUITS], dtype=np.uint64)
WILD_BOOK_NATURAL_LANES = np.array([_lanes(n) for n, _ in WILD_BOOKS], dtype=np.uint64)
WILD_BOOK_WILD_LANES = np.array([_lanes(w) for _, w in WILD_BOOKS], dtype=np.uint64)
