"""The action mask is right at every state of random play: never empty, exactly what is accepted, zero off turn."""

from __future__ import annotations

import numpy as np
import pytest
from stacking import COUNT_12, COUNT_34, deal, play
from wandering import RULE_SETS, positions, seats_of, tables

from tonk_env.actions import num_actions
from tonk_env.batch import Batch
from tonk_env.table import IllegalMoveError, Table

SOME = 6  # actions tried of each kind at a position


def test_legal_moves_are_the_ones_of_the_mask() -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    assert np.flatnonzero(table.action_mask).tolist() == table.legal_actions().tolist() == [0, 1, 2]


@pytest.mark.parametrize("name, players", tables())
def test_masks_in_random_play(name: str, players: int) -> None:
    for table in positions(name, players, seed=13 * players, moves=40):
        masks = [table.mask(seat) for seat in range(players)]
        for seat, mask in enumerate(masks):
            assert (mask.dtype, mask.shape) == (np.int8, (num_actions(table.rules),))
            assert set(np.unique(mask)) <= {0, 1}
            assert mask.any() == (seat == table.seat)
        assert (table.action_mask == masks[table.seat]).all() or table.over
        words = table.legal_words()
        assert words == sorted(set(words))
        assert [table.words(table.parse(text)) for text in words] == words


@pytest.mark.parametrize("name, players", tables())
def test_what_is_in_is_accepted_and_what_is_out_is_refused(name: str, players: int) -> None:
    generator = np.random.default_rng(players)
    for at, table in enumerate(positions(name, players, seed=17 * players, moves=48)):
        if table.over or at % 6:
            continue
        mask, before = table.action_mask, table.record.tobytes()
        inside, outside = np.flatnonzero(mask), np.flatnonzero(mask == 0)
        for action in generator.permutation(inside)[:SOME]:
            assert table.can(int(action))
            other = table.copy()
            other.step(int(action))
            assert other.record.tobytes() != before
        for action in generator.permutation(outside)[:SOME]:
            assert not table.can(int(action))
            with pytest.raises(IllegalMoveError, match=f"action {action}"):
                table.step(int(action))
        assert table.record.tobytes() == before


@pytest.mark.parametrize("preset", ["points", "tunk", "strict", "wild_jokers", "mini"])
def test_every_action_at_some_deals(preset: str) -> None:
    for seed in range(10):
        table = Table(preset, seed=seed)
        table.reset()
        accepted = [action for action in range(table.num_actions) if table.can(action)]
        assert accepted == table.legal_actions().tolist()


@pytest.mark.parametrize("name", RULE_SETS)
def test_a_live_seat_never_has_an_empty_mask(name: str) -> None:
    for players in seats_of(RULE_SETS[name]):
        batch = Batch(RULE_SETS[name], players, 128, seed=players)
        batch.reset()
        for _ in range(150):
            assert batch.action_masks.any(axis=1).all()
            batch.step(batch.choose_random())


@pytest.mark.parametrize("action", [-1, 483, 10**9, True, 1.0, None, [1], "draw "])
def test_what_is_no_move_is_refused_with_a_reason(action: object) -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    before = table.record.tobytes()
    with pytest.raises(IllegalMoveError, match=r"out of range|not a move|words"):
        table.step(action)  # type: ignore[arg-type]
    assert table.record.tobytes() == before


def test_a_refusal_names_seat_phase_and_legal_moves() -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    with pytest.raises(
        IllegalMoveError, match=r"'pass' .* is not legal for seat 0 in phase START: legal are draw, drop, take"
    ):
        table.step(3)
    with pytest.raises(IllegalMoveError, match="'discard AS' is not legal for seat 0"):
        table.step("discard AS")


def test_moves_before_the_deal_and_after_the_end_are_refused() -> None:
    table = Table("rockets", 2, seed=1)
    with pytest.raises(IllegalMoveError, match="no hand has been dealt"):
        table.step("draw")
    table.reset()
    play(table, "drop")
    with pytest.raises(IllegalMoveError, match="the episode is over"):
        table.step("draw")
    assert not table.action_mask.any()


@pytest.mark.parametrize(
    "moves, refused",
    [
        (("draw",), "drop"),  # after drawing
        (("draw",), "draw"),
        (("take",), "take"),
        ((), "discard AS"),
        ((), "tunk"),
    ],
)
def test_moves_of_another_phase_are_refused(moves: tuple[str, ...], refused: str) -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    play(table, *moves)
    assert not table.can(refused)
