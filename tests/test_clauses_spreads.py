"""The clauses on spreads, natural and wild (R13, R14), each with a hand that shows it."""

from __future__ import annotations

from typing import Any

import pytest
from stacking import deal, held, legal, on_table, play


def spreads_of(preset: str, hand: str, **options: Any) -> set[str]:
    """Spreads offered after drawing the last card of ``hand``, without the word ``spread``."""
    cards = hand.split()
    options = {"opening_spread": False, "opening_exact": (), "hand_size": len(cards) - 1, **options}
    used = set(cards)
    spare = [c for c in "KC QD 9S 8D 7C TD JS 6C 5D 4C 3D QC KS".split() if c not in used][: len(cards) - 1]
    table = deal(preset, [" ".join(cards[:-1]), " ".join(spare)], stock=cards[-1], **options)
    play(table, "draw")
    return {words.removeprefix("spread ") for words in legal(table, "spread")}


@pytest.mark.parametrize(
    "hand, spreads",
    [
        ("AH 2H 3H KD 9C 6S", {"AH 2H 3H"}),  # the ace is low
        ("QH KH AH 7D 9C 6S", set()),  # and never high
        ("KH AH 2H 7D 9C 6S", set()),  # nor in the middle
        ("KH KD AH 7D 9C 6S", set()),
        ("9C 9D 9H KD 3C 6S", {"9C 9D 9H"}),
        ("9C 9D 9H 9S 3C 6S", {"9C 9D 9H", "9C 9D 9S", "9C 9H 9S", "9D 9H 9S", "9C 9D 9H 9S"}),
        ("4H 5H 6H 7H 3C KS", {"4H 5H 6H", "5H 6H 7H", "4H 5H 6H 7H"}),
        ("4H 5H 7H 8H 3C KS", set()),  # a gap
        ("4H 5H 6D 7H 3C KS", set()),  # another suit
        ("9C 9D TH TS 3C 6S", set()),  # pairs
    ],
)
def test_r13_books_and_runs(hand: str, spreads: set[str]) -> None:
    assert spreads_of("deadwood", hand) == spreads


def test_r13_any_number_of_spreads_in_a_turn() -> None:
    table = deal("seven_card", ["7H 8H 9H KC KD KS 2D", "QC QD 9S 8C 6D 5H 3C"], stock="JS")
    play(table, "draw", "spread KC KD KS", "spread 7H 8H 9H")
    assert legal(table) == ["discard 2D", "discard JS"]
    assert on_table(table) == ["KC KD KS", "7H 8H 9H"]


def test_r13_nothing_is_laid_before_drawing() -> None:
    table = deal("deadwood", ["7H 8H 9H KC 2D", "QC QD 9S 8D 7C"])
    assert legal(table) == ["draw", "drop", "take"]


def test_r13_a_kept_nine_may_be_hit_later() -> None:
    # Three of the four nines are laid: which three is the player's choice, and the fourth stays a hit.
    table = deal("deadwood", ["9C 9D 9H 9S 2C", "KC QD 8D 7C 3S"], stock="KS")
    play(table, "draw", "spread 9D 9H 9S")
    assert legal(table, "hit") == ["hit 9C book"]


@pytest.mark.parametrize(
    "preset, hand, spreads",
    [
        ("wild_jokers", "3H 4H X2 KC", {"X2=2H 3H 4H", "3H 4H X2=5H"}),
        ("wild_jokers", "QH KH X1 2C", {"X1=JH QH KH"}),  # nothing lies above a king
        ("wild_jokers", "AH 2H X1 9C", {"AH 2H X1=3H"}),  # nor below an ace
        ("wild_jokers", "3H X1 X2 9C", set()),  # two natural cards at least
        ("wild_jokers", "3H 4H X1 X2",  # the first wild takes the lowest place
         {"X1=2H 3H 4H", "3H 4H X1=5H", "X1=AH X2=2H 3H 4H", "X1=2H 3H 4H X2=5H", "3H 4H X1=5H X2=6H"}),
        # The 5H held fills its own place, so no wild is ever 5H.
        ("wild_jokers", "3H 4H 5H X1", {"3H 4H 5H", "X1=2H 3H 4H", "4H 5H X1=6H", "X1=2H 3H 4H 5H", "3H 4H 5H X1=6H"}),
        ("wild_jokers", "9D 9H X1 2C", {"X1=9C 9D 9H"}),  # the first suit missing is C
        ("wild_jokers", "9C 9S X1 2C", {"9C X1=9D 9S"}),  # here it is D
        ("wild_jokers", "9C 9S X1 X2", {"9C X1=9D 9S", "9C X1=9D X2=9H 9S"}),
        # From D H S: wilds fill C. A triple of C and one other cannot have C filled where C is held.
        ("wild_jokers", "9C 9D 9H X1", {"9C 9D 9H", "9C 9D 9H X1=9S"}),
        ("wild_jokers", "9D 9H 9S X1", {"9D 9H 9S", "X1=9C 9D 9H", "X1=9C 9D 9S", "X1=9C 9H 9S", "X1=9C 9D 9H 9S"}),
        ("tunk_like", "AH 2H 3H KC", {"AH 2H 3H"}),  # a deuce in its own place is natural
        ("tunk_like", "4H 5H 2H KC", {"2H=3H 4H 5H", "4H 5H 2H=6H"}),
        ("tunk_like", "AH 3H 2S KC", {"AH 2S=2H 3H"}),  # for another deuce, not held
        ("tunk_like", "2D 2H 2S KC", {"2D 2H 2S", "2S=2C 2D 2H", "2H=2C 2D 2S", "2D=2C 2H 2S"}),
        ("tunk_like", "2S 2C 7H 8H",  # clubs before spades
         {"2C=6H 7H 8H", "7H 8H 2C=9H", "2C=5H 2S=6H 7H 8H", "2C=6H 7H 8H 2S=9H", "7H 8H 2C=9H 2S=TH"}),
    ],
)  # fmt: skip
def test_r14_wild_spreads(preset: str, hand: str, spreads: set[str]) -> None:
    if preset == "tunk_like":
        assert spreads_of("deadwood", hand, wild="deuces") == spreads
    else:
        assert spreads_of(preset, hand) == spreads


