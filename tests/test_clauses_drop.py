"""The clauses on dropping and on the end of the stock (R20 to R25), each with a hand that shows it."""

from __future__ import annotations

from typing import Any

import pytest
from stacking import COUNT_12, COUNT_19, COUNT_34, HIGH, OTHER_19, deal, exhaust_stock, legal, outcome, pass_turn, play

from tonk_env.table import Table


def test_r20_a_drop_is_a_whole_turn_before_drawing() -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    assert "drop" in legal(table)  # the very first turn included
    play(table, "draw")
    assert "drop" not in legal(table)


def test_r20_never() -> None:
    table = deal("points", [COUNT_12, COUNT_34], drop="never")
    for _ in range(4):
        assert legal(table) == ["draw", "take"]
        pass_turn(table)


@pytest.mark.parametrize("limit, offered", [(0, True), (19, True), (18, False)])
def test_r20_drop_at_most(limit: int, offered: bool) -> None:
    # Seat 0 counts 19.
    assert ("drop" in legal(deal("points", [COUNT_19, COUNT_34], drop_at_most=limit))) is offered


def test_r20_the_limit_is_on_the_count_of_r6() -> None:
    # 7H 8H 9H is set aside where held spreads do not count: 14 is left of 38.
    hands = ["7H 8H 9H KS 4C", "KC QD 9S 8C 7D"]
    assert "drop" not in legal(deal("rockets", hands, drop_at_most=20))
    assert "drop" in legal(deal("rockets", hands, drop_at_most=20, held_spreads_count=False))


def test_r21_the_dropper_wins_when_every_other_count_is_higher() -> None:
    assert outcome(play(deal("rockets", [COUNT_12, COUNT_19, COUNT_34]), "drop")) == ("drop", [2, -1, -1], [0])


def test_r21_one_lower_count_is_enough_to_be_caught() -> None:
    # The winner is the lowest hand, not the player whose turn it was.
    results = play(deal("deadwood", [COUNT_19, COUNT_34, COUNT_12]), "drop")
    assert outcome(results) == ("caught", [-2, 0, 2], [2])


@pytest.mark.parametrize("tie, result", [("caught", ("caught", [-2, 2], [1])), ("safe", ("drop", [1, -1], [0]))])
def test_r21_an_equal_lowest_count(tie: str, result: Any) -> None:
    assert outcome(play(deal("deadwood", [COUNT_19, OTHER_19], drop_tie=tie), "drop")) == result


def test_r21_nobody_lays_off_at_a_drop() -> None:
    # Seat 1 holds TH, which would fit 7H 8H 9H on the table: it counts ten all the same.
    table = deal("deadwood", ["7H 8H 9H KS 2C", "TH QD 9S 8C 7D"], stock="KD")
    play(table, "draw", "spread 7H 8H 9H", "discard KS")
    assert play(table, "drop")[0].counts == [12, 44]


def bars(table: Table, seat: int, turns: int = 5) -> list[bool]:
    """Whether each of a seat's next turns offers a drop; everybody draws and throws."""
    offered: list[bool] = []
    while len(offered) < turns:
        if table.seat == seat:
            offered.append("drop" in legal(table))
        pass_turn(table)
    return offered


@pytest.mark.parametrize("wait", [0, 1, 3])
@pytest.mark.parametrize("players", [2, 3, 5])
def test_r22_a_new_spread_bars_the_own_next_turns(wait: int, players: int) -> None:
    others = [HIGH, "AD TD 3D 5D TC", "AH JC 3H 6H 8H", "AC QS 3C 6C 8D"][: players - 1]
    table = deal("deadwood", ["7S 8S 9S KS 2C", *others], stock="KD", wait_after_spread=wait)
    play(table, "draw", "spread 7S 8S 9S", "discard KS")
    assert "drop" in legal(table)  # the others are not barred
    assert bars(table, 0) == [False] * wait + [True] * (5 - wait)


def test_r22_a_newer_spread_begins_again_and_a_hit_does_not() -> None:
    table = deal("deadwood", ["7S 8S 9S KS KD TS QD", "AD TD 3D 5D TC 6C 8D"], stock="QS QH KH", wait_after_spread=3)
    play(table, "draw", "spread 7S 8S 9S", "discard QS")
    assert int(table.record.waiting[0]) == 3
    play(table, "draw", "discard QH", "draw", "hit TS high")
    assert int(table.record.waiting[0]) == 2  # one down for the turn begun; the hit adds nothing
    play(table, "spread KD KH KS")
    assert int(table.record.waiting[0]) == 3


