"""Cards and spreads: every value both ways, and every table's size against arithmetic."""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stacking import full_deck

from tonk_env.actions import ACTION_BIT, ACTION_WORD
from tonk_env.cards import (
    BIT_OF_CARD,
    CARD_NAMES,
    CARD_OF_BIT,
    DEUCE_BITS,
    JOKER_BITS,
    NATURALS,
    bits_of,
    card_name,
    cards_of,
    names_of,
    parse_card,
)
from tonk_env.kernels.one import cards_of_spread, places_of
from tonk_env.notation import action_name, parse_action
from tonk_env.rules import PRESETS, RuleSet, make_rules
from tonk_env.spreads import (
    BOOK_LANES,
    BOOK_SUITS,
    RUN_LENGTHS,
    WILD_BOOK_NATURAL_LANES,
    WILD_BOOK_WILD_LANES,
    WILD_BOOKS,
)
from tonk_env.state import Ending, ending_name, parse_ending


def test_names_both_ways() -> None:
    assert [parse_card(card_name(card)) for card in range(54)] == list(range(54))
    assert CARD_NAMES[:2] + CARD_NAMES[12:14] + CARD_NAMES[51:] == ["AC", "2C", "KC", "AD", "KS", "X1", "X2"]
    assert len(set(CARD_NAMES)) == 54


@pytest.mark.parametrize("name", ["", "10H", "1H", "hA", "AH ", "ah", "X3", "X0", "7", "ZZ"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        parse_card(name)


@pytest.mark.parametrize("card", [-1, 54, 100])
def test_other_numbers_are_refused(card: int) -> None:
    with pytest.raises(ValueError, match="is not a card number"):
        card_name(card)


def test_bits_both_ways() -> None:
    assert len(set(BIT_OF_CARD.tolist())) == 54
    assert CARD_OF_BIT[BIT_OF_CARD].tolist() == list(range(54))
    assert (CARD_OF_BIT < 0).sum() == 10
    assert bits_of(range(54)) == NATURALS | JOKER_BITS
    assert cards_of(DEUCE_BITS) == [1, 14, 27, 40]


@given(st.sets(st.integers(0, 53)))
def test_sets_both_ways(cards: set[int]) -> None:
    assert cards_of(bits_of(cards)) == sorted(cards)
    assert names_of(sorted(cards)).split() == [CARD_NAMES[card] for card in sorted(cards)]


def test_endings_both_ways() -> None:
    for ending in Ending:
        if ending is not Ending.NONE:
            assert parse_ending(ending_name(ending)) is ending
    for name in ("none", "DROP", ""):
        with pytest.raises(ValueError, match="is not an ending"):
            parse_ending(name)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_deck_of_a_preset(preset: str) -> None:
    rules = PRESETS[preset]
    names = [CARD_NAMES[card] for card in rules.record().deck[: rules.deck_size]]
    assert names == full_deck(rules)


def test_books_by_arithmetic() -> None:
    # Of four suits: four triples and one four.
    assert len(BOOK_SUITS) == comb(4, 3) + comb(4, 4) == len(BOOK_LANES)
    assert len({int(lanes) for lanes in BOOK_LANES}) == 5
    # With wilds: two naturals and one or two wilds, three naturals and one; the suits filled are then fixed.
    assert len(WILD_BOOKS) == comb(4, 2) * 2 + comb(4, 3) == 16
    assert len(set(WILD_BOOKS)) == 16


def test_wild_books_fill_the_first_missing_suits() -> None:
    for naturals, filled in WILD_BOOKS:
        missing = [suit for suit in range(4) if suit not in naturals]
        assert list(filled) == missing[: len(filled)]
        assert 3 <= len(naturals) + len(filled) <= 4
    assert not np.any(WILD_BOOK_NATURAL_LANES & WILD_BOOK_WILD_LANES)


@pytest.mark.parametrize("ranks", ["A23456789TJQK", "A234567JQK", "A234"])
def test_spreads_by_arithmetic(ranks: str) -> None:
    """Spreads that 8 cards can hold: 5 books a rank and, for each length n, 4 suits x (ranks + 1 - n) runs."""
    rules = make_rules("deadwood", ranks=ranks, hand_size=2, max_players=2)
    count = 0
    for suits in (s for n in (3, 4) for s in combinations("CDHS", n)):
        count += sum(accepted("spread " + " ".join(rank + suit for suit in suits), rules) for rank in ranks)
    assert count == 5 * len(ranks)
    for length in RUN_LENGTHS:
        words = [
            "spread " + " ".join(rank + suit for rank in ranks[low : low + length])
            for suit in "CDHS"
            for low in range(len(ranks) - length + 1)
        ]
        assert sum(accepted(text, rules) for text in words) == max(0, 4 * (len(ranks) + 1 - length))


def accepted(words: str, rules: RuleSet) -> bool:
    """Whether words are a move of a rule set."""
    try:
        parse_action(words, rules)
    except ValueError:
        return False
    return True


def test_aces_are_low() -> None:
    # Every three cards of a suit with an ace: A 2 3 is a run and nothing else is.
    rules = make_rules("points")
    runs = set()
    for pair in combinations("23456789TJQK", 2):
        for order in permutations(("A", *pair)):
            words = "spread " + " ".join(rank + "H" for rank in order)
            if accepted(words, rules):
                runs.add(words)
    assert runs == {"spread AH 2H 3H"}


def test_places_of_every_spread_are_its_words() -> None:
    rules = make_rules("points")
    record = np.array([rules.record()])
    for action in range(214, 483):
        word, bit = int(ACTION_WORD[action]), int(ACTION_BIT[action])
        places = int(places_of(record, word, bit))
        assert names_of(cards_of(places)).split() == sorted(action_name(action, rules).split()[1:], key=parse_card)
        assert tuple(map(int, cards_of_spread(record, np.uint64(places), word, bit))) == (places, places, 0)
