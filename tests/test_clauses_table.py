"""The clauses on the table, the deal and the opening tonk (R1 to R9), each with a hand that shows it."""

from __future__ import annotations

from typing import Any

import pytest
from stacking import (
    COUNT_12,
    COUNT_19,
    COUNT_34,
    HIGH,
    OTHER_19,
    deal,
    full_deck,
    held,
    legal,
    outcome,
    pass_turn,
    play,
)

from tonk_env.cards import CARD_NAMES
from tonk_env.rules import PRESETS, RuleSetError, make_rules
from tonk_env.table import Table

LOW_SHORT = "KD QD 3C 5D AC"  # also in the short deck


@pytest.mark.parametrize("preset", PRESETS)
def test_r1_players_are_those_of_the_preset(preset: str) -> None:
    rules = PRESETS[preset]
    for players in range(9):
        if rules.min_players <= players <= rules.max_players:
            table = Table(rules, players, seed=1)
            table.reset()
            assert len(table.totals) == players
        else:
            with pytest.raises(RuleSetError, match=f"A table of {players} is refused"):
                Table(rules, players)


@pytest.mark.parametrize("players", range(2, 7))
def test_r1_seats_are_numbered_to_the_left(players: int) -> None:
    table = Table("rockets", players, seed=3)
    table.reset()
    turns = []
    for _ in range(players + 1):
        turns.append(table.seat)
        pass_turn(table)
    assert turns == [*range(players), 0]


def test_r2_seven_and_jack_are_neighbours_in_the_short_deck() -> None:
    # 6H 7H JH is no run where 8, 9 and T lie between: neighbours are those of the ranks in use.
    hands = ["6H 7H JH KC 2D", LOW_SHORT]
    short, full = deal("short_deck", hands, stock="2C"), deal("rockets", hands, stock="2C")
    assert legal(play_draw(short), "spread") == ["spread 6H 7H JH"]
    assert legal(play_draw(full), "spread") == []


def play_draw(table: Table) -> Table:
    """The table after the seat on turn has drawn."""
    table.step("draw")
    return table


def test_r2_a_run_grows_over_the_gap_of_the_short_deck() -> None:
    # The 7H lies next to JH QH KH: the hit must not be looked for at TH.
    table = deal("short_deck", ["JH QH KH 7H 2D", LOW_SHORT], stock="2C")
    play(table, "draw", "spread JH QH KH")
    assert legal(table, "hit") == ["hit 7H low"]


def test_r2_fewer_suits_are_the_first_of_c_d_h_s() -> None:
    table = Table("mini", 2, seed=1)
    table.reset()
    assert {CARD_NAMES[card] for card in table.deck} == {rank + suit for rank in "A234" for suit in "CD"}


def test_r2_with_three_suits_a_book_of_three_is_full() -> None:
    table = deal("deadwood", ["9C 9D 9H KD 2C", "KC QD 8H 8C 7D"], stock="QH", suits=3)
    play(table, "draw", "spread 9C 9D 9H", "discard KD")
    assert int(table.record.open_book) == 0


def test_r2_jokers_are_in_the_deck() -> None:
    for count in (0, 1, 2):
        table = Table(make_rules("deadwood", jokers=count), 2, seed=1)
        table.reset()
        assert sorted(CARD_NAMES[card] for card in table.deck) == sorted(full_deck(table.rules))
        assert len(table.deck) == 52 + count


@pytest.mark.parametrize(
    "preset, options, spreads",
    [
        ("jokers", {}, []),  # dead: they may only be thrown
        ("wild_jokers", {}, ["spread 3H 4H X1=5H", "spread X1=2H 3H 4H"]),
        ("jokers", {"wild": "deuces"}, []),  # dead beside wild deuces too
    ],
)
def test_r3_jokers_are_dead_or_wild(preset: str, options: dict[str, Any], spreads: list[str]) -> None:
    table = deal(preset, ["X1 3H 4H KC 9D", "TC QD 9H 8C 7D"], stock="QS", **options)
    play(table, "draw")
    assert legal(table, "spread") == spreads
    assert "discard X1" in legal(table)


