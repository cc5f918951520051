"""The worked hands W1 to W13 of the rule sheet, played on a table."""

from __future__ import annotations

import pytest
from stacking import COUNT_12, COUNT_19, COUNT_34, OTHER_19, deal, exhaust_stock, legal, outcome, pass_turn, play

from tonk_env.rules import make_rules
from tonk_env.table import Table


def after_spreads(preset: str, *pairs: str) -> Table:
    """Each seat has laid a run of three and holds two cards, seat 0 is on turn."""
    runs = ["7H 8H 9H", "7S 8S 9S", "7D 8D 9D"][: len(pairs)]
    hands = [f"{run} {pair}" for run, pair in zip(runs, pairs, strict=True)]
    table = deal(preset, hands, stock=" ".join(["KC", "KD", "KH"][: len(pairs)]))
    for run, king in zip(runs, ["KC", "KD", "KH"], strict=False):
        play(table, "draw", f"spread {run}", f"discard {king}")
    return table


def test_w1_a_good_drop_in_points() -> None:
    # 12 against 19 and 34.
    results = play(deal("points", [COUNT_12, COUNT_19, COUNT_34]), "drop")
    assert (outcome(results), results[0].counts) == (("drop", [0, 19, 34], [0]), [12, 19, 34])


def test_w2_an_equal_count_catches() -> None:
    # 19 against 19 and 34: the dropper scores double its own count.
    assert outcome(play(deal("points", [COUNT_19, OTHER_19, COUNT_34]), "drop")) == ("caught", [38, 0, 0], [1])


def test_w3_a_tonk_out_doubles_in_points() -> None:
    table = deal("points", ["7H 8H 9H KS KD", COUNT_19, COUNT_34], stock="KC")
    assert outcome(play(table, "draw", "spread 7H 8H 9H", "spread KC KD KS")) == ("tonk_out", [0, 38, 68], [0])


def test_w4_two_left_of_four_leave_41_cards() -> None:
    # Seats 1 and 2 are put out by the first drop; ten cards and the upcard are dealt to the others.
    table = deal("points", [COUNT_12, COUNT_19, COUNT_34, "TS 9S 8S 7D 6D"])
    table.record.totals[:4] = 0, 90, 90, 0
    play(table, "drop")
    assert table.live.tolist() == [True, False, False, True]
    assert table.stock_size == 41


def test_w5_one_turn_of_deadwood() -> None:
    table = deal("deadwood", ["7H 8H 9H KS 4C", COUNT_34.replace("6H", "6S")], stock="6H")
    assert table.layout.decode(table.observation(0)).as_dict()["count"] == 38
    play(table, "draw", "spread 6H 7H 8H 9H", "discard KS")
    assert table.layout.decode(table.observation(0)).as_dict()["count"] == 4


def test_w6_an_equal_hand_catches_in_deadwood() -> None:
    table = after_spreads("deadwood", "3C 4C", "3D 4D", "TC 2D")
    results = play(table, "drop")
    assert (outcome(results), results[0].counts) == (("caught", [-2, 2, 0], [1]), [7, 7, 12])


def test_w7_a_good_drop_in_deadwood() -> None:
    table = after_spreads("deadwood", "AC AD", "4D 5D", "TC 4C")
    results = play(table, "drop")
    assert (outcome(results), results[0].counts) == (("drop", [2, -1, -1], [0]), [2, 9, 14])


def test_w8_fifteen_dealt_in_speno() -> None:
    table = deal("speno", ["AS 2H 3C 4D 5S", "AC 2C 3H 4H TD", "TC 9S 6H 3D 2D"])
    assert (outcome(table.opened), table.opened[0].counts) == (("opening", [4, -2, -2], [0]), [15, 20, 30])


def test_w9_every_catcher_is_paid_in_rockets() -> None:
    table = after_spreads("rockets", "6C 4C", "3D 5D", "8C 2D")
    results = play(table, "drop")
    assert (outcome(results), results[0].counts) == (("caught", [-4, 2, 2], [1]), [10, 8, 10])


def test_w10_a_hit_freezes_for_one_turn_in_rockets() -> None:
    table = deal("rockets", ["4H KS QS 9D 2C", "5H 6H 7H AC JD"], stock="TC TD 9C")
    play(table, "draw", "discard KS", "draw", "spread 5H 6H 7H", "discard JD", "draw", "hit 4H low", "discard QS")
    assert "drop" not in legal(table)
    pass_turn(table)
    pass_turn(table)
    assert "drop" in legal(table)


@pytest.mark.parametrize("other, scores, winners", [(COUNT_34, [1, -1], [0]), (OTHER_19, [0, 0], [])])
def test_w11_asking_for_the_empty_stock_in_tonkroom(other: str, scores: list[float], winners: list[int]) -> None:
    table = deal("tonkroom", [COUNT_19, other])
    exhaust_stock(table)
    assert legal(table) == ["draw", "drop", "take"]
    assert outcome(play(table, "draw")) == ("stock", scores, winners)


def test_w12_two_opening_tonks_in_points() -> None:
    table = deal("points", ["KC QC JC TC 9C", "KD QD JD TD KH"])
    assert (outcome(table.opened), table.opened[0].counts) == (("opening_clash", [0, 0], []), [49, 50])
    assert table.hand_number >= 1  # the next hand


def test_w13_a_tunker_with_more_left_than_another() -> None:
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"], stock="5S 3H")
    results = play(table, "draw", "tunk", "discard KS", "draw", "discard TH")
    assert (outcome(results), results[0].counts) == (("tunk_caught", [10, 3], [1]), [5, 3])
    assert make_rules("tunk").caught_multiplier == 2
