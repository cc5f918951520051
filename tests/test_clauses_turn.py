"""The clauses on a turn (R10 to R12 and R15 to R19), each with a hand that shows it."""

from __future__ import annotations

import pytest
from stacking import (
    COUNT_12,
    COUNT_19,
    COUNT_34,
    HIGH,
    OTHER_19,
    deal,
    exhaust_stock,
    held,
    legal,
    on_table,
    outcome,
    pass_turn,
    play,
    stacked_deck,
)

from tonk_env.cards import CARD_NAMES
from tonk_env.rules import make_rules
from tonk_env.table import Table


def test_r10_play_goes_left_past_those_who_are_out() -> None:
    # 0, 19 and 34 points with a limit of 30: seat 2 is out and seat 1, left of seat 0, begins.
    table = deal("points", [COUNT_12, COUNT_19, COUNT_34], elimination=30)
    play(table, "drop")
    assert table.hand_number == 1
    assert table.live.tolist() == [True, True, False]
    order = [table.seat]
    for _ in range(2):
        pass_turn(table)
        order.append(table.seat)
    assert order == [1, 0, 1]


@pytest.mark.parametrize("next_start, start", [("left", 1), ("winner", 2)])
def test_r10_the_next_start(next_start: str, start: int) -> None:
    table = deal("rockets", [COUNT_34, OTHER_19, COUNT_12], hands=9, next_start=next_start)
    pass_turn(table)
    pass_turn(table)
    play(table, "drop")  # seat 2 wins
    assert table.start == start


def test_r10_several_winners_leave_the_start_to_the_left() -> None:
    table = deal("rockets", [COUNT_19, COUNT_34, OTHER_19], hands=9, next_start="winner", stock_end="last_discard")
    results = exhaust_stock(table)
    assert results[0].winners == [0, 2]
    assert table.start == 1


def test_r11_a_turn_begins_with_exactly_one_of_three() -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    assert legal(table) == ["draw", "drop", "take"]
    play(table, "draw")
    assert all(words.startswith("discard") for words in legal(table))


def test_r11_only_the_top_discard_is_taken() -> None:
    table = deal("points", [COUNT_12, COUNT_34], upcard="KS", stock="QS JS")
    pass_turn(table)
    pass_turn(table)
    play(table, "take")
    assert "JS" in held(table, 0)
    assert [CARD_NAMES[card] for card, _ in table.pile] == ["KS", "QS"]


def test_r11_an_empty_pile_offers_no_take() -> None:
    assert legal(deal("no_upcard", [COUNT_12, COUNT_34])) == ["draw", "drop"]


@pytest.mark.parametrize("option, thrown_back", [("free", True), ("no_return", False)])
def test_r12_the_taken_card_may_be_thrown_back_or_not(option: str, thrown_back: bool) -> None:
    table = deal("points", [COUNT_12, COUNT_34], upcard="KS", taken_discard=option)
    play(table, "take")
    assert ("discard KS" in legal(table)) is thrown_back
    assert "discard AS" in legal(table)


def test_r12_no_return_is_for_this_turn_only() -> None:
    table = deal("points", [COUNT_12, COUNT_34], upcard="KS", taken_discard="no_return")
    play(table, "take", "discard AS")
    pass_turn(table)
    play(table, "draw")
    assert "discard KS" in legal(table)


def test_r12_must_use_offers_take_only_when_usable() -> None:
    # KS fits nothing in 9C 9D 4H; 9H completes a book.
    hands = ["9C 9D 4H 6S AC", COUNT_34]
    assert "take" not in legal(deal("deadwood", hands, upcard="KS", taken_discard="must_use"))
    assert "take" in legal(deal("deadwood", hands, upcard="9H", taken_discard="must_use"))


def test_r12_must_use_bars_the_first_move_only_to_uses_of_the_card() -> None:
    # 4H 5H 6H is a legal spread too, but the taken 9H must be used first, before what R16 asks.
    table = deal("strict", ["9C 9D 4H 5H 6H", "TC TD 6C 5C 3H"], upcard="9H")
    play(table, "take")
    assert legal(table) == ["spread 9C 9D 9H"]
    play(table, "spread 9C 9D 9H")
    assert legal(table) == ["spread 4H 5H 6H"]


def test_r12_must_use_may_be_a_hit() -> None:
    table = deal("deadwood", ["9C 9D 9H 6S AC", COUNT_34], upcard="KD", stock="9S KH", taken_discard="must_use")
    play(table, "draw", "spread 9C 9D 9H", "discard 9S", "draw", "discard KH")
    assert "take" not in legal(table)
    table = deal("deadwood", ["9C 9D 9H 6S AC", COUNT_34], upcard="KD", stock="QD 9S", taken_discard="must_use")
    play(table, "draw", "spread 9C 9D 9H", "discard QD", "draw", "discard 9S", "take")
    assert legal(table) == ["hit 9S book"]


