"""The clauses on settlement (R30 to R34), each with a hand that shows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from stacking import COUNT_12, COUNT_19, COUNT_34, OTHER_19, deal, exhaust_stock, outcome, play

from tonk_env.rules import make_rules
from tonk_env.table import Table

GOES_OUT = "7H 8H 9H KS KD"  # with KC all six cards are laid; with another card KS or KD is left


@pytest.mark.parametrize(
    "moves, multiplier",
    [
        (("drop",), 1),
        (("draw", "spread 7H 8H 9H", "spread KC KD KS"), 2),
    ],
)
def test_r30_points_the_winner_scores_nothing_and_the_rest_their_counts(
    moves: tuple[str, ...], multiplier: int
) -> None:
    hands = [COUNT_12 if moves == ("drop",) else GOES_OUT, COUNT_19, "TC TD 6H 5C 3H"]
    table = deal("points", hands, stock="KC")
    assert play(table, *moves)[0].scores == [0, 19 * multiplier, 34 * multiplier]


@pytest.mark.parametrize("tonk_out, run_out", [(2, 1), (3, 5)])
def test_r31_stakes_every_other_player_pays_the_multiplier(tonk_out: int, run_out: int) -> None:
    options = {"tonk_out_multiplier": tonk_out, "run_out_multiplier": run_out, "opening_exact": ()}
    table = deal("rockets", [GOES_OUT, COUNT_19, COUNT_34], stock="KC", **options)
    assert play(table, "draw", "spread 7H 8H 9H", "spread KC KD KS")[0].scores == [2 * tonk_out, -tonk_out, -tonk_out]
    table = deal("rockets", ["7H 8H KS", "2C 4D 6S", "2D 4H 6C"], stock="9H", **options)
    assert play(table, "draw", "spread 7H 8H 9H", "discard KS")[0].scores == [2 * run_out, -run_out, -run_out]


@pytest.mark.parametrize("cap, scores", [(0, [29, -7, -22]), (10, [17, -7, -10])])
def test_r32_difference_pays_the_gap_up_to_the_cap(cap: int, scores: list[float]) -> None:
    # 12 against 19 and 34.
    table = deal("difference", [COUNT_12, COUNT_19, COUNT_34], difference_cap=cap)
    assert play(table, "drop")[0].scores == scores


@pytest.mark.parametrize("cap, scores", [(0, [106, -38, -68]), (25, [88, -38, -50])])
def test_r32_the_cap_comes_before_the_multiplier(cap: int, scores: list[float]) -> None:
    # A tonk out against 19 and 34: the winner counts 0, and twice the gap is paid.
    table = deal("difference", [GOES_OUT, COUNT_19, COUNT_34], stock="KC", difference_cap=cap)
    assert play(table, "draw", "spread 7H 8H 9H", "spread KC KD KS")[0].scores == scores


def test_r32_the_winner_of_an_opening_counts_nothing() -> None:
    # 49 against 19: the gap is 19, not 19 - 49.
    table = deal("difference", ["KC QC JC TC 9C", OTHER_19], opening_exact=(49, 50))
    assert table.opened[0].scores == [38, -38]


# Seat 0 drops with 19 against 12, 34 and 19: seat 1 is lower, seat 3 equal.
FOUR = [COUNT_19, COUNT_12, COUNT_34, OTHER_19]


@pytest.mark.parametrize(
    "preset, pays, scores",
    [
        ("points", "own_count", [38, 0, 0, 0]),
        ("rockets", "low_hand", [-2, 2, 0, 0]),
        ("rockets", "each_catcher", [-4, 2, 0, 2]),  # the equal one too
        ("rockets", "each_lower", [-2, 2, 0, 0]),
        ("rockets", "every_player", [-6, 2, 2, 2]),
        ("rockets", "low_collects", [-2, 4, -1, -1]),  # seat 0 pays 2 instead of the 1, not on top of it
        ("rockets", "catchers_and_low_collects", [-4, 4, -1, 1]),
        ("difference", "low_hand", [-14, 14, 0, 0]),
        ("difference", "each_catcher", [-14, 14, 0, 0]),  # the gap to an equal hand is 0
        ("difference", "each_lower", [-14, 14, 0, 0]),
    ],
)
def test_r33_what_a_caught_dropper_pays(preset: str, pays: str, scores: list[float]) -> None:
    assert outcome(play(deal(preset, FOUR, caught_pays=pays), "drop")) == ("caught", scores, [1])


@pytest.mark.parametrize(
    "preset, pays, scores",
    [
        ("rockets", "low_hand", [-2, 1, 1, 0]),
        ("rockets", "low_collects", [-2, 1.5, 1.5, -1]),
        ("rockets", "each_catcher", [-4, 2, 2, 0]),
        ("rockets", "catchers_and_low_collects", [-4, 2.5, 2.5, -1]),
        ("difference", "low_hand", [-12, 6, 6, 0]),
        ("points", "own_count", [50, 0, 0, 0]),
    ],
)
def test_r33_equal_lowest_hands_split(preset: str, pays: str, scores: list[float]) -> None:
    # Seat 0 drops with 25 against 19, 19 and 34: both nineteens win.
    hands = ["TS 8S 4H 2H AS", COUNT_19, OTHER_19, COUNT_34]
    assert outcome(play(deal(preset, hands, caught_pays=pays), "drop")) == ("caught", scores, [1, 2])


def test_r33_equal_counts_alone_catch_and_each_lower_pays_nobody() -> None:
    hands = [COUNT_19, OTHER_19, COUNT_34]
    assert outcome(play(deal("rockets", hands, caught_pays="each_lower"), "drop")) == ("caught", [0, 0, 0], [1])
    assert outcome(play(deal("difference", hands), "drop")) == ("caught", [0, 0, 0], [1])


def test_r33_safe_ties_are_no_catchers() -> None:
    # 12 catches seat 0; where ties are safe the equal 19 is paid nothing.
    table = deal("rockets", FOUR, drop_tie="safe")
    assert outcome(play(table, "drop")) == ("caught", [-2, 2, 0, 0], [1])


@pytest.mark.parametrize(
    "multiplier, cap, scores", [(1, 0, [-7, 7, 0, 0]), (3, 0, [-21, 21, 0, 0]), (3, 5, [-15, 15, 0, 0])]
)
def test_r33_the_multiplier_and_the_capped_gap(multiplier: int, cap: int, scores: list[float]) -> None:
    table = deal("difference", FOUR, caught_multiplier=multiplier, difference_cap=cap)
    assert play(table, "drop")[0].scores == scores


@pytest.mark.parametrize(
    "preset, options",
    [
        ("rockets", {}),
        ("pagat", {}),
        ("speno", {"opening_at_most": 25}),
        ("difference", {"caught_pays": "each_catcher", "stock_tie": "share"}),
        ("wild_jokers", {"caught_pays": "low_collects"}),
    ],
)
def test_r34_payoffs_sum_to_zero(preset: str, options: dict[str, Any]) -> None:
    generator = np.random.default_rng(4)
    table = Table(make_rules(preset, **options), 4, seed=1)
    for _ in range(25):
        table.reset()
        results = list(table.opened)
        while not table.over:
            results += table.step(int(generator.choice(table.legal_actions())))
        for result in results:
            assert sum(score or 0 for score in result.scores) == pytest.approx(0)


def test_r34_penalty_points_do_not() -> None:
    table = deal("points", [COUNT_12, COUNT_34], match="hands")
    assert sum(s or 0 for s in exhaust_stock(table)[0].scores) == 34
    assert table.rewards.sum() == 0  # a reward does (R40)
