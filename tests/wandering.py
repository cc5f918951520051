"""Random play for tests: rule sets that between them use every part of the engine, and positions met on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tonk_env.cards import CARD_NAMES
from tonk_env.rules import PRESETS, RuleSet, make_rules
from tonk_env.table import Table

# Every preset, and options that no preset has.
CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "no_return": ("points", {"taken_discard": "no_return", "must_spread": True, "hands": 2, "match": "hands"}),
    "wild_no_return": ("wild_jokers", {"taken_discard": "no_return", "hand_size": 7}),
    "wild_must_use": ("deadwood", {"wild": "deuces", "taken_discard": "must_use", "hand_size": 6}),
    "stacking": ("rockets", {"freeze_on_hit": 2, "freeze_stacks": True, "wait_after_spread": 2, "max_hits": 1}),
    "target": ("difference", {"match": "target", "target": 40, "match_reward": "hands", "difference_cap": 9}),
    "left_over": ("points", {"held_spreads_count": False, "drop_at_most": 20, "next_start": "winner"}),
    "tunk_jokers": ("tunk", {"wild": "jokers", "jokers": 2, "hand_size": 5, "taken_discard": "no_return"}),
    "open_often": ("speno", {"opening_at_most": 24, "hands": 3, "match_reward": "hands"}),
    "few_cards": ("deadwood", {"ranks": "A2345679TQK", "suits": 3, "hand_size": 4, "max_turns": 9}),
}


def rule_sets() -> dict[str, RuleSet]:
    """Rule sets by a name."""
    return dict(PRESETS) | {name: make_rules(preset, **options) for name, (preset, options) in CHANGED.items()}


RULE_SETS = rule_sets()


def seats_of(rules: RuleSet) -> list[int]:
    """The least number of players, one in between, and the largest."""
    least, most = rules.min_players, rules.max_players
    most = max(n for n in range(least, most + 1) if rules.stock_after_deal(n) >= 1)
    return sorted({least, (least + most + 1) // 2, most})


def tables() -> list[tuple[str, int]]:
    """Names of rule sets with numbers of players."""
    return [(name, players) for name, rules in RULE_SETS.items() for players in seats_of(rules)]


def choose(table: Table, generator: np.random.Generator) -> int:
    """A random legal action that seldom drops and likes to lay, hit, take and tunk, so that much happens."""
    words = table.legal_words()
    lively = [w for w in words if w.startswith(("spread", "hit", "tunk", "take"))]
    calm = [w for w in words if w != "drop"]
    chosen = lively if lively and generator.random() < 0.5 else calm if calm and generator.random() < 0.95 else words
    return table.parse(chosen[int(generator.integers(len(chosen)))])


def positions(name: str, players: int, seed: int, moves: int) -> Iterator[Table]:
    """The same table at every position of some random moves, new episodes included; do not change it."""
    generator = np.random.default_rng(seed)
    table = Table(RULE_SETS[name], players, seed=seed)
    table.reset()
    for _ in range(moves):
        yield table
        if table.over:
            table.reset()
        else:
            table.step(choose(table, generator))


def names(cards: Any) -> set[str]:
    """Names of card numbers."""
    return {CARD_NAMES[int(card)] for card in cards}
