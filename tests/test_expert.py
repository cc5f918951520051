"""Checks the expert: legal everywhere, the same from observations as inside the loop, blind to hidden cards, and good."""

import numpy as np
import pytest
from stacking import deal, play
from wandering import positions, tables

from agents.evaluate import evaluate
from agents.specs import make_agent
from tonk_env.actions import DROP, TAKE
from tonk_env.batch import EXPERT, Batch, choose_from_observations
from tonk_env.redeal import redeal
from tonk_env.rules import make_rules
from tonk_env.table import Table

RULES = make_rules("points", match="hands")


def choice(table: Table) -> int:
    """What the expert does on turn, asked with the observation and the mask."""
    rows = table.observation(table.seat)[None], table.action_mask[None]
    return int(choose_from_observations(table.layout, EXPERT, 0, *rows)[0])


@pytest.mark.parametrize("name, players", tables())
def test_it_moves_legally_and_never_looks_at_hidden_cards(name: str, players: int) -> None:
    generator = np.random.default_rng(players)
    for at, table in enumerate(positions(name, players, seed=31 * players, moves=120)):
        if table.over:
            continue
        chosen = choice(table)
        assert table.action_mask[chosen]
        if at % 4 == 0:
            assert choice(redeal(table, table.seat, generator)) == chosen


@pytest.mark.parametrize("name, players", [("points", 2), ("rockets", 4), ("tunk", 3), ("strict", 3), ("wild_jokers", 2)])
def test_inside_the_loop_hidden_cards_do_not_matter_either(name: str, players: int) -> None:
    """The loop lets it see the record of the table: the choice there is the one made from the observation."""
    agent = make_agent("expert", make_rules(name), players)
    assert agent.compiled == (EXPERT, 0)
    inside, outside = (Batch(name, players, num_tables=24, seed=9, autoreset=False) for _ in range(2))
    inside.set_players(np.full((24, players), EXPERT, np.int8))
    inside.run()
    outside.reset()
    while (rows := np.flatnonzero(outside.seats >= 0)).size:
        outside.step(agent.act(outside.observations[rows], outside.action_masks[rows]), rows)
    np.testing.assert_array_equal(inside.returns, outside.returns)


@pytest.mark.parametrize("name, players", [("points", 2), ("points", 4), ("deadwood", 3), ("tonkroom", 2), ("rockets", 4),
                                           ("tunk", 2), ("seven_card", 3), ("difference", 2), ("waiting", 2), ("mini", 2)])
def test_it_beats_greedy(name: str, players: int) -> None:
    rules = make_rules(name, match="hands") if name in ("points", "tunk") else make_rules(name)
    result = evaluate(["expert", "greedy"], rules, players, deals=3000, seed=3)
    assert result.against(0, 1).low > 0


@pytest.mark.parametrize("count", [18, 22, 24, 28])
def test_it_beats_every_drop(count: int) -> None:
    assert evaluate(["expert", f"drop:{count}"], RULES, 2, deals=4000, seed=4).against(0, 1).low > 0


def test_it_is_good_in_matches_too() -> None:
    assert evaluate(["expert", "drop:24"], "points", 2, deals=600, seed=4).against(0, 1).low > 0


def test_it_drops_a_low_count_and_keeps_a_high_one() -> None:
    assert choice(deal("points", ["AS 2H 3C 4D 2S", "TC TD 6H 5C 3H"], match="hands")) == DROP
    assert choice(deal("points", ["KS QH 9C 8D JS", "TC TD 6H 5C 3H"], match="hands")) != DROP


def test_one_that_threw_low_cards_is_taken_to_hold_low_ones() -> None:
    """The same 23 points are dropped against somebody who throws kings, and not against somebody who throws threes."""
    dropped = []
    for thrown in ("KD", "3D"):
        table = deal("points", ["KS 2H 3C 9D 8S", f"{thrown} TC TD 6H 5C"], stock="AS QC", match="hands")
        play(table, "draw", "discard KS", "draw", f"discard {thrown}")
        dropped.append(choice(table) == DROP)
    assert dropped == [True, False]


def test_totals_decide_what_it_risks() -> None:
    """The same hand is dropped by one who is nearly out, and kept by one whose opponent is: that one has time."""
    chosen = []
    for hand, totals in [("7S 8H 6C 5D 2S", (0, 0)), ("7S 8H 6C 5D 2S", (90, 0)), ("7S 8H 6C 3D 2S", (0, 0)),
                         ("7S 8H 6C 3D 2S", (0, 90))]:
        table = deal("points", [hand, "TC TD TH 9C 8D"])
        table.record.totals[:2] = totals
        table._refresh()
        chosen.append(choice(table) == DROP)
    assert chosen == [False, True, True, False]


def test_it_takes_what_completes_a_spread() -> None:
    assert choice(deal("points", ["KS KH 9C 8D JS", "TC TD 6H 5C 3H"], upcard="KD", match="hands")) == TAKE


def test_it_throws_what_fits_least_among_equals() -> None:
    """Of a pair and a lone card of equal value, the lone card goes."""
    table = deal("points", ["KS KH JC 8D 2S", "TC TD 6H 5C 3H"], stock="AD", match="hands")
    play(table, "draw")
    assert table.words(choice(table)) == "discard JC"


def test_it_does_not_throw_beside_a_card_that_the_next_player_took() -> None:
    table = deal("points", ["9S JH QC 9D 2S", "JC JD 6H 5C 3H"], upcard="QD", stock="AH 8C 7C", match="hands")
    play(table, "draw", "discard JH", "take", "discard 6H", "draw")
    assert "J" not in table.words(choice(table))
