"""A seat sees what it may know and nothing else (R39): hidden cards are dealt again, public facts are read back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from stacking import COUNT_12, COUNT_34, deal, exhaust_stock, play
from wandering import RULE_SETS, names, positions, tables

from tonk_env.cards import CARD_NAMES
from tonk_env.observation import TOTAL_STEPS, ObservationLayout
from tonk_env.redeal import RedealError, redeal
from tonk_env.state import Phase
from tonk_env.status import status
from tonk_env.table import Table
from tonk_env.view import hands_were_shown


def hidden(table: Table, seat: int) -> list[Any]:
    """What a seat must not know: the hands of the others and the order of the stock."""
    hands = [table.hand(other) for other in range(table.num_players) if other != seat]
    return [hands, table.deck[table.rules.deck_size - table.stock_size :]]


@pytest.mark.parametrize("name, players", tables())
def test_the_view_is_the_same_when_the_hidden_cards_are_dealt_again(name: str, players: int) -> None:
    generator = np.random.default_rng(players)
    looked = moved = 0
    for at, table in enumerate(positions(name, players, seed=11 * players, moves=90)):
        if at % 9:
            continue
        for seat in range(players):
            other = redeal(table, seat, generator)
            assert (other.observation(seat) == table.observation(seat)).all()
            assert (other.mask(seat) == table.mask(seat)).all()
            if not hands_were_shown(table):  # what a comparison laid open is hidden no more (R21)
                assert other.render(seat) == table.render(seat)
            assert other.hand(seat) == table.hand(seat)
            assert status(other) == []
            looked += 1
            moved += hidden(other, seat) != hidden(table, seat)
    assert moved > 0.9 * looked or name in ("mini", "micro")  # with a handful of cards, chance deals the same again
    assert moved > 0.3 * looked


def test_only_what_is_hidden_moves() -> None:
    table = deal("rockets", ["7H 8H 9H KS 4C", "2C 3D 5C 9S JD"], upcard="QD", stock="6H KC")
    play(table, "draw", "spread 6H 7H 8H 9H", "discard KS", "take", "discard 2C")
    other = redeal(table, 0, np.random.default_rng(1))
    assert other.pile == table.pile
    assert other.spreads() == table.spreads()
    assert "KS" in names(other.hand(1))  # taken from the pile in front of everybody
    assert len(other.hand(1)) == 5
    assert sorted(other.deck) == sorted(table.deck)


def test_nearly_every_deal_is_another() -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    generator = np.random.default_rng(0)
    deals = {str(hidden(redeal(table, 0, generator), 0)) for _ in range(1000)}
    assert len(deals) == 1000


def test_the_same_generator_deals_the_same() -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    first, second, other = (redeal(table, 0, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert hidden(first, 0) == hidden(second, 0) != hidden(other, 0)


def test_every_hidden_card_is_equally_likely_in_every_hand() -> None:
    table = deal("deadwood", ["AS 2H 3C 2D 4S", "TC TD 6H 5C 3H", "9C 2C AC 4D 3D"], opening_spread=False)
    generator = np.random.default_rng(3)
    times = np.zeros(52)
    for _ in range(2000):
        times[redeal(table, 0, generator).hand(2)] += 1
    unseen = [card for card in range(52) if card not in table.hand(0) and card != table.top]
    assert times[table.hand(0)].sum() == 0
    assert times[unseen].min() > 0.7 * 2000 * 5 / len(unseen)
    assert times[unseen].max() < 1.3 * 2000 * 5 / len(unseen)


def test_a_copy_dealt_again_goes_on_with_other_hands() -> None:
    # A search that plays past the end of the hand must not see the real next one.
    table = Table("points", 2, seed=1)
    table.reset()
    other = redeal(table, table.seat, np.random.default_rng(2))
    for played in (table, other):
        while played.hand_number == 0:
            played.step("drop")
    assert other.deck != table.deck


def test_no_dealt_hand_would_have_been_an_opening() -> None:
    # With 24 or less winning on the deal a third of all hands would: none is dealt again here.
    table = deal("speno", ["KC QD 9H 2C 3D", "TC TD 6H 5C 3H"], opening_at_most=24)
    generator = np.random.default_rng(3)
    counts = [sum(table.rules.rank_values[c % 13] for c in redeal(table, 0, generator).hand(1)) for _ in range(300)]
    assert min(counts) > 24
    assert max(counts) < 49


def test_a_player_who_must_spread_holds_none_after_throwing() -> None:
    table = deal("strict", ["AS 2H 3C 2D 4S", "TC TD 6H 5C 3H"], stock="KC KD QS", hand_size=5, taken_discard="free")
    play(table, "draw", "discard KC", "draw", "discard KD", "draw")
    generator = np.random.default_rng(3)
    for _ in range(300):
        other = redeal(table, 0, generator)
        play(other, "discard QS", "draw")
        drawn = other.deck[other.rules.deck_size - other.stock_size - 1]
        spreads = [words for words in other.legal_words() if words.startswith("spread")]
        assert all(CARD_NAMES[drawn] in words for words in spreads)


def test_what_a_tunker_kept_is_little_enough() -> None:
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"], stock="5S 3H")
    play(table, "draw", "tunk")
    generator = np.random.default_rng(3)
    for _ in range(20):
        assert redeal(table, 1, generator).legal_words()  # a discard that holds what the tunk said
    play(table, "discard KS")
    kept = {CARD_NAMES[redeal(table, 1, generator).hand(0)[0]] for _ in range(300)}
    assert {name[0] for name in kept} == set("A2345")
    assert len(kept) > 12


def test_bad_seats_and_hopeless_tries_are_refused() -> None:
    table = deal("points", [COUNT_12, COUNT_34])
    with pytest.raises(ValueError, match="seat 2 is not at this table: 0 to 1 are"):
        redeal(table, 2, np.random.default_rng(1))
    with pytest.raises(RedealError, match="no deal of the unseen cards agreed"):
        redeal(table, 0, np.random.default_rng(1), max_tries=0)


def block(table: Table, name: str, row: np.ndarray) -> np.ndarray:
    """One block of an observation, by its name in the layout."""
    return table.layout.block(name).of(row)


def cards_in(bytes_of_cards: np.ndarray) -> set[str]:
    """Names of the cards whose byte is 1."""
    return {CARD_NAMES[card] for card in np.flatnonzero(bytes_of_cards)}


def check_public_facts(table: Table, seat: int, row: np.ndarray) -> None:
    """Every block says what its line in the layout says, read byte by byte."""
    n, t = table.num_players, table.record
    seats = [(seat + k) % n for k in range(n)]
    assert cards_in(block(table, "hand", row)) == names(table.hand(seat))
    assert cards_in(block(table, "top", row)) == names([] if table.top is None else [table.top])
    for k, by in enumerate([*seats, None]):
        assert cards_in(block(table, "thrown", row)[k]) == names(card for card, thrower in table.pile if thrower == by)
    for k, other in enumerate(seats):
        assert cards_in(block(table, "known", row)[k]) <= names(table.hand(other))
        laid = {c for s in table.spreads() if s.owner == other for c, place in s.cards if c == place}
        assert cards_in(block(table, "laid", row)[k]) == names(laid)
        assert block(table, "sizes", row)[k].sum() == len(table.hand(other))
    assert block(table, "stock", row).sum() == table.stock_size
    if table.rules.held_spreads_count and table.rules.drop != "after_draw":
        values = [*table.rules.rank_values * 4, 0, 0]
        assert block(table, "count", row).sum() == sum(values[card] for card in table.hand(seat))
    if table.phase is not Phase.OVER:
        assert block(table, "turn", row).tolist() == [int(other == table.seat) for other in seats]
        assert np.argmax(block(table, "phase", row)) == table.phase
    assert int("".join(map(str, block(table, "turns", row)[::-1])), 2) == t.turns


def check_option_facts(table: Table, seat: int, row: np.ndarray) -> None:
    """The same for the blocks that only some rule sets have."""
    n, t, blocks = table.num_players, table.record, {b.name for b in table.layout.blocks}
    for k, other in enumerate((seat + k) % n for k in range(n)):
        for name in {"waiting", "frozen"} & blocks:
            shown = block(table, name, row)[k]
            assert shown.sum() == min(t[name][other], len(shown))
        if "wild_places" in blocks:
            filled = {place for s in table.spreads() if s.owner == other for c, place in s.cards if c != place}
            assert cards_in(block(table, "wild_places", row)[k]) == names(filled)
        if "live" in blocks:
            assert block(table, "live", row)[k] == t.in_hand >> other & 1
        if "totals" in blocks and table.rules.match == "elimination":
            steps = int(table.totals[other] / table.rules.elimination * TOTAL_STEPS + 1e-6)
            assert block(table, "totals", row)[k].sum() == min(steps, TOTAL_STEPS)
        if "tunker" in blocks:
            assert block(table, "tunker", row)[k] == (t.tunker == other)
    if "taken" in blocks:
        assert len(cards_in(block(table, "taken", row))) <= 1
    if "hands_left" in blocks and not table.over:
        assert block(table, "hands_left", row).sum() == table.rules.hands - table.hands_played


@pytest.mark.parametrize("name, players", tables())
def test_every_public_fact_can_be_read_back(name: str, players: int) -> None:
    for at, table in enumerate(positions(name, players, seed=5 * players, moves=50)):
        seat = at % players
        row = table.observation(seat)
        assert (row.dtype, row.shape) == (np.int8, (table.layout.size,))
        assert set(np.unique(row)) <= {0, 1}
        check_public_facts(table, seat, row)
        check_option_facts(table, seat, row)


@pytest.mark.parametrize("name, players", tables())
def test_a_decoded_view_says_what_the_blocks_say(name: str, players: int) -> None:
    for table in positions(name, players, seed=3 * players, moves=12):
        for seat in range(players):
            row = table.observation(seat)
            view = table.layout.decode(row).as_dict()
            assert list(view) == [b.name for b in table.layout.blocks]
            assert set(view["hand"]) == names(table.hand(seat))
            assert view["stock"] == table.stock_size
            assert view["sizes"] == [len(table.hand((seat + k) % players)) for k in range(players)]
            assert view["phase"] == table.phase.name.lower() or table.over


@pytest.mark.parametrize("name, players", tables())
def test_the_layout_covers_the_vector_once(name: str, players: int) -> None:
    layout = ObservationLayout(RULE_SETS[name], players)
    at = 0
    for part in layout.blocks:
        assert part.offset == at
        at += part.size
        assert part.doc
    assert at == layout.size
    with pytest.raises(ValueError, match="has shape"):
        layout.decode(np.zeros(layout.size + 1, np.int8))


def test_fingerprints_tell_layouts_apart() -> None:
    prints = {ObservationLayout(RULE_SETS[name], players).fingerprint for name, players in tables()}
    assert len(prints) > len(RULE_SETS) / 2
    points = ObservationLayout(RULE_SETS["points"], 2)
    assert points.fingerprint == ObservationLayout(RULE_SETS["points"], 2).fingerprint


def test_legal_hits_can_be_derived_from_one_view() -> None:
    table = deal("deadwood", ["5S 6S 7S KD 2C", "8S TC TD TH 4S"], stock="KC KH")
    play(table, "draw", "spread 5S 6S 7S", "discard KC", "draw")
    view = table.layout.decode(table.observation(1)).as_dict()
    book, high, low = (set(view["hand"]) & set(places) for places in view["open"])
    hits = [f"hit {c} book" for c in book] + [f"hit {c} high" for c in high] + [f"hit {c} low" for c in low]
    assert sorted(hits) == [words for words in table.legal_words() if words.startswith("hit")]


def test_at_the_end_nothing_more_is_shown() -> None:
    table = deal("rockets", [COUNT_12, COUNT_34])
    exhaust_stock(table)
    assert table.over
    view = table.layout.decode(table.observation(0)).as_dict()
    assert view["known"] == [[], []]
    assert not set(COUNT_34.split()) & {card for row in view["laid"] + view["thrown"] for card in row}
