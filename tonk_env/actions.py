"""The action layout: one flat, frozen numbering of moves, and how it maps to words of legal moves.

A family is a block of action numbers with a base and a count. The engine keeps the legal moves of a table as ``NUM_WORDS``
64-bit words; every action is one bit of one word, and the two arrays ``ACTION_WORD`` and ``ACTION_BIT`` (and back,
``ACTION_AT``) are the whole mapping. The wild block comes last and exists only in rule sets with wild cards (R3), so no
other number ever moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tonk_env.cards import BIT_OF_CARD, LANE_BITS, NUM_CARDS, NUM_NATURALS, NUM_RANKS, NUM_SUITS
from tonk_env.spreads import NUM_BOOKS, NUM_WILD_BOOKS, RUN_LENGTHS
from tonk_env.state import NUM_WORDS

ACTION_SPACE_VERSION = 1

# Words of legal moves.
# numpy scalars, not ints: Numba would compile a kernel anew for every literal int that it is called with.
_Word = np.signedinteger[Any]
W_FLAGS, W_DISCARD, W_HIT_BOOK, W_HIT_HIGH, W_HIT_LOW, W_BOOK, W_FOUR, W_RUN = np.arange(8)
W_WILD_HIT_BOOK, W_WILD_HIT_HIGH, W_WILD_HIT_LOW, W_WILD_BOOK, W_WILD_RUN = np.array([13, 14, 15, 16, 20])
F_DROP, F_DRAW, F_TAKE, F_PASS = np.arange(4)  # bits of the flags word; a tunk shares the bit of the drop


@dataclass(frozen=True)
class Family:
    """A block of action numbers: ``base`` to ``base + count - 1``."""

    name: str
    base: int
    count: int
    doc: str

    @property
    def end(self) -> int:
        """First number after the block."""
        return self.base + self.count


def _families() -> list[Family]:
    """The layout in order. Appending is allowed; changing anything is a new version of the spaces."""
    runs = sum(NUM_SUITS * (NUM_RANKS + 1 - length) for length in RUN_LENGTHS)
    blocks = [
        ("drop", 1, "drop before drawing (R20), or tunk after it in seven-card Tunk (R26)"),
        ("draw", 1, "draw the top stock card (R11); ask for the empty stock (R24)"),
        ("take", 1, "take the top discard (R11)"),
        ("pass", 1, "pass in a last turn (R27)"),
        ("discard", NUM_CARDS, "put a card on the pile (R17), by card number"),
        ("hit_book", NUM_NATURALS, "hit a book with a card (R15), by card number"),
        ("hit_high", NUM_NATURALS, "hit the high end of a run (R15), by card number"),
        ("hit_low", NUM_NATURALS, "hit the low end of a run (R15), by card number"),
        ("book", NUM_RANKS * NUM_BOOKS, "lay a book (R13): rank * 5 + missing suit (C D H S), or + 4 for all four"),
        ("run", runs, "lay a run (R13): by length 3 to 8, then suit, then low rank"),
        ("wild_hit_book", NUM_NATURALS, "hit a book with a wild (R14), by the card whose place it fills"),
        ("wild_hit_high", NUM_NATURALS, "hit the high end of a run with a wild, by the place filled"),
        ("wild_hit_low", NUM_NATURALS, "hit the low end of a run with a wild, by the place filled"),
        ("wild_book", NUM_RANKS * NUM_WILD_BOOKS, "lay a book with wilds (R14): rank * 16 + shape (see spreads.py)"),
        ("wild_run", runs, "lay a run with wilds (R14): by length 3 to 8, then suit, then low rank"),
    ]
    families, base = [], 0
    for name, count, doc in blocks:
        families.append(Family(name, base, count, doc))
        base += count
    return families


FAMILIES = {family.name: family for family in _families()}
NUM_PLAIN_ACTIONS = FAMILIES["run"].end
NUM_WILD_ACTIONS = FAMILIES["wild_run"].end

DROP, DRAW, TAKE, PASS = (FAMILIES[name].base for name in ("drop", "draw", "take", "pass"))
DISCARD = FAMILIES["discard"].base


def _fill_cards(family: str, word: _Word, at: np.ndarray) -> None:
    """Families with one number a card."""
    block = FAMILIES[family]
    for card in range(block.count):
        at[word, BIT_OF_CARD[card]] = block.base + card


def _fill_runs(family: str, first_word: _Word, at: np.ndarray) -> None:
    """Runs: one word a length, bit of the low card."""
    number = FAMILIES[family].base
    for word, length in enumerate(RUN_LENGTHS, start=int(first_word)):
        for suit in range(NUM_SUITS):
            for low in range(NUM_RANKS + 1 - length):
                at[word, suit * LANE_BITS + low] = number
                number += 1


def _layout() -> np.ndarray:
    """Action number of every bit of every word, -1 where there is none. Shape (NUM_WORDS, 64), int16."""
    at = np.full((NUM_WORDS, 64), -1, dtype=np.int16)
    at[W_FLAGS, :4] = (DROP, DRAW, TAKE, PASS)
    _fill_cards("discard", W_DISCARD, at)
    for name, word in (("hit_book", W_HIT_BOOK), ("hit_high", W_HIT_HIGH), ("hit_low", W_HIT_LOW)):
        _fill_cards(name, word, at)
        _fill_cards("wild_" + name, word + W_WILD_HIT_BOOK - W_HIT_BOOK, at)
    for rank in range(NUM_RANKS):
        for shape in range(NUM_BOOKS):
            word, lane = (W_BOOK, shape) if shape < NUM_SUITS else (W_FOUR, 0)
            at[word, lane * LANE_BITS + rank] = FAMILIES["book"].base + rank * NUM_BOOKS + shape
        for shape in range(NUM_WILD_BOOKS):
            word, lane = W_WILD_BOOK + shape // 4, shape % 4
            at[word, lane * LANE_BITS + rank] = FAMILIES["wild_book"].base + rank * NUM_WILD_BOOKS + shape
    _fill_runs("run", W_RUN, at)
    _fill_runs("wild_run", W_WILD_RUN, at)
    return at


ACTION_AT = _layout()
ACTION_WORD = np.zeros(NUM_WILD_ACTIONS, dtype=np.int8)
ACTION_BIT = np.zeros(NUM_WILD_ACTIONS, dtype=np.int8)
for _word, _bit in zip(*np.nonzero(ACTION_AT >= 0), strict=True):
    ACTION_WORD[ACTION_AT[_word, _bit]] = _word
    ACTION_BIT[ACTION_AT[_word, _bit]] = _bit


class HasWild(Protocol):
    """Anything with the option ``wild`` (R3), such as a RuleSet."""

    @property
    def wild(self) -> str:
        """Which cards are wild."""
        ...


def num_actions(rules: HasWild) -> int:
    """Size of the action space of a rule set: 483, or 1051 with wild cards."""
    return NUM_PLAIN_ACTIONS if rules.wild == "none" else NUM_WILD_ACTIONS


def family_of(action: int) -> tuple[Family, int]:
    """Family of an action number and the index within it. Raises ValueError outside the layout."""
    for family in FAMILIES.values():
        if family.base <= action < family.end:
            return family, action - family.base
    raise ValueError(f"action {action} is outside the layout: 0 to {NUM_WILD_ACTIONS - 1}")
