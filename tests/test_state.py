"""Tables stay sound in random play, and `status` names what is wrong with one that is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from stacking import COUNT_12, COUNT_34, deal, play
from wandering import RULE_SETS, positions, seats_of, tables

from tonk_env.batch import Batch
from tonk_env.cards import BIT_OF_CARD, bits_of, parse_card
from tonk_env.rules import make_rules
from tonk_env.state import Phase
from tonk_env.status import status
from tonk_env.table import DeckError, Table

WILD_BITS = np.array([13, 29, 1, 17, 33, 49], dtype=np.uint64)


@pytest.mark.parametrize("name, players", tables())
def test_random_play_stays_sound(name: str, players: int) -> None:
    for table in positions(name, players, seed=7 * players, moves=40):
        assert status(table) == []


def cards_in_sets(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """All cards of each table as one set, and how many were counted on the way."""
    t = batch.tables
    size = batch.rules.deck_size
    held, pile, laid = t["hand"], t["thrown"], t["laid"]
    parts = [*held.T, *pile.T, *laid.T]
    for wild, bit in enumerate(WILD_BITS):
        parts.append(np.where(t["wild_place"][:, wild] >= 0, np.uint64(1) << bit, np.uint64(0)))
    bits = np.uint64(1) << BIT_OF_CARD.astype(np.uint64)
    in_stock = np.arange(54) >= t["dealt"][:, None]
    in_stock &= np.arange(54) < size
    parts += [np.where(in_stock[:, i], bits[t["deck"][:, i]], np.uint64(0)) for i in range(size)]
    every = np.bitwise_or.reduce(parts)
    return every, np.sum([np.bitwise_count(part) for part in parts], axis=0, dtype=np.int64)


@pytest.mark.parametrize("name", RULE_SETS)
def test_no_card_is_lost_or_doubled_in_thousands_of_hands(name: str) -> None:
    rules = RULE_SETS[name]
    deck = bits_of(int(card) for card in rules.record().deck[: rules.deck_size])
    for players in seats_of(rules)[-1:]:
        batch = Batch(rules, players, 64, seed=3)
        batch.reset()
        for step in range(400):
            batch.step(batch.choose_random())
            if step % 3 == 0:
                every, count = cards_in_sets(batch)
                assert (every == np.uint64(deck)).all()
                assert (count == rules.deck_size).all()


def test_every_hand_ends() -> None:
    # Everybody takes the discard and throws another card: only the turn limit ends that (R19).
    table = deal("points", [COUNT_12, COUNT_34], match="hands", max_turns=200, taken_discard="no_return")
    while not table.over:
        table.step("take" if table.phase is Phase.START else int(table.legal_actions()[0]))
    assert table.last_hand is not None
    assert (table.last_hand.ending, len(table.last_hand.moves), table.truncated) == ("turn_limit", 400, True)


def sound() -> Table:
    """A table with a spread, a known card and a pile."""
    table = deal("rockets", ["7H 8H 9H KS 4C", "2C 3D 5C 9S JD"], upcard="QD", stock="6H KC")
    play(table, "draw", "spread 6H 7H 8H 9H", "discard KS", "take", "discard 2C")
    assert status(table) == []
    return table


def bit(name: str) -> np.uint64:
    """A card as a set."""
    return np.uint64(bits_of([parse_card(name)]))


def put(field: str, value: Any, index: int | None = None) -> Callable[[Any], None]:
    """A change of a record's field."""

    def change(record: Any) -> None:
        if index is None:
            record[field] = value(record[field]) if callable(value) else value
        else:
            record[field][index] = value(record[field][index]) if callable(value) else value

    return change


@pytest.mark.parametrize(
    "change, fault",
    [
        (put("hand", lambda h: h | bit("KC"), 0), "card KC lies in 2 places"),
        (put("hand", lambda h: h & ~bit("4C"), 0), "card 4C lies nowhere"),
        (put("hand", lambda h: h | bit("X1"), 0), "card X1 is not in the deck"),
        (
            put("hand", lambda h: h | bit("6D") | bit("6C") | bit("6S") | bit("TC") | bit("TD"), 0),
            "seat 0 holds 6 cards",
        ),
        (put("hand", np.uint64(0), 0), "seat 0 has no card and the hand goes on"),
        (put("known", bit("KC"), 0), "seat 0 is known to hold KC"),
        (put("thrown", np.uint64(0), 6), "the pile is 2C QD, noted are 2C"),
        (put("laid", np.uint64(0), 0), "seat 0 has 6H 7H 8H 9H on the table, noted are"),
        (put("spread_places", bit("6H") | bit("7H") | bit("9H"), 0), "6H 7H 9H is not a run"),
        (put("spread_kind", 0, 0), "6H 7H 8H 9H is not a book"),
        (put("spread_owner", 5, 0), "belongs to seat 5"),
        (put("open_high", np.uint64(0)), "open to hits (high) are ['TH'], noted are []"),
        (put("frozen", -1, 1), "seat 1 is barred for 0 and -1 turns"),
        (put("turn", 4), "seat 4 is on turn and not in the hand"),
        (put("turns", 200), "200 turns are finished, 200 end the hand"),
        (put("legal", np.uint64(0), 0), "has no legal move"),
        (put("legal", np.uint64(1 << 15), 1), "word 1 of the legal moves has a bit that is no move"),
    ],
)
def test_status_names_a_planted_fault(change: Callable[[Any], None], fault: str) -> None:
    table = sound()
    change(table.record)
    assert any(fault in line for line in status(table)), status(table)


def test_status_names_wrong_wilds() -> None:
    table = deal("wild_jokers", ["3H 4H X1 KC 9D", "QC QD 9S 8D 7C"], stock="JS")
    play(table, "draw", "spread 3H 4H X1=5H", "discard KC")
    assert status(table) == []
    table.record.wild_place[:2] = 18 + 14, 18 + 15  # both jokers in the run of two naturals
    assert status(table) != []


def test_before_the_first_deal_nothing_is_on_turn() -> None:
    table = Table(make_rules("points"), 2)
    assert (table.seat, table.over, table.phase) == (-1, True, Phase.OVER)


@pytest.mark.parametrize("seat", [-1, 6, 10**9, None, "0", 1.5, True])
def test_only_seats_at_the_table_can_be_looked_at(seat: Any) -> None:
    table = Table("rockets", 6, seed=1)
    table.reset()
    for look in (table.observation, table.mask, table.hand):
        with pytest.raises(ValueError, match="is not at this table: seats are 0 to 5"):
            look(seat)


def test_nothing_can_be_seen_before_the_first_deal() -> None:
    with pytest.raises(ValueError, match="call reset"):
        Table("rockets", 2, seed=1).observation(0)


@pytest.mark.parametrize("deck", [[1.5] * 52, [True] * 52, [None] * 52, 5, [*range(51), 50]])
def test_a_deck_is_made_of_cards(deck: Any) -> None:
    with pytest.raises(DeckError, match="deck: "):
        Table("rockets", 2, seed=1).reset(deck=deck)
