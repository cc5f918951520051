"""Chance comes from seed, table and hand number alone: repeatable, independent, and nobody else's random state."""

from __future__ import annotations

import copy
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from stacking import full_deck
from wandering import choose

from tonk_env.batch import Batch
from tonk_env.cards import CARD_NAMES
from tonk_env.rules import PRESETS, make_rules
from tonk_env.seeding import series_seed
from tonk_env.table import DeckError, Table

Disturb = Callable[[Table], None]


def transcript(table: Table, moves: int = 150, disturb: Disturb | None = None) -> list[object]:
    """Everything that seats see of some random moves, episode after episode."""
    generator = np.random.default_rng(9)
    seen: list[object] = []
    for move in range(moves):
        if disturb is not None and move == 10:
            disturb(table)
        views = [table.observation(seat).tobytes() for seat in range(table.num_players)]
        seen.append((table.seat, table.action_mask.tobytes(), views, table.rewards.tolist(), table.over))
        table.reset() if table.over else table.step(choose(table, generator))
    return seen


def fresh(preset: str = "rockets", players: int = 3, seed: int = 5, number: int = 0) -> Table:
    """A table at its first decision."""
    table = Table(preset, players, seed=seed, table=number)
    table.reset()
    return table


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_gives_the_same_game(preset: str) -> None:
    players = PRESETS[preset].max_players
    first, second = (transcript(fresh(preset, players), moves=60) for _ in range(2))
    assert first == second
    assert transcript(fresh(preset, players, seed=6), moves=60) != first


def test_a_planted_fault_is_noticed() -> None:
    # A card exchanged in the tenth move, as a call of a global generator would do: the comparison must see it.
    def fault(table: Table) -> None:
        order = table.deck
        at = int(table.record.dealt)
        table.record.deck[: len(order)] = order[:at] + order[at:][::-1]
        table.record.stacked = True

    assert transcript(fresh(), disturb=fault) != transcript(fresh())


def test_later_hands_follow_the_seed() -> None:
    first, second = fresh("points", 3), fresh("points", 3)
    for _ in range(5):
        for table in (first, second):
            table.reset()
        assert first.deck == second.deck
    third = fresh("points", 3, seed=6)
    third.reset()
    assert third.deck != first.deck


def test_reset_with_the_seed_begins_again() -> None:
    table = fresh(seed=5)
    deck = table.deck
    table.reset()
    assert table.deck != deck
    table.reset(seed=5)
    assert table.deck == deck


def test_neighbouring_seeds_tables_and_hands_share_nothing() -> None:
    decks = []
    for seed in (0, 1, 2, 3):
        for number in (0, 1, 2):
            table = Table("rockets", 2, seed=seed, table=number)
            for _ in range(4):
                table.reset()
                decks.append(table.deck)
    same = [
        sum(a == b for a, b in zip(one, other, strict=True)) for one in decks for other in decks if one is not other
    ]
    assert max(same) < 12  # two shuffled decks agree in one place on average
    assert abs(np.mean(same) - 1) < 0.15


def test_seed_zero_is_a_seed() -> None:
    assert fresh(seed=0).deck == fresh(seed=0).deck != fresh(seed=1).deck


@pytest.mark.parametrize("seed", [2**31, 2**63, 2**64 - 1, 2**64, 2**200, np.int64(7), np.uint64(2**63)])
def test_large_seeds_are_seeds(seed: int) -> None:
    assert fresh(seed=seed).deck == fresh(seed=int(seed)).deck


def test_large_seeds_differ_from_their_low_bits() -> None:
    assert len({int(series_seed(seed)) for seed in (5, 5 + 2**32, 5 + 2**64, 5 + 2**128)}) == 4


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, [1]])
def test_other_seeds_are_refused(seed: object) -> None:
    with pytest.raises(ValueError, match="a seed is a whole number from 0"):
        Table("rockets", 2, seed=seed)  # type: ignore[arg-type]
    table = fresh()
    with pytest.raises(ValueError, match="a seed is a whole number from 0"):
        table.reset(seed=seed)  # type: ignore[arg-type]


def test_without_a_seed_tables_differ() -> None:
    tables = [Table("rockets", 2) for _ in range(2)]
    for table in tables:
        table.reset()
    assert tables[0].deck != tables[1].deck


def test_seed_none_goes_on_like_no_seed() -> None:
    first, second = fresh(seed=3), fresh(seed=3)
    decks = [first.deck]
    for _ in range(20):
        first.reset()
        second.reset(seed=None)
        assert first.deck == second.deck
        assert first.deck not in decks
        decks.append(first.deck)