def test_r3_deuces_are_wild() -> None:
    # 2S lies in no run of hearts by itself; as a wild it fills 2H or 5H.
    table = deal("deadwood", ["2S 3H 4H KC 9D", "TC QD 9H 8C 7D"], stock="QS", wild="deuces")
    play(table, "draw")
    assert legal(table, "spread") == ["spread 2S=2H 3H 4H", "spread 3H 4H 2S=5H"]


def test_r4_cards_go_round_one_at_a_time_from_the_first_seat() -> None:
    # The plain deck AC 2C 3C … dealt to three: seat 0 has the 1st, 4th, 7th … card, the 16th is turned up.
    table = Table("rockets", 3, seed=1)
    table.reset(deck=full_deck(table.rules))
    assert held(table, 0) == {"AC", "4C", "7C", "TC", "KC"}
    assert held(table, 1) == {"2C", "5C", "8C", "JC", "AD"}
    assert [CARD_NAMES[card] for card, _ in table.pile] == ["3D"]
    table.step("draw")
    assert "4D" in held(table, 0)


def test_r4_a_later_hand_is_dealt_from_its_own_first_seat() -> None:
    table = Table(make_rules("rockets", hands=2), 3, seed=4)
    table.reset()
    play(table, "drop")
    assert table.start == 1
    assert set(table.deck[0::3][:5]) == set(table.hand(1))
    assert set(table.deck[2::3][:5]) == set(table.hand(0))


def test_r4_without_an_upcard_the_pile_is_empty() -> None:
    assert len(deal("no_upcard", [COUNT_12, COUNT_34]).pile) == 0
    assert len(deal("deadwood", [COUNT_12, COUNT_34]).pile) == 1


def test_r4_a_deal_must_leave_a_stock_card() -> None:
    short = make_rules("seven_card", ranks="A234567JQK", max_players=6)  # 40 cards: 5 x 7 + 1 leaves four
    assert Table(short, 5).num_players == 5
    with pytest.raises(RuleSetError, match="at least one stock card"):
        Table(short, 6)
    with pytest.raises(RuleSetError, match="at least one stock card"):
        make_rules("points", ranks="A23", suits=3, hand_size=5)


@pytest.mark.parametrize("courts, count", [((10, 10, 10), 33), ((11, 12, 13), 37)])
def test_r5_card_values(courts: tuple[int, ...], count: int) -> None:
    # A 1, 2 2, T 10, J and K 10 each, or 11 and 13; the ten stays a ten.
    table = deal("deadwood", ["AS 2H TC JD KS", HIGH], court_values=courts)
    assert play(table, "drop")[0].counts[0] == count


@pytest.mark.parametrize("wild", ["none", "deuces"])
def test_r5_a_joker_counts_nothing_and_a_deuce_two(wild: str) -> None:
    table = deal("jokers", ["X1 X2 2C 5H 9S", HIGH], wild=wild)
    assert play(table, "drop")[0].counts[0] == 16


@pytest.mark.parametrize("counts, count", [(True, 38), (False, 14)])
def test_r6_spreads_held_count_or_not(counts: bool, count: int) -> None:
    # 7H 8H 9H make a run in hand: 24 of the 38 points, unless held spreads are set aside.
    table = deal("rockets", ["7H 8H 9H KS 4C", "KC QD 9S 8C 7D"], held_spreads_count=counts)
    assert play(table, "drop")[0].counts[0] == count


def test_r6_hits_do_not_lower_a_count() -> None:
    # Seat 1 could hit 6H, 7H 8H 9H lies on the table; at the drop it counts all the same.
    table = deal("rockets", ["7H 8H 9H KS 4C", "6H QD 3S 8C 7D"], stock="KD", held_spreads_count=False)
    play(table, "draw", "spread 7H 8H 9H", "discard KS")
    assert play(table, "drop")[0].counts == [14, 34]


def test_r6_in_tunk_every_count_is_the_least_left_over() -> None:
    # Seat 1 keeps JC JD JH and 6D 7D 8D: 9 is what is left. Counting all of it (60) would be the other games' way.
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"], stock="5S 9S")
    assert play(table, "draw", "tunk", "discard KS", "draw", "hit 9S book", "discard TH")[0].counts == [5, 0]