def test_r12_no_return_offers_nothing_that_strands() -> None:
    # 9C 9D 9H with the taken KS: laying the book leaves KS alone, which may not go back. So it stays in hand.
    table = deal("deadwood", ["9C 9D 9H", "TC 4D 6C"], upcard="KS", taken_discard="no_return", opening_spread=False)
    play(table, "take")
    assert legal(table) == ["discard 9C", "discard 9D", "discard 9H"]


def test_r12_a_take_that_must_strand_is_not_offered() -> None:
    # Here the book has to be laid (R16), and then only KS is left: taking it is not possible at all.
    options = {"taken_discard": "no_return", "must_spread": True, "opening_spread": False}
    table = deal("deadwood", ["9C 9D 9H", "TC 4D 6C"], upcard="KS", **options)
    assert legal(table) == ["draw", "drop"]


def test_r12_a_hit_that_leaves_only_the_taken_card_is_not_offered() -> None:
    # Seat 0 is left with 6H after laying 3H 4H 5H; it takes KC, and 6H high would leave KC alone.
    table = deal(
        "deadwood", ["3H 4H 5H 6H", "KC KD QS 9C"], stock="TD", taken_discard="no_return", opening_spread=False
    )
    play(table, "draw", "spread 3H 4H 5H", "discard TD", "draw", "discard KC", "take")
    assert legal(table) == ["discard 6H"]


def test_r15_a_run_takes_card_after_card_at_both_ends() -> None:
    # 5S 6S 7S lies there; 4S, then 3S, then 8S and 9S go on it, each only when it fits the grown run.
    table = deal("deadwood", ["5S 6S 7S 3S 4S", "8S 9S KC QD 9H"], stock="KD", opening_spread=False)
    play(table, "draw", "spread 5S 6S 7S")
    assert legal(table, "hit") == ["hit 4S low"]
    play(table, "hit 4S low")
    assert legal(table, "hit") == ["hit 3S low"]
    play(table, "discard KD", "draw")
    assert legal(table, "hit") == ["hit 8S high"]
    play(table, "hit 8S high", "hit 9S high")
    assert on_table(table) == ["4S 5S 6S 7S 8S 9S"]


def test_r15_a_book_takes_its_missing_suit_and_nothing_more() -> None:
    table = deal("deadwood", ["9C 9D 9H 9S KD", "TC TD 6H 5C 3H"], stock="KH")
    play(table, "draw", "spread 9C 9D 9H")
    assert legal(table, "hit") == ["hit 9S book"]
    play(table, "hit 9S book")
    assert (on_table(table), int(table.record.open_book)) == (["9C 9D 9H 9S"], 0)


def test_r15_hits_need_no_own_spread_and_go_to_any_owner() -> None:
    table = deal("deadwood", ["9C 9D 9H 6S AC", "9S TD 6H 5C 3H"], stock="QD KS")
    play(table, "draw", "spread 9C 9D 9H", "discard QD", "draw", "hit 9S book")
    assert [spread.owner for spread in table.spreads()] == [0]
    assert "9S" not in held(table, 1)


def test_r15_an_ace_ends_a_suit_below_and_a_king_above() -> None:
    # J Q K takes no ace above it and A 2 3 no king below it.
    table = deal("deadwood", ["JH QH KH AH 9C", "AD 2D 3D KD 8C"], stock="5S 6S")
    play(table, "draw", "spread JH QH KH")
    assert legal(table, "hit") == []
    play(table, "discard 5S", "draw", "spread AD 2D 3D")
    assert legal(table, "hit") == []


def test_r15_the_player_says_where_a_card_goes_and_runs_never_merge() -> None:
    # 6H fits above 3H 4H 5H, below 7H 8H 9H and in the book of sixes: three moves.
    table = deal("deadwood", ["3H 4H 5H 7H 8H 9H 6H", "6C 6D 6S KC QD TD 2S"], stock="KS JS QS", opening_spread=False)
    play(
        table,
        "draw",
        "spread 3H 4H 5H",
        "spread 7H 8H 9H",
        "discard KS",
        "draw",
        "spread 6C 6D 6S",
        "discard JS",
        "draw",
    )
    assert legal(table, "hit") == ["hit 6H book", "hit 6H high", "hit 6H low"]
    play(table, "hit 6H high")
    assert on_table(table) == ["3H 4H 5H 6H", "7H 8H 9H", "6C 6D 6S"]


@pytest.mark.parametrize("hits_on, hits", [("all", ["hit 6S book", "hit 6S high"]), ("runs", ["hit 6S high"])])
def test_r15_hits_on_runs_only(hits_on: str, hits: list[str]) -> None:
    table = deal("deadwood", ["6C 6D 6H 2D KD", "3S 4S 5S 6S QC"], stock="KC KH", hits_on=hits_on)
    play(table, "draw", "spread 6C 6D 6H", "discard KC", "draw", "spread 3S 4S 5S")
    assert legal(table, "hit") == hits


