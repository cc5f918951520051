"""Every option of the rule sheet is flipped in one hand, and play changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from stacking import COUNT_12, COUNT_19, COUNT_34, HIGH, OTHER_19, deal, exhaust_stock, legal, on_table, pass_turn, play

from tonk_env.rules import OPTIONS, RuleSetError, make_rules
from tonk_env.table import Table

Look = Callable[[Table], Any]


@dataclass(frozen=True)
class Flip:
    """One option with two values, a hand, and what is seen of it under each value."""

    preset: str
    values: tuple[Any, Any]
    hands: list[str]
    look: Look
    seen: tuple[Any, Any]
    upcard: str = ""
    stock: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def offered(verb: str, *moves: str) -> Look:
    """Legal moves with a verb after some moves."""
    return lambda table: [play(table, *moves), legal(table, verb)][1]


def scores(*moves: str) -> Look:
    """Scores of the hand that the last of some moves ends."""
    return lambda table: play(table, *moves)[0].scores


def result(*moves: str) -> Look:
    """Ending of the hand that the last of some moves ends, and its scores."""
    return lambda table: (play(table, *moves)[0].ending, play_last(table))


def play_last(table: Table) -> list[float | None]:
    """Scores of the last finished hand."""
    assert table.last_hand is not None
    return table.last_hand.scores


def opened(table: Table) -> Any:
    """Ending and scores of a hand settled on the deal, None when it was not."""
    return (table.opened[0].ending, table.opened[0].scores) if table.opened else None


def at_the_end(table: Table) -> Any:
    """Scores and winners when the stock has run out."""
    exhaust_stock(table)
    if not table.over:
        play(table, "draw")
    assert table.last_hand is not None
    return table.last_hand.scores, table.last_hand.winners


def next_start(table: Table) -> int:
    """Who starts the next hand after seat 2 has won."""
    pass_turn(table)
    pass_turn(table)
    play(table, "drop")
    return table.start


def match_goes_on(table: Table) -> bool:
    """Whether a drop of seat 0 leaves the match open."""
    play(table, "drop")
    return not table.over


def rewards_of_a_drop(table: Table) -> list[float]:
    """Rewards when seat 0 has dropped."""
    play(table, "drop")
    return [round(float(reward), 9) for reward in table.rewards]


def frozen_after_two_hits(table: Table) -> int:
    """How long seat 1 is barred when seat 0 has hit its run twice."""
    pass_turn(table)
    play(table, "draw", "spread 5H 6H 7H", "discard QC", "draw", "hit 4H low", "hit 3H low")
    return int(table.record.frozen[1])


def stock_end(table: Table) -> bool:
    """Whether the hand is over when the last stock card has been drawn and a card thrown."""
    exhaust_stock(table)
    return table.over


TWO = [COUNT_12, COUNT_34]
THREE = [COUNT_12, COUNT_19, COUNT_34]
CAUGHT = [COUNT_19, COUNT_12, COUNT_34, OTHER_19]
RUN = ["7H 8H 9H KS 4C", COUNT_34]
TONK_OUT = ["7H 8H 9H KS KD", COUNT_19]
OUT = ("draw", "spread 7H 8H 9H", "spread KC KD KS")
BOOK_AND_RUN = ["6C 6D 6H 2D KD", "3S 4S 5S 6S QC"]
TWO_OPENINGS = ["KC QC JC TC 9C", "KD QD JD TD KH"]
TWO_HITS = ["4H 3H KS 9D 2C", "5H 6H 7H AC JD"]
RUN_AND_HITS = ["5S 6S 7S 4S 3S", HIGH]
OF_FORTY = ["6H 7H JH KC 2D", "KD QD 3C 5D AC"]

FLIPS = {
    "ranks": Flip("rockets", ("A23456789TJQK", "A234567JQK"), OF_FORTY, offered("spread", "draw"),
                  ([], ["spread 6H 7H JH"]), stock="2C"),
    "suits": Flip("deadwood", (4, 3), ["9C 9D 9H KD 2C", "KC QD 8H 8C 7D"],
                  lambda t: [play(t, "draw", "spread 9C 9D 9H"), int(t.record.open_book) > 0][1], (True, False),
                  stock="QH"),
    "jokers": Flip("deadwood", (0, 2), TWO, lambda t: t.stock_size, (41, 43)),
    "wild": Flip("jokers", ("none", "jokers"), ["X1 3H 4H KC 9D", "TC QD 9H 8C 7D"], offered("spread", "draw"),
                 ([], ["spread 3H 4H X1=5H", "spread X1=2H 3H 4H"]), stock="QS"),
    "court_values": Flip("deadwood", ((10, 10, 10), (11, 12, 13)), ["AS 2H TC JD KS", HIGH],
                         lambda t: play(t, "drop")[0].counts[0], (33, 37)),
    "held_spreads_count": Flip("rockets", (True, False), RUN, scores("drop"), ([-2, 2], [1, -1])),
    "opening_exact": Flip("points", ((49, 50), ()), TWO_OPENINGS, opened, (("opening_clash", [0, 0]), None)),
    "opening_at_most": Flip("rockets", (None, 15), TWO, opened, (None, ("opening", [2, -2]))),
    "opening_at_least": Flip("rockets", (None, 30), TWO, opened, (None, ("opening", [-2, 2]))),
    "opening_spread": Flip("deadwood", (True, False), ["7C 8C 9C TC JC", OTHER_19], opened,
                           (("opening", [2, -2]), None)),
    "opening_multiplier": Flip("rockets", (2, 5), ["KC QC JC TC 9C", OTHER_19], opened,
                               (("opening", [2, -2]), ("opening", [5, -5]))),
    "opening_clash": Flip("points", ("cancel", "tie"), TWO_OPENINGS, lambda t: t.hand_number - t.hands_played, (1, 0)),
    "next_start": Flip("rockets", ("left", "winner"), [COUNT_34, OTHER_19, COUNT_12], next_start, (1, 2),
                       options={"hands": 9}),
    "taken_discard": Flip("points", ("free", "no_return"), TWO, offered("discard KS", "take"), (["discard KS"], []),
                          upcard="KS"),
    "hits_on": Flip("deadwood", ("all", "runs"), BOOK_AND_RUN,
                    offered("hit", "draw", "spread 6C 6D 6H", "discard KC", "draw", "spread 3S 4S 5S"),
                    (["hit 6S book", "hit 6S high"], ["hit 6S high"]), stock="KC KH"),
    "max_hits": Flip("rockets", (0, 1), RUN_AND_HITS, offered("hit", "draw", "spread 5S 6S 7S", "hit 4S low"),
                     (["hit 3S low"], []), stock="KS"),
    "must_spread": Flip("rockets", (False, True), RUN, lambda t: [play(t, "draw"), len(legal(t, "discard"))][1],
                        (6, 0)),
    "max_turns": Flip("rockets", (200, 1), TWO, lambda t: [r.ending for r in pass_turn(t)], ([], ["turn_limit"])),
    "drop": Flip("points", ("before_draw", "never"), TWO, offered("drop"), (["drop"], [])),
    "drop_at_most": Flip("points", (0, 11), TWO, offered("drop"), (["drop"], [])),
    "drop_tie": Flip("deadwood", ("caught", "safe"), [COUNT_19, OTHER_19], scores("drop"), ([-2, 2], [1, -1])),
    "wait_after_spread": Flip("deadwood", (0, 1), RUN,
                              offered("drop", "draw", "spread 7H 8H 9H", "discard KS", "draw", "discard QC"),
                              (["drop"], []), stock="KC QC"),
    "freeze_on_hit": Flip("rockets", (1, 3), TWO_HITS, frozen_after_two_hits, (1, 3), stock="QD QC QH"),
    "freeze_stacks": Flip("rockets", (False, True), TWO_HITS, frozen_after_two_hits, (1, 2), stock="QD QC QH"),
    "stock_end": Flip("rockets", ("last_discard", "on_demand"), TWO, stock_end, (True, False)),
    "stock_result": Flip("rockets", ("low_wins", "dead"), TWO, at_the_end, (([1, -1], [0]), ([0, 0], []))),
    "stock_tie": Flip("rockets", ("share", "dead"), [COUNT_19, COUNT_34, OTHER_19], at_the_end,
                      (([0.5, -1, 0.5], [0, 2]), ([0, 0, 0], []))),
    "tonk_out_multiplier": Flip("rockets", (2, 4), TONK_OUT, scores(*OUT), ([2, -2], [4, -4]), stock="KC"),
    "run_out_multiplier": Flip("rockets", (1, 4), ["7H 8H KS", "2C 4D 6S"],
                               scores("draw", "spread 7H 8H 9H", "discard KS"), ([1, -1], [4, -4]), stock="9H",
                               options={"opening_exact": ()}),
    "settlement": Flip("deadwood", ("stakes", "difference"), THREE, scores("drop"), ([2, -1, -1], [29, -7, -22])),
    "difference_cap": Flip("difference", (0, 10), THREE, scores("drop"), ([29, -7, -22], [17, -7, -10])),
    "caught_pays": Flip("rockets", ("each_catcher", "every_player"), CAUGHT, scores("drop"),
                        ([-4, 2, 0, 2], [-6, 2, 2, 2])),
    "caught_multiplier": Flip("rockets", (2, 3), CAUGHT, scores("drop"), ([-4, 2, 0, 2], [-6, 3, 0, 3])),
    "match": Flip("points", ("elimination", "hands"), THREE, match_goes_on, (True, False)),
    "hands": Flip("rockets", (1, 2), THREE, match_goes_on, (False, True)),
    "elimination": Flip("points", (100, 34), THREE, lambda t: [play(t, "drop"), t.live.tolist()][1],
                        ([True, True, True], [True, True, False])),
    "target": Flip("rockets", (2, 3), THREE, match_goes_on, (False, True), options={"match": "target"}),
    "match_reward": Flip("rockets", ("place", "hands"), THREE, rewards_of_a_drop, ([0, 0, 0], [2, -1, -1]),
                         options={"hands": 2}),
    "reward_scale": Flip("rockets", (1, 4), THREE, rewards_of_a_drop, ([2, -1, -1], [0.5, -0.25, -0.25])),
}  # fmt: skip


@pytest.mark.parametrize("name", FLIPS)
def test_option_changes_play(name: str) -> None:
    flip = FLIPS[name]
    for value, seen in zip(flip.values, flip.seen, strict=True):
        table = deal(flip.preset, flip.hands, flip.upcard, flip.stock, **{**flip.options, name: value})
        assert flip.look(table) == seen
    assert flip.seen[0] != flip.seen[1]


def test_option_min_and_max_players() -> None:
    rules = make_rules("points", min_players=3, max_players=5)
    assert [Table(rules, players).num_players for players in (3, 4, 5)] == [3, 4, 5]
    for players in (2, 6):
        with pytest.raises(RuleSetError):
            Table(rules, players)


def test_option_hand_size() -> None:
    for size in range(1, 8):
        table = Table(make_rules("seven_card", hand_size=size), 3, seed=2)
        table.reset()
        assert [len(table.hand(seat)) for seat in range(3)] == [size] * 3


def test_option_upcard() -> None:
    for upcard, moves in ((True, ["draw", "drop", "take"]), (False, ["draw", "drop"])):
        table = Table(make_rules("deadwood", upcard=upcard), 2, seed=2)
        table.reset()
        assert legal(table) == moves


def test_option_taken_discard_must_use() -> None:
    for option, take in (("free", ["take"]), ("no_return", ["take"]), ("must_use", [])):
        assert legal(deal("deadwood", TWO, upcard="KS", taken_discard=option), "take") == take


def test_option_wild_deuces() -> None:
    table = deal("deadwood", ["2S 3H 4H KC 9D", "TC QD 9H 8C 7D"], stock="QS", wild="deuces")
    play(table, "draw", "spread 2S=2H 3H 4H")
    assert on_table(table) == ["2S=2H 3H 4H"]


def test_option_drop_after_draw() -> None:
    # The same hand under `tunk` without wilds: the drop comes after drawing, and is called a tunk.
    hands = ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"]
    table = deal("tunk", hands, stock="5S", wild="none")
    assert legal(table) == ["draw", "take"]
    play(table, "draw")
    assert "tunk" in legal(table)


def test_every_option_is_flipped() -> None:
    elsewhere = {"min_players", "max_players", "hand_size", "upcard"}
    assert set(FLIPS) | elsewhere == set(OPTIONS)


def test_every_clause_has_a_test(python_files: list[Any]) -> None:
    text = "".join(path.read_text() for path in python_files if path.name.startswith("test_clauses"))
    missing = [f"R{clause}" for clause in range(1, 41) if f"def test_r{clause}_" not in text]
    missing += [f"W{number}" for number in range(1, 14) if f"def test_w{number}_" not in text]
    assert missing == []
