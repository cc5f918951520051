"""The clauses on matches, on what an agent may know and on rewards (R35 to R40), each with a match that shows it."""

from __future__ import annotations

from typing import Any

import pytest
from stacking import COUNT_12, COUNT_19, COUNT_34, OTHER_19, deal, outcome, pass_turn, play

from tonk_env.cards import CARD_NAMES
from tonk_env.table import Table

THREE = [COUNT_12, COUNT_19, COUNT_34]  # a drop of seat 0 scores 0, 19 and 34
FOUR = [*THREE, "TS 9S 8S 7D 6D"]  # and 40


def so_far(table: Table, *totals: float, hands_played: int = 0) -> Table:
    """The table in a match in which these totals have been reached."""
    table.record.totals[: len(totals)] = totals
    table.record.hands_played = hands_played
    return table


def test_r35_a_match_of_some_hands() -> None:
    table = deal("rockets", THREE, hands=2)
    play(table, "drop")
    assert (table.over, table.hands_played) == (False, 1)
    play(table, "drop")
    assert (table.over, table.hands_played) == (True, 2)


def test_r35_by_default_one_hand() -> None:
    table = deal("rockets", THREE)
    play(table, "drop")
    assert table.over


@pytest.mark.parametrize(
    "preset, totals, target, over, places",
    [
        ("points", (0, 30, 0), 50, False, [0, 0, 0]),  # 49 is below the target
        ("points", (0, 31, 0), 50, True, [1, 3, 2]),  # 50 reaches it: lowest total first
        ("points", (0, 30.9999999, 0), 50, True, [1, 3, 2]),  # within 1e-6
        ("rockets", (7, 0, 0), 10, False, [0, 0, 0]),
        ("rockets", (8, -1, 0), 10, True, [1, 3, 2]),  # highest total first
    ],
)
def test_r35_a_target(preset: str, totals: tuple[float, ...], target: int, over: bool, places: list[float]) -> None:
    table = so_far(deal(preset, THREE, match="target", target=target), *totals)
    play(table, "drop")
    assert (table.over, table.places()) == (over, places)


def test_r35_cancelled_hands_do_not_count_as_played() -> None:
    table = deal("rockets", ["KC QC JC TC 9C", "KD QD JD TD KH"], hands=1, match="hands")
    assert table.opened[0].ending == "opening_clash"
    assert table.hands_played == 0


@pytest.mark.parametrize("before, out", [(80, False), (81, True), (90, True)])
def test_r36_at_or_over_the_limit_is_out(before: int, out: bool) -> None:
    table = so_far(deal("points", THREE), 0, before, 0)
    play(table, "drop")
    assert table.live.tolist() == [True, not out, True]
    if out:
        assert table.hand(1) == []
        assert (len(table.hand(0)), len(table.hand(2))) == (5, 5)


@pytest.mark.parametrize("limit", [50, 75, 100, 150])
def test_r36_the_limit_is_an_option(limit: int) -> None:
    table = so_far(deal("points", THREE, elimination=limit), 0, limit - 19, 0)
    play(table, "drop")
    assert table.live.tolist() == [True, False, limit > 34]


def test_r36_the_last_player_left_wins() -> None:
    table = so_far(deal("points", THREE), 99, 90, 70)
    play(table, "drop")
    assert (table.over, table.places()) == (True, [1, 3, 2])


TUNK = ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"]  # scores 10 and 3


@pytest.mark.parametrize("totals, places, rewards", [((95, 98), [2, 1], [-1, 1]), ((91, 98), [1, 1], [0, 0])])
def test_r36_one_hand_may_put_out_all(totals: tuple[int, int], places: list[float], rewards: list[float]) -> None:
    # 105 and 101: the lower wins. 101 and 101: they share.
    table = so_far(deal("tunk", TUNK, stock="5S 3H"), *totals)
    play(table, "draw", "tunk", "discard KS", "draw", "discard TH")
    assert (table.over, table.places(), table.rewards.tolist()) == (True, places, rewards)


def test_r37_those_who_go_out_later_are_placed_better() -> None:
    # Seats 1 and 2 go out together with 109 and 104; seats 0 and 3 play on.
    table = so_far(deal("points", FOUR), 0, 90, 70, 10)
    play(table, "drop")
    assert table.places() == [0, 4, 3, 0]
    so_far(table, 0, 109, 104, 99.5)
    while not table.over:
        play(table, "drop") if table.seat == 0 else pass_turn(table)
    assert sorted(table.places()) == [1, 2, 3, 4]
    assert table.places()[1:3] == [4, 3]