def test_r15_max_hits_is_a_limit_for_each_turn() -> None:
    table = deal("deadwood", ["5S 6S 7S 4S 3S", HIGH], stock="KS KD QS", max_hits=1, opening_spread=False)
    play(table, "draw", "spread 5S 6S 7S", "hit 4S low")
    assert legal(table, "hit") == []
    play(table, "discard KS", "draw", "discard KD", "draw")
    assert legal(table, "hit") == ["hit 3S low"]


def test_r16_a_spread_may_be_kept_or_must_be_laid() -> None:
    # 7H 8H 9H in hand after drawing KD.
    hands = ["7H 8H 9H KS 4C", COUNT_34]
    free, must = deal("deadwood", hands, stock="KD"), deal("deadwood", hands, stock="KD", must_spread=True)
    play(free, "draw")
    assert len(legal(free, "discard")) == 6
    assert "drop" in legal(must)  # dropping with a spread in hand stays possible
    play(must, "draw")
    assert legal(must) == ["spread 7H 8H 9H"]
    play(must, "spread 7H 8H 9H")
    assert legal(must) == ["discard 4C", "discard KD", "discard KS"]


def test_r16_hitting_stays_possible_before_the_spread() -> None:
    table = deal("deadwood", ["5S 6S 7S KD 2C", "8S TC TD TH 4D"], stock="KC KH", must_spread=True)
    play(table, "draw", "spread 5S 6S 7S", "discard KC", "draw")
    assert legal(table) == ["hit 8S high", "spread TC TD TH"]


def test_r17_a_discard_ends_the_turn() -> None:
    table = deal("points", [COUNT_12, COUNT_34], stock="KS")
    play(table, "draw", "discard KS")
    assert (table.seat, CARD_NAMES[table.top or 0], table.pile[-1][1]) == (1, "KS", 0)


def test_r17_the_last_card_on_the_pile_is_running_out() -> None:
    # 7H 8H and the drawn 9H are laid, KS is thrown: no card is left, but it is not a tonk out (R18).
    table = deal("rockets", ["7H 8H KS", "2C 4D 6S"], stock="9H", opening_exact=())
    assert outcome(play(table, "draw", "spread 7H 8H 9H", "discard KS")) == ("run_out", [1, -1], [0])


def test_r18_an_emptied_hand_needs_no_discard() -> None:
    # 7H 8H 9H and KC KD KS: six cards, all laid. The hand ends at the second spread.
    table = deal("rockets", ["7H 8H 9H KS KD", COUNT_19], stock="KC")
    assert outcome(play(table, "draw", "spread 7H 8H 9H", "spread KC KD KS")) == ("tonk_out", [2, -2], [0])


def test_r18_a_hit_may_empty_the_hand_too() -> None:
    table = deal("rockets", ["7H 8H 9H TH", "2C 4D 6S 8C"], stock="JH", opening_exact=())
    assert outcome(play(table, "draw", "spread 7H 8H 9H", "hit TH high", "hit JH high")) == ("tonk_out", [2, -2], [0])


def test_r19_the_turn_limit_ends_the_hand_like_the_stock() -> None:
    table = deal("points", [COUNT_19, COUNT_12], max_turns=3, match="hands")
    pass_turn(table)
    pass_turn(table)
    assert not table.over
    assert outcome(pass_turn(table)) == ("turn_limit", [19, 0], [1])
    assert table.truncated


def test_r19_going_out_comes_before_the_limit() -> None:
    table = deal("rockets", ["7H 8H KS", "2C 4D 6S"], stock="9H", opening_exact=(), max_turns=1)
    assert outcome(play(table, "draw", "spread 7H 8H 9H", "discard KS"))[0] == "run_out"
    assert not table.truncated


def test_r19_the_stock_comes_before_the_limit() -> None:
    # 52 - 10 - 1 = 41 stock cards, so the 41st turn is both the last discard and the limit.
    table = deal("rockets", [COUNT_12, COUNT_34], max_turns=41)
    assert outcome(exhaust_stock(table))[0] == "stock"
    assert not table.truncated


def test_r19_in_tunk_nobody_scores_and_the_hand_counts_as_played() -> None:
    rules = make_rules("tunk", max_turns=2)
    table = Table(rules, 2, seed=1)
    table.reset(deck=stacked_deck(rules, ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"]))
    pass_turn(table)
    assert outcome(pass_turn(table)) == ("turn_limit", [0, 0], [])
    assert (table.hands_played, table.totals.tolist()) == (1, [0, 0])


def test_r19_the_limit_does_not_cut_the_last_turns() -> None:
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"], stock="5S 3H", max_turns=1)
    play(table, "draw", "tunk", "discard KS")
    assert outcome(play(table, "draw", "discard TH"))[0] == "tunk_caught"
