"""The clauses on seven-card Tunk (R26 to R29), each with a hand that shows it."""

from __future__ import annotations

import pytest
from stacking import deal, exhaust_stock, held, legal, on_table, outcome, pass_turn, play

from tonk_env.state import Phase

TUNKER = "3C 4C 5C 9C 9D 9H KS"  # a run, a book, and KS to throw
OTHER = "JC JD JH 6D 7D 8D TH"  # all but TH in spreads
POOR = "4S 6H 8C TC QD KD 7S"  # nothing goes together


def test_r26_nothing_is_laid_or_hit_before_a_tunk() -> None:
    # A run and a book are held, and only discards are offered with the tunk.
    table = deal("tunk", [TUNKER, OTHER], stock="5S")
    play(table, "draw")
    assert legal(table, "spread") == legal(table, "hit") == []
    assert "tunk" in legal(table)


@pytest.mark.parametrize("limit, offered", [(5, True), (4, False), (0, True)])
def test_r26_a_tunk_needs_some_discard_that_leaves_little_enough(limit: int, offered: bool) -> None:
    # After drawing 5S the best discard is KS, and 5S is left over: five points.
    table = deal("tunk", [TUNKER, OTHER], stock="5S", drop_at_most=limit)
    play(table, "draw")
    assert ("tunk" in legal(table)) is offered


def test_r26_the_discard_after_tunk_must_hold_the_promise() -> None:
    table = deal("tunk", [TUNKER, OTHER], stock="5S")
    play(table, "draw", "tunk")
    assert table.phase is Phase.TUNK
    assert legal(table) == ["discard KS"]


def test_r26_some_discard_means_a_legal_one() -> None:
    # KS taken from the pile may not go back under no_return, and every other discard leaves its ten points.
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H 5S", OTHER], upcard="KS", taken_discard="no_return")
    play(table, "take")
    assert "tunk" not in legal(table)
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H 5S", OTHER], upcard="KS")
    play(table, "take")
    assert "tunk" in legal(table)


def test_r26_the_spreads_are_laid_by_the_least_left_over() -> None:
    table = deal("tunk", [TUNKER, OTHER], stock="5S")
    play(table, "draw", "tunk", "discard KS")
    assert on_table(table) == ["3C 4C 5C", "9C 9D 9H"]
    assert held(table, 0) == {"5S"}


def test_r26_equal_arrangements_are_told_apart_by_their_words() -> None:
    # 3H to 8H, all in spreads as 3-5 and 6-8, as one run of six, and otherwise: `3H 4H 5H` comes first.
    table = deal("tunk", ["3H 4H 5H 6H 7H 8H AS", OTHER], stock="QS")
    play(table, "draw", "tunk", "discard QS")
    assert on_table(table) == ["3H 4H 5H", "6H 7H 8H"]


def test_r26_a_wild_is_laid_as_the_arrangement_says() -> None:
    # 2S completes 4H 5H; as 3H or as 6H it leaves the same, and `2S=3H 4H 5H` comes before `4H 5H 2S=6H`.
    table = deal("tunk", ["4H 5H 2S 9C 9D 9H KS", OTHER], stock="AS")
    play(table, "draw", "tunk", "discard KS")
    assert on_table(table) == ["2S=3H 4H 5H", "9C 9D 9H"]


def test_r27_every_other_player_has_one_last_turn() -> None:
    table = deal("tunk", [TUNKER, OTHER, POOR], stock="5S QS QH")
    play(table, "draw", "tunk", "discard KS")
    assert (table.seat, table.phase, legal(table)) == (1, Phase.LAST_START, ["draw", "take"])
    play(table, "draw", "discard QS")
    assert table.seat == 2
    assert play(table, "draw", "discard QH")[0].ending == "tunk"


def test_r27_last_turns_hit_the_tunkers_spreads_and_lay_nothing() -> None:
    # 6C and 7C go on 3C 4C 5C, any number of times; JC JD JH stays in hand.
    table = deal("tunk", [TUNKER, "6C 7C JC JD JH QS QH"], stock="5S KD")
    play(table, "draw", "tunk", "discard KS", "draw")
    assert legal(table, "hit") == ["hit 6C high"]
    play(table, "hit 6C high", "hit 7C high")
    assert legal(table, "spread") == []
    assert on_table(table)[0] == "3C 4C 5C 6C 7C"