def test_r14_a_wild_stands_only_for_a_card_in_use() -> None:
    # Of two suits no book can be made, and of A 2 3 4 nothing lies above the 4.
    for hand, spreads in (("3C 4C", ["spread X1=2C 3C 4C"]), ("3C 3D", [])):
        table = deal("mini", [hand, "AC AD"], stock="X1", jokers=2, wild="jokers")
        play(table, "draw")
        assert legal(table, "spread") == spreads


def test_r14_a_wild_may_stand_for_a_card_that_lies_elsewhere() -> None:
    # 5H lies on the pile, and X1 is 5H all the same.
    table = deal("wild_jokers", ["3H 4H X1 KC 9D", "QC QD 9S 8D 7C"], upcard="5H", stock="JS")
    play(table, "draw", "spread 3H 4H X1=5H")
    assert on_table(table) == ["3H 4H X1=5H"]


def test_r14_jokers_are_used_before_deuces_in_their_order() -> None:
    table = deal("wild_jokers", ["X1 X2 9D 9H 9S KC", "QC QD 8S 8D 7C 6H"], stock="JS")
    play(table, "draw", "spread X1=9C 9D 9H")
    assert "X2" in held(table, 0)
    # X1 is spent: the next wild hit uses X2.
    assert legal(table, "hit") == ["hit 9S book"]  # 9S is held, so no wild may stand for it


def test_r14_hits_follow_the_same_order() -> None:
    table = deal("wild_jokers", ["3H 4H 5H X1 X2", "QC QD 9S 8D 7C"], stock="JS", opening_spread=False)
    play(table, "draw", "spread 3H 4H 5H")
    assert legal(table, "hit") == ["hit X1=2H low", "hit X1=6H high"]
    play(table, "hit X1=6H high")
    assert legal(table, "hit") == ["hit X2=2H low", "hit X2=7H high"]


def test_r14_a_wild_keeps_its_place_on_the_table() -> None:
    # X1 lies as 6H at the high end: the next place up is 7H, and the real 6H finds no place any more.
    table = deal("wild_jokers", ["3H 4H 5H X1 KC", "6H 7H 9S 8D 7C"], stock="JS QS")
    play(table, "draw", "spread 3H 4H 5H X1=6H", "discard KC", "draw")
    assert legal(table, "hit") == ["hit 7H high"]


def test_r14_a_book_never_has_more_than_four() -> None:
    table = deal("wild_jokers", ["9C 9D 9H 9S X1", "QC QD 8S 8D 7C"], stock="JS", opening_spread=False)
    play(table, "draw", "spread 9C 9D 9H 9S")
    assert legal(table, "hit") == []


def test_r15_equal_words_go_to_the_spread_laid_first_whoever_owns_it() -> None:
    # 6S 2C=7S 8S of seat 0 and 2D=6S 7S 2H=8S 9S of seat 1 both want 5S: seat 1's card goes to seat 0's run.
    table = deal("deadwood", ["6S 8S 2C KC 9D", "7S 9S 2D 2H 5S"], stock="JH QD", wild="deuces", opening_spread=False)
    play(table, "draw", "spread 6S 2C=7S 8S", "discard KC", "draw", "spread 2D=6S 7S 2H=8S 9S")
    assert [spread.owner for spread in table.spreads()] == [0, 1]
    assert legal(table, "hit") == ["hit 5S low"]
    play(table, "hit 5S low")
    assert on_table(table) == ["5S 6S 2C=7S 8S", "2D=6S 7S 2H=8S 9S"]