def test_a_seeded_reset_keeps_the_rules() -> None:
    rules = make_rules("points", match="hands", hands=1, caught_multiplier=7, reward_scale=3, opening_exact=())
    table = Table(rules, 2)
    for seed in (None, 5, 5):
        table.reset(seed=seed)
        assert table.rules == rules
        table.reset(seed=seed, deck=full_deck(rules))
        result = table.step("drop")[0]
        assert result.scores in ([0, result.counts[1]], [7 * (result.counts[0] or 0), 0])


def test_tables_do_not_disturb_each_other() -> None:
    alone = transcript(fresh())
    table, other = fresh(), fresh(seed=8)
    generator = np.random.default_rng(9)
    seen: list[object] = []
    for _ in range(150):
        views = [table.observation(seat).tobytes() for seat in range(3)]
        seen.append((table.seat, table.action_mask.tobytes(), views, table.rewards.tolist(), table.over))
        table.reset() if table.over else table.step(choose(table, generator))
        other.reset() if other.over else other.step(int(other.legal_actions()[0]))
    assert seen == alone


def test_global_random_states_are_neither_used_nor_changed() -> None:
    quiet = transcript(fresh())
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    for _ in range(100):
        table = fresh(seed=5)
    assert random.getstate() == state
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), numpy_state, strict=True))  # noqa: NPY002

    def noise(table: Table) -> None:
        random.random()
        np.random.rand(3)  # noqa: NPY002

    assert transcript(table, disturb=noise) == quiet
    random.setstate(state)
    np.random.set_state(numpy_state)  # noqa: NPY002


SCRIPT = """
import numpy as np
from tonk_env.table import Table
table, seen = Table("points", 3, seed=5), []
table.reset()
generator = np.random.default_rng(1)
for _ in range(40):
    words = table.legal_words()
    seen.append(words[int(generator.integers(len(words)))])
    table.step(seen[-1])
    if table.over:
        table.reset()
print(seen, table.deck)
"""


def test_hash_seeds_change_nothing() -> None:
    root = Path(__file__).parents[1]
    outputs = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "NUMBA_DISABLE_JIT": "1"}
        outputs.add(subprocess.run([sys.executable, "-c", SCRIPT], cwd=root, env=environment, check=True,
                                   capture_output=True, text=True).stdout)  # fmt: skip
    assert len(outputs) == 1


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, Table.copy, lambda t: pickle.loads(pickle.dumps(t))])
@pytest.mark.parametrize("preset", ["points", "tunk", "wild_jokers"])
def test_a_copy_in_mid_hand_is_equal_and_then_independent(how: Callable[[Table], Table], preset: str) -> None:
    table = fresh(preset, 3)
    generator = np.random.default_rng(2)
    for _ in range(7):
        table.step(choose(table, generator))
    if how is copy.copy:
        how = copy.deepcopy  # a shallow copy shares the state by its meaning
    twin = how(table)
    assert twin.moves == table.moves
    assert twin.deck == table.deck
    before = table.record.tobytes()
    assert transcript(twin, moves=40) != []
    assert table.record.tobytes() == before
    assert transcript(how(table), moves=40) == transcript(table, moves=40)


def test_a_batch_deals_the_decks_of_its_tables() -> None:
    batch = Batch("rockets", 3, 4, seed=5)
    batch.reset()
    for number in range(4):
        table = fresh(number=number)
        assert batch.tables[number]["hand"].tolist() == table.record.hand.tolist()


def test_a_stacked_deck_is_for_one_hand() -> None:
    first, second = fresh("points", 2), fresh("points", 2)
    first.reset(deck=full_deck(first.rules))
    assert [CARD_NAMES[card] for card in first.deck] == full_deck(first.rules)
    second.reset()
    for table in (first, second):
        while table.hand_number == 0:
            table.step("drop")
    assert first.deck == second.deck  # the series goes on as if the stacked hand had been its own


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda d: d[:-1], "1 of 52 cards are missing: KS"),
        (lambda d: [*d[:-1], "AC"], "card AC at position 51 is there twice"),
        (lambda d: [*d[:-1], "X1"], "card X1 at position 51 is not in the deck"),
        (lambda d: [*d[:-1], "1Z"], "'1Z' is not a card"),
        (lambda d: [], "52 of 52 cards are missing"),
    ],
)
def test_decks_that_are_none_are_refused(change: Callable[[list[str]], list[str]], message: str) -> None:
    table = fresh()
    before = table.record.tobytes()
    with pytest.raises(DeckError, match=message):
        table.reset(deck=change(full_deck(table.rules)))
    assert table.record.tobytes() == before