def test_r27_no_hits_when_the_tunker_has_no_card_left_over() -> None:
    # 3C 4C 5C 6C and 9C 9D 9H: all seven lie there, and 7C finds no place.
    table = deal("tunk", [TUNKER, "7C TD JC JD JH QS QH"], stock="6C KD")
    play(table, "draw", "tunk", "discard KS")
    assert (held(table, 0), on_table(table)) == (set(), ["3C 4C 5C 6C", "9C 9D 9H"])
    play(table, "draw")
    assert legal(table, "hit") == []


def test_r27_with_an_empty_stock_one_takes_or_passes_and_passes_again() -> None:
    # 14 cards dealt and one turned up leave 37: seat 0 draws the last.
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H 5S", "6C 7C TD 6D 8D 8S TH"])
    exhaust_stock(table, leave=1)
    assert table.seat == 0
    play(table, "draw", "tunk", "discard QS")
    assert legal(table) == ["pass", "take"]
    play(table, "pass")
    assert table.phase is Phase.PASSED
    assert legal(table) == ["hit 6C high", "pass"]
    assert play(table, "hit 6C high", "hit 7C high", "pass")[0].ending == "tunk"


def test_r27_a_last_turn_ends_when_the_hand_is_empty() -> None:
    # 6C to TC all go on 3C 4C 5C: seat 1 has no card left to throw, and seat 2 still has its turn.
    table = deal("tunk", ["3C 4C 5C KS", "6C 7C 8C 9C", "QS JH 9D 7H"], stock="5S TC QD")
    play(table, "draw", "tunk", "discard KS", "draw")
    play(table, *[f"hit {rank}C high" for rank in "6789T"])
    assert (table.seat, table.phase) == (2, Phase.LAST_START)
    assert outcome(play(table, "draw", "discard QD")) == ("tunk_caught", [10, 0, 36], [1])


@pytest.mark.parametrize(
    "other, draws, moves, result",
    [
        # 5 against 3: caught, and the tunker scores double.
        (OTHER, "5S 3H", ("draw", "discard TH"), ("tunk_caught", [10, 3], [1])),
        # 5 against 5: an equal total is safe, and the tunker alone wins.
        (OTHER, "5S 5H", ("draw", "discard TH"), ("tunk", [5, 5], [0])),
        # 5 against 10.
        (OTHER, "5S QH", ("draw", "discard QH"), ("tunk", [5, 10], [0])),
    ],
)
def test_r28_every_hand_scores_what_is_left_over(
    other: str, draws: str, moves: tuple[str, ...], result: object
) -> None:
    table = deal("tunk", [TUNKER, other], stock=draws)
    play(table, "draw", "tunk", "discard KS")
    assert outcome(play(table, *moves)) == result


def test_r28_the_caught_multiplier_is_an_option() -> None:
    table = deal("tunk", [TUNKER, OTHER], stock="5S 3H", caught_multiplier=3)
    play(table, "draw", "tunk", "discard KS")
    assert outcome(play(table, "draw", "discard TH")) == ("tunk_caught", [15, 3], [1])


def test_r29_an_exhausted_stock_makes_the_hand_void() -> None:
    # Nobody scores, nobody wins, and it is no hand of the match: the totals stay and the deal moves on.
    table = deal("tunk", [POOR, OTHER])
    results = exhaust_stock(table)
    assert outcome(results) == ("void", [0, 0], [])
    assert (table.hands_played, table.hand_number, table.start) == (0, 1, 1)
    assert table.totals.tolist() == [0, 0]


def test_r29_a_tunk_with_the_last_card_still_holds() -> None:
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H 5S", "6H 7C TD 6D 8D 8S TH"])
    exhaust_stock(table, leave=1)
    play(table, "draw", "tunk", "discard QS", "pass")
    assert play(table, "pass")[0].ending == "tunk"


def test_r26_a_hand_without_a_tunk_goes_on() -> None:
    table = deal("tunk", [POOR, OTHER], stock="QS")
    pass_turn(table)
    assert (table.seat, table.phase) == (1, Phase.START)
