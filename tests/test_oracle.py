"""The kernels play as the plain second engine does: the same moves, states, results, rewards and places."""

from __future__ import annotations

import random

import pytest
from differential import Duel, Mismatch, run
from fuzz import fuzz, hands_asked, workers_asked
from hypothesis import given, settings
from hypothesis import strategies as st

from tonk_env.rules import PRESETS, make_rules

TABLES = [
    (name, players) for name, rules in PRESETS.items() for players in range(rules.min_players, rules.max_players + 1)
]
RANDOM_HANDS = 720


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_at_every_table(preset: str) -> None:
    for players in (players for name, players in TABLES if name == preset):
        rules, hands = PRESETS[preset], 0
        if rules.match == "elimination":  # long matches: a lower limit is the same game
            rules = make_rules(rules, elimination=60)
        for seed in range(20):
            hands += Duel(rules, players, seed).play(random.Random(seed))
            if hands >= 6:
                break


@pytest.mark.parametrize("part", range(6))
def test_random_options(part: int) -> None:
    hands, seed = 0, 1_000_000 * part
    while hands < RANDOM_HANDS // 6:
        hands += run(seed)
        seed += 1


@given(seed=st.integers(10**9, 10**12))
@settings(max_examples=12, deadline=None, database=None)
def test_any_seed_agrees(seed: int) -> None:
    run(seed)


def test_a_planted_difference_is_noticed() -> None:
    duel = Duel(make_rules("rockets"), 3, 5)
    seat = duel.hand.turn
    duel.hand.hands[seat][0], duel.hand.stock[0] = duel.hand.stock[0], duel.hand.hands[seat][0]
    with pytest.raises(Mismatch, match="second engine"):
        duel.play(random.Random(5))


@pytest.mark.slow
def test_a_million_hands() -> None:
    assert fuzz(hands_asked(), workers_asked()) >= hands_asked()