@pytest.mark.parametrize(
    "preset, hand, opens",
    [
        ("points", "KC QC JC TC 9C", True),  # 49
        ("points", "KC QC JC TC TD", True),  # 50
        ("points", "KC QC JC TC 8C", False),  # 48
        ("speno", "AS 2H 3C 4D 5S", True),  # 15
        ("speno", "AS 2H 3C 4D 6S", False),  # 16
        ("speno", "KC QC JC TC 9C", True),  # 49 or more
        ("deadwood", "7C 8C 9C TC JC", True),  # one run of five
        ("deadwood", "KC QC JC TC 9D", False),  # 49 is nothing here
        ("deadwood", "7C 8C 9C TC TD", False),  # one card left over
        ("seven_card", "KC QC JC TC 9C KD 8D", False),  # no opening at all
    ],
)
def test_r7_what_opens(preset: str, hand: str, opens: bool) -> None:
    other = OTHER_19 if len(hand.split()) == 5 else "9H AH 3S 2S 4C 6H 8S"
    other = "6H 8H 3S 2S 5C" if preset == "speno" else other
    table = deal(preset, [hand, other])
    assert [result.ending for result in table.opened[:1]] == (["opening"] if opens else [])


def test_r7_a_later_hand_of_49_is_nothing() -> None:
    # A dealt hand is looked at once: drawing up to 49 does not win.
    table = deal("points", ["KC QC JC 9C 8C", OTHER_19], stock="TC")
    play(table, "draw", "discard 8C")
    assert table.seat == 1
    assert sum(table.rules.rank_values[card % 13] for card in table.hand(0)) == 49


def test_r7_the_plain_total_opens_and_the_count_of_r6_is_recorded() -> None:
    # KC KD KH TC 9C is 49 though a book lies in it; 19 is recorded where held spreads do not count.
    table = deal("rockets", ["KC KD KH TC 9C", OTHER_19], held_spreads_count=False)
    assert (table.opened[0].ending, table.opened[0].counts) == ("opening", [19, 19])


def test_r8_an_opening_tonk_is_paid_the_multiplier() -> None:
    hands = ["KC QC JC TC 9C", OTHER_19, "8C 8D 2H 3D 5S"]  # 49 against 19 and 26
    assert outcome(deal("points", hands).opened) == ("opening", [0, 38, 52], [0])
    assert outcome(deal("rockets", hands).opened) == ("opening", [4, -2, -2], [0])
    assert outcome(deal("rockets", hands, opening_multiplier=3).opened) == ("opening", [6, -3, -3], [0])


def test_r8_a_hand_settled_on_the_deal_has_no_decision() -> None:
    table = deal("points", ["KC QC JC TC 9C", OTHER_19])
    assert table.opened[0].moves == []
    assert table.hand_number >= 1


TWO_OPENINGS = ["KC QC JC TC 9C", "KD QD JD TD KH"]  # 49 and 50


def test_r9_cancel_deals_again_and_moves_the_deal_on() -> None:
    # A cancelled hand is no hand of the match: nobody scores and nobody has played it; only the start moves on.
    table = deal("points", TWO_OPENINGS)
    assert outcome(table.opened) == ("opening_clash", [0, 0], [])
    assert (table.hand_number, table.hands_played) == (len(table.opened), len(table.opened) - 1)
    assert table.opened[0].start == 0
    assert (table.opened[1].start if len(table.opened) > 1 else table.start) == 1


def test_r9_a_tie_is_a_played_hand() -> None:
    table = deal("points", TWO_OPENINGS, opening_clash="tie")
    assert outcome(table.opened) == ("opening_clash", [0, 0], [])
    assert (table.hand_number, table.hands_played) == (len(table.opened), len(table.opened))


def test_r9_nobody_wins_a_clash_between_three() -> None:
    table = deal("rockets", [*TWO_OPENINGS, COUNT_19.replace("9C", "9S")])
    assert outcome(table.opened) == ("opening_clash", [0, 0, 0], [])
