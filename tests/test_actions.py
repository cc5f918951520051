"""The action layout never moves, and every action has its words and every word its action."""

from __future__ import annotations

import numpy as np
import pytest
from wandering import RULE_SETS, positions, tables

from tonk_env.actions import (
    ACTION_AT,
    ACTION_BIT,
    ACTION_WORD,
    FAMILIES,
    NUM_PLAIN_ACTIONS,
    NUM_WILD_ACTIONS,
    family_of,
    num_actions,
)
from tonk_env.notation import NotationError, action_name, parse_action
from tonk_env.rules import PRESETS, RuleSet, make_rules

# Frozen: exported opponents and records rely on these numbers.
LAYOUT = {
    "drop": (0, 1), "draw": (1, 1), "take": (2, 1), "pass": (3, 1), "discard": (4, 54), "hit_book": (58, 52),
    "hit_high": (110, 52), "hit_low": (162, 52), "book": (214, 65), "run": (279, 204), "wild_hit_book": (483, 52),
    "wild_hit_high": (535, 52), "wild_hit_low": (587, 52), "wild_book": (639, 208), "wild_run": (847, 204),
}  # fmt: skip
RANK_SETS = ["A23456789TJQK", "A234567JQK", "A2345679TQK", "A23", "23456789"]


def test_the_layout_is_frozen() -> None:
    assert {name: (family.base, family.count) for name, family in FAMILIES.items()} == LAYOUT
    assert (NUM_PLAIN_ACTIONS, NUM_WILD_ACTIONS) == (483, 1051)


def test_some_numbers_are_frozen() -> None:
    frozen = {
        0: "drop", 1: "draw", 2: "take", 3: "pass", 4: "discard AC", 55: "discard KS", 56: "discard X1",
        58: "hit AC book", 161: "hit KS high", 162: "hit AC low", 214: "spread AD AH AS", 217: "spread AC AD AH",
        218: "spread AC AD AH AS", 278: "spread KC KD KH KS", 279: "spread AC 2C 3C", 322: "spread JS QS KS",
        323: "spread AC 2C 3C 4C", 482: "spread 6S 7S 8S 9S TS JS QS KS",
    }  # fmt: skip
    assert {number: action_name(number, make_rules("points")) for number in frozen} == frozen


@pytest.mark.parametrize("preset", PRESETS)
def test_the_size_depends_on_wilds_alone(preset: str) -> None:
    assert num_actions(PRESETS[preset]) == (483 if PRESETS[preset].wild == "none" else 1051)


def test_every_number_is_one_bit_of_one_word() -> None:
    at = {(int(ACTION_WORD[a]), int(ACTION_BIT[a])) for a in range(NUM_WILD_ACTIONS)}
    assert len(at) == NUM_WILD_ACTIONS
    assert all(ACTION_AT[ACTION_WORD[a], ACTION_BIT[a]] == a for a in range(NUM_WILD_ACTIONS))
    assert sorted(ACTION_AT[ACTION_AT >= 0]) == list(range(NUM_WILD_ACTIONS))


def test_every_number_has_a_family() -> None:
    for action in range(NUM_WILD_ACTIONS):
        family, index = family_of(action)
        assert family.base + index == action
        assert 0 <= index < family.count
    for action in (-1, NUM_WILD_ACTIONS):
        with pytest.raises(ValueError, match="outside the layout"):
            family_of(action)


def exists(action: int, rules: RuleSet) -> bool:
    """Whether an action means something under the ranks in use: a run does not where it would pass the last rank."""
    family, index = family_of(action)
    if family.name != "run":
        return True
    length = 3
    while index >= 4 * (14 - length):
        index -= 4 * (14 - length)
        length += 1
    rank = "A23456789TJQK"[index % (14 - length)]
    return rank in rules.ranks and rules.ranks.index(rank) + length <= len(rules.ranks)


@pytest.mark.parametrize("ranks", RANK_SETS)
@pytest.mark.parametrize("drop", ["before_draw", "after_draw"])
def test_plain_actions_and_words_are_a_bijection(ranks: str, drop: str) -> None:
    base = "tunk" if drop == "after_draw" else "deadwood"
    rules = make_rules(base, ranks=ranks, hand_size=2, max_players=2, wild="none")
    words = {a: action_name(a, rules) for a in range(NUM_PLAIN_ACTIONS) if exists(a, rules)}
    assert len(set(words.values())) == len(words)
    assert all(parse_action(text, rules) == action for action, text in words.items())
    assert words[0] == ("tunk" if drop == "after_draw" else "drop")


def test_runs_of_the_short_deck_pass_the_gap() -> None:
    rules = make_rules("navy")
    assert action_name(parse_action("spread 6H 7H JH QH", rules), rules) == "spread 6H 7H JH QH"
    with pytest.raises(NotationError):
        parse_action("spread 7H 8H 9H", rules)


def test_runs_that_the_ranks_lack_are_still_described() -> None:
    rules = make_rules("navy")
    texts = {action_name(action, rules) for action in range(NUM_PLAIN_ACTIONS) if not exists(action, rules)}
    assert {"spread of 3 from 8C up", "spread of 8 from 6S up"} <= texts
    assert len(texts) == sum(not exists(action, rules) for action in range(NUM_PLAIN_ACTIONS))


@pytest.mark.parametrize(
    "words",
    ["", "Drop", "draw ", "discard", "discard 1H", "discard KS KS", "spread 6H 7H", "spread 7H 6H 8H",
     "spread QH KH AH", "spread 6H 7D 8H", "hit 6H", "hit 6H middle", "hit X1 high", "spread 9D 9C 9H"],
)  # fmt: skip
def test_other_words_are_no_move(words: str) -> None:
    with pytest.raises(NotationError, match="is not a move"):
        parse_action(words, make_rules("points"))


@pytest.mark.parametrize("number", [-1, 483, 1051])
def test_numbers_outside_have_no_words(number: int) -> None:
    with pytest.raises(ValueError, match="outside the layout"):
        action_name(number, make_rules("points"))


def test_wild_actions_without_a_hand_name_their_places() -> None:
    rules = make_rules("wild_jokers")
    texts = [action_name(action, rules) for action in range(NUM_PLAIN_ACTIONS, NUM_WILD_ACTIONS)]
    assert texts[0] == "hit *=AC book"
    assert all("*" in text for text in texts)


@pytest.mark.parametrize("name, players", [table for table in tables() if RULE_SETS[table[0]].wild != "none"])
def test_wild_moves_in_play_are_a_bijection(name: str, players: int) -> None:
    wild = 0
    for table in positions(name, players, seed=players, moves=120):
        actions = table.legal_actions()
        words = [table.words(int(a)) for a in actions]
        assert len(set(words)) == len(words)
        assert [table.parse(text) for text in words] == actions.tolist()
        wild += sum("=" in text for text in words)
    assert wild or RULE_SETS[name].drop == "after_draw"  # a tunk's spreads are no moves (R26)


def test_arrays_are_small_and_typed() -> None:
    assert (ACTION_WORD.dtype, ACTION_BIT.dtype, ACTION_AT.dtype) == (np.int8, np.int8, np.int16)
