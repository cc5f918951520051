"""Cards: numbers, bits, names. Plain integers with one name list each, and a parse/name pair for every notion.

A *card number* is ``suit * 13 + rank`` for the 52 natural cards (suits C D H S, ranks A to K) and 52, 53 for the jokers
``X1`` and ``X2``. A *card set* is a 64-bit integer with 16 bits a suit, ``bit = suit * 16 + rank``: runs are shifts, books
are ands of lanes. The jokers live on the first unused bit of the first two lanes (13 and 29).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

RANK_NAMES = "A23456789TJQK"
SUIT_NAMES = "CDHS"
SUIT_SYMBOLS = "♣♦♥♠"

NUM_RANKS = 13
NUM_SUITS = 4
NUM_NATURALS = 52
NUM_CARDS = 54
JOKERS = (52, 53)
RANK_TWO = 1

LANE_BITS = 16
JOKER_RANK = 13  # the bit, within its lane, on which a joker lives

CARD_NAMES = [r + s for s in SUIT_NAMES for r in RANK_NAMES] + ["X1", "X2"]
_NUMBER_OF_NAME = {name: number for number, name in enumerate(CARD_NAMES)}

# Bit of a card number, and card number of a bit (-1 where no card lives).
BIT_OF_CARD = np.array([s * LANE_BITS + r for s in range(4) for r in range(13)] + [13, 29], dtype=np.int8)
_BITS: list[int] = BIT_OF_CARD.tolist()
CARD_OF_BIT = np.full(64, -1, dtype=np.int8)
CARD_OF_BIT[BIT_OF_CARD] = np.arange(NUM_CARDS, dtype=np.int8)

NATURALS = sum(1 << int(b) for b in BIT_OF_CARD[:NUM_NATURALS])
JOKER_BITS = (1 << 13) | (1 << 29)
DEUCE_BITS = sum(1 << (s * LANE_BITS + RANK_TWO) for s in range(4))


def card_name(card: int) -> str:
    """Name of a card number: rank then suit, ``7H``, ``TS``; jokers are ``X1`` and ``X2`` (rule sheet, opening lines)."""
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"{card} is not a card number: 0 to {NUM_CARDS - 1} are")
    return CARD_NAMES[card]


def parse_card(name: str) -> int:
    """Card number of a name such as ``7H`` or ``X1``. Raises ValueError for anything else."""
    number = _NUMBER_OF_NAME.get(name)
    if number is None:
        raise ValueError(f"{name!r} is not a card: write rank then suit, such as 7H or TS, or X1, X2 for the jokers")
    return number


def cards_of(bits: int) -> list[int]:
    """Card numbers in a card set, rising by number (suits C D H S, ace to king, then jokers)."""
    value = int(bits)
    return [card for card in range(NUM_CARDS) if value >> _BITS[card] & 1]


def bits_of(cards: Iterable[int]) -> int:
    """Card set of some card numbers."""
    value = 0
    for card in cards:
        value |= 1 << _BITS[card]
    return value


def names_of(cards: Iterable[int]) -> str:
    """Names of card numbers with blanks between."""
    return " ".join(card_name(int(card)) for card in cards)