@pytest.mark.parametrize("players", [3, 4, 6])
def test_r23_a_hit_by_another_freezes_the_owner(players: int) -> None:
    # Seat 2 lays 5H 6H 7H; seat 0 hits 4H. Seats 0 and 1 may drop, seat 2 not at its next turn, but at the one after.
    others = ["AD TD 3D 5D TC", "5H 6H 7H AC JD", "AH JC 3H 6D 8H", "AS QC 3C 6C 8D", "2D 2H 9C 9H TH"]
    table = deal("rockets", ["4H KS QS 9D 2C", *others[: players - 1]], stock="KD KH QD")
    pass_turn(table)
    pass_turn(table)
    play(table, "draw", "spread 5H 6H 7H", "discard QD")
    while table.seat != 0:
        pass_turn(table)
    play(table, "draw", "hit 4H low", "discard KS")
    assert bars(table, 2, turns=2) == [False, True]


@pytest.mark.parametrize("stacks, bar", [(False, 2), (True, 4)])
def test_r23_two_hits_begin_again_or_add(stacks: bool, bar: int) -> None:
    table = deal(
        "rockets", ["4H 3H KS 9D 2C", "5H 6H 7H AC JD"], stock="QD QC QH", freeze_on_hit=2, freeze_stacks=stacks
    )
    pass_turn(table)
    play(table, "draw", "spread 5H 6H 7H", "discard QC", "draw", "hit 4H low", "hit 3H low")
    assert int(table.record.frozen[1]) == bar
    play(table, "discard KS")
    assert bars(table, 1) == [False] * bar + [True] * (5 - bar)


def test_r23_hitting_the_own_spread_freezes_nobody() -> None:
    table = deal("rockets", ["5H 6H 7H 8H KS", HIGH], stock="QS QC")
    play(table, "draw", "spread 5H 6H 7H", "hit 8H high", "discard KS")
    assert table.record.frozen.tolist() == [0] * 6
    pass_turn(table)
    assert "drop" in legal(table)


def test_r24_the_last_drawer_finishes_the_turn_and_the_hand_ends() -> None:
    # 41 stock cards for two: the player who draws the 41st still throws, then the lowest count wins.
    table = deal("rockets", [COUNT_12, COUNT_34])
    exhaust_stock(table, leave=1)
    play(table, "draw")
    assert not table.over
    assert outcome(play(table, legal(table, "discard")[-1]))[0] == "stock"


def test_r24_going_out_on_the_last_card_comes_first() -> None:
    # Two suits, A to 6: twelve cards, seven in the stock. The last of them, 3C, completes AC 2C 3C.
    options = {"ranks": "A23456", "suits": 2, "opening_exact": (), "max_players": 2}
    table = deal("rockets", ["AC 2C", "AD 3D"], upcard="5D", stock="4C 4D 5C 6C 6D 2D 3C", **options)
    exhaust_stock(table, leave=1)
    assert outcome(play(table, "draw", "spread AC 2C 3C")) == ("tonk_out", [2, -2], [0])


def test_r24_on_demand_play_goes_on_and_asking_ends_the_hand() -> None:
    table = deal("deadwood", [COUNT_12, COUNT_34])
    exhaust_stock(table)
    assert (table.stock_size, table.over) == (0, False)
    assert legal(table) == ["draw", "drop", "take"]  # asking is always legal, dropping stays possible
    play(table, "take")
    play(table, legal(table, "discard")[0])
    assert not table.over
    assert outcome(play(table, "draw"))[0] == "stock"


def test_r24_on_demand_a_drop_still_settles_as_a_drop() -> None:
    table = deal("deadwood", [COUNT_12, COUNT_34])
    exhaust_stock(table)
    assert table.seat == 1  # after 41 turns
    assert outcome(play(table, "drop")) == ("caught", [2, -2], [0])


@pytest.mark.parametrize("result, scores, winners", [("low_wins", [1, -1], [0]), ("dead", [0, 0], [])])
def test_r25_low_wins_or_nobody_pays(result: str, scores: list[float], winners: list[int]) -> None:
    table = deal("rockets", [COUNT_12, COUNT_34], stock_result=result)
    assert outcome(exhaust_stock(table)) == ("stock", scores, winners)


@pytest.mark.parametrize(
    "preset, tie, scores, winners",
    [
        ("points", "share", [0, 34, 0], [0, 2]),
        ("points", "dead", [0, 0, 0], []),
        ("rockets", "share", [0.5, -1, 0.5], [0, 2]),
        ("rockets", "dead", [0, 0, 0], []),
        ("difference", "share", [7.5, -15, 7.5], [0, 2]),
    ],
)
def test_r25_equal_lowest_counts(preset: str, tie: str, scores: list[float], winners: list[int]) -> None:
    # 19, 34 and 19.
    table = deal(preset, [COUNT_19, COUNT_34, OTHER_19], stock_tie=tie, stock_end="last_discard", match="hands")
    assert outcome(exhaust_stock(table)) == ("stock", scores, winners)
    assert table.hands_played == 1  # a tie that is dead counts as played too
