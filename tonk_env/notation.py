"""Moves in words, both ways (section 13 of the rules): ``draw``, ``discard KS``, ``spread 6H 2S=7H 8H``, ``hit 5H low``.

A word of a wild move names the wild that is used, which depends on the hand (R14): such moves need the hand to be written.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tonk_env.actions import (
    ACTION_BIT,
    ACTION_WORD,
    F_DROP,
    NUM_PLAIN_ACTIONS,
    W_BOOK,
    W_DISCARD,
    W_FLAGS,
    W_HIT_BOOK,
    W_RUN,
    W_WILD_BOOK,
    W_WILD_HIT_BOOK,
    W_WILD_HIT_LOW,
    W_WILD_RUN,
    num_actions,
)
from tonk_env.cards import CARD_NAMES, CARD_OF_BIT
from tonk_env.kernels.held import WILD_ORDER
from tonk_env.kernels.one import card_of_hit, cards_of_spread, places_of
from tonk_env.rule_record import rule_array
from tonk_env.rules import RuleSet
from tonk_env.spreads import RUN_LENGTHS

FLAG_WORDS = ("drop", "draw", "take", "pass")
HIT_WORDS = ("book", "high", "low")


class NotationError(ValueError):
    """Words that are no move of the rule set."""


def _name(bit: int) -> str:
    """Name of the card on a bit of a card set."""
    return CARD_NAMES[int(CARD_OF_BIT[bit])]


def _bits(cards: Any) -> list[int]:
    """Set bits of a card set, rising."""
    value = int(cards)
    return [i for i in range(64) if value >> i & 1]


def spread_words(places: int, natural: int, wilds: int) -> str:
    """Places of a spread in words, wilds naming the place they fill: ``6H 2S=7H 8H``."""
    waiting = [int(i) for i in WILD_ORDER if wilds >> int(i) & 1]
    return " ".join(
        _name(place) if natural >> place & 1 else f"{_name(waiting.pop(0))}={_name(place)}" for place in _bits(places)
    )


@lru_cache(maxsize=65536)
def _plain_name(action: int, rules: RuleSet) -> str:
    """Words of an action that does not depend on the hand."""
    return _name_of(action, rules, None)


def action_name(action: int, rules: RuleSet, hand: int | None = None) -> str:
    """Words of an action number under a rule set.

    ``hand`` is the card set held by the player. Without it the wild of a wild move cannot be known and is written ``*``,
    and a spread with wilds names its places only. Raises ValueError for a number outside the rule set's layout.
    """
    if not 0 <= action < num_actions(rules):
        raise ValueError(f"action {action} is outside the layout of these rules: 0 to {num_actions(rules) - 1}")
    if action < NUM_PLAIN_ACTIONS:
        return _plain_name(int(action), rules)
    return _name_of(action, rules, hand)


def _name_of(action: int, rules: RuleSet, hand: int | None) -> str:
    """Words of an action within the layout."""
    word, bit = int(ACTION_WORD[action]), int(ACTION_BIT[action])
    if word == W_FLAGS:
        return "tunk" if bit == F_DROP and rules.drop == "after_draw" else FLAG_WORDS[bit]
    if word == W_DISCARD:
        return f"discard {_name(bit)}"
    if word < W_BOOK:
        return f"hit {_name(bit)} {HIT_WORDS[word - W_HIT_BOOK]}"
    if W_WILD_HIT_BOOK <= word <= W_WILD_HIT_LOW:
        wild = "*" if hand is None else _name(_bits(card_of_hit(rule_array(rules), np.uint64(hand), word, bit))[0])
        return f"hit {wild}={_name(bit)} {HIT_WORDS[word - W_WILD_HIT_BOOK]}"
    return f"spread {_spread_name(word, bit, rules, hand)}"


def _spread_name(word: int, bit: int, rules: RuleSet, hand: int | None) -> str:
    """Places of the spread of an action, with its wilds when the hand is known."""
    record = rule_array(rules)
    length = _run_length(word)
    if length and not _has_run(record[0], bit, length):
        return f"of {length} from {_name(bit)} up"
    if word < W_WILD_BOOK:
        places = int(places_of(record, word, bit))
        return spread_words(places, places, 0)
    if hand is None:
        return " ".join(_name(i) for i in _bits(places_of(record, word, bit))) + " *"
    places, natural, wilds = cards_of_spread(record, np.uint64(hand), word, bit)
    return spread_words(int(places), int(natural), int(wilds))


@lru_cache(maxsize=64)
def _plain_names(rules: RuleSet) -> dict[str, int]:
    """Words of every action without wilds, for reading them back. Runs that the ranks in use lack are left out."""
    names: dict[str, int] = {}
    for action in range(NUM_PLAIN_ACTIONS):
        if _exists(action, rules):
            names.setdefault(action_name(action, rules), action)
    return names


def _exists(action: int, rules: RuleSet) -> bool:
    """Whether an action's number means something under the ranks in use."""
    length = _run_length(int(ACTION_WORD[action]))
    return not length or _has_run(rule_array(rules)[0], int(ACTION_BIT[action]), length)


def _run_length(word: int) -> int:
    """Length of the runs of a word, 0 for any other word."""
    if W_RUN <= word < W_RUN + len(RUN_LENGTHS):
        return int(word - W_RUN) + RUN_LENGTHS[0]
    return int(word - W_WILD_RUN) + RUN_LENGTHS[0] if word >= W_WILD_RUN else 0


def _has_run(record: Any, low: int, length: int) -> bool:
    """Whether a run of this length can start at the place of a bit, with the ranks in use."""
    at = int(record.pos_of_rank[low & 15])
    return at >= 0 and at + length <= int(record.n_ranks)


def parse_action(words: str, rules: RuleSet) -> int:
    """Action number of the words of a move without wilds. Raises NotationError when they are none.

    Words of wild moves are read against the legal moves of a table, see ``Table.parse``.
    """
    action = _plain_names(rules).get(words)
    if action is None:
        raise NotationError(
            f"{words!r} is not a move: drop, tunk, draw, take, pass, 'discard KS', 'spread 6H 7H 8H', 'hit TH high', "
            "'hit 5H low' and 'hit 6D book' are the forms"
        )
    return action