def test_r37_equal_totals_share_the_better_place() -> None:
    # 3, 1, 1 and -5 after the last hand of four.
    table = so_far(deal("rockets", FOUR, hands=2), 0, 2, 2, -4, hands_played=1)
    play(table, "drop")
    assert table.places() == [1, 2, 2, 4]
    assert table.rewards.tolist() == pytest.approx([1, 0, 0, -1])


def test_r38_the_start_rotates_among_those_still_in() -> None:
    table = so_far(deal("points", THREE), 0, 90, 0)
    starts = [table.start]
    play(table, "drop")  # seat 1 goes out
    for _ in range(3):
        so_far(table, 0, 109, 0)
        starts.append(table.start)
        while table.hand_number < len(starts) and not table.over:
            play(table, "drop")
    assert starts == [0, 2, 0, 2]


def test_r39_a_card_taken_is_known_and_a_card_drawn_is_not() -> None:
    table = deal("points", THREE, upcard="KS", stock="QS")
    play(table, "take", "discard AS")
    view = table.layout.decode(table.observation(1)).as_dict()
    assert view["known"] == [[], [], ["KS"]]  # seat 0 sits two to the left of seat 1
    assert view["thrown"][2] == ["AS"]
    assert view["sizes"] == [5, 5, 5]
    play(table, "draw")
    view = table.layout.decode(table.observation(0)).as_dict()
    assert view["known"][1] == []


def test_r39_a_known_card_is_forgotten_when_it_leaves_the_hand() -> None:
    table = deal("points", THREE, upcard="KS")
    play(table, "take", "discard AS")
    pass_turn(table)
    pass_turn(table)
    play(table, "draw", "discard KS")
    assert table.layout.decode(table.observation(1)).as_dict()["known"] == [[], [], []]


def test_r39_no_other_card_of_another_hand_is_shown() -> None:
    table = deal("points", THREE, upcard="KS")
    play(table, "take", "discard AS")
    shown = {card for card in CARD_NAMES if f" {card}" in table.render(1)}
    assert shown == {"KS", "AS", *COUNT_19.split()}


@pytest.mark.parametrize(
    "preset, options, rewards",
    [
        ("points", {"match": "hands"}, [26.5 / 20, -2 / 20, -24.5 / 20]),  # mean of the others' scores minus one's own
        ("points", {"match": "hands", "reward_scale": 1}, [26.5, -2, -24.5]),
        ("rockets", {}, [2, -1, -1]),  # the payoff
        ("difference", {}, [2.9, -0.7, -2.2]),  # a tenth of it
    ],
)
def test_r40_a_single_hand_pays_as_a_hand(preset: str, options: dict[str, Any], rewards: list[float]) -> None:
    table = deal(preset, THREE, **options)
    play(table, "drop")
    assert table.rewards.tolist() == pytest.approx(rewards)


def test_r40_a_match_pays_by_place_at_its_end() -> None:
    table = deal("rockets", THREE, hands=2)
    play(table, "drop")
    assert table.rewards.tolist() == [0, 0, 0]
    so_far(table, 9, 5, -14, hands_played=1)
    play(table, "drop")
    assert table.rewards.tolist() == [1, 0, -1]


def test_r40_or_hand_by_hand() -> None:
    table = deal("rockets", THREE, hands=2, match_reward="hands")
    play(table, "drop")
    assert table.rewards.tolist() == [2, -1, -1]
    results = play(table, "drop")
    assert table.rewards.tolist() == results[0].scores


def test_r40_sharers_get_the_mean_of_their_places() -> None:
    # Seats 0 and 2 share the first place of three: the mean of +1 and 0.
    table = so_far(deal("rockets", [COUNT_19, COUNT_34, OTHER_19], hands=2, drop_tie="safe"), -3, 0, 0, hands_played=1)
    assert outcome(play(table, "drop"))[0] == "drop"
    assert table.totals.tolist() == [-1, -1, -1]
    assert table.rewards.tolist() == [0, 0, 0]
    table = so_far(deal("rockets", THREE, hands=2), 0, -2, 3, hands_played=1)
    play(table, "drop")
    assert (table.totals.tolist(), table.rewards.tolist()) == ([2, -3, 2], [0.5, -1, 0.5])


def test_r40_those_who_go_out_are_paid_at_once_and_only_once() -> None:
    table = so_far(deal("points", THREE), 0, 90, 0)
    play(table, "drop")
    assert table.rewards.tolist() == [0, -1, 0]
    paid = table.rewards
    while not table.over:
        so_far(table, 0, 109, 99)
        play(table, "draw") if table.phase == 0 else table.step(int(table.legal_actions()[-1]))
        paid = paid + table.rewards
    assert sorted(paid.tolist()) == [-1, 0, 1]
