"""Checks search: the deals it imagines agree with all it sees, equal seeds give equal moves, and it plays well."""

import time
from pathlib import Path

import numpy as np
import pytest
from stacking import deal, play
from wandering import RULE_SETS, positions, tables

from agents.base import Agent, AgentSpecError
from agents.config import load_config
from agents.evaluate import evaluate
from agents.search import BELIEFS, Search
from agents.specs import make_agent
from tonk_env.actions import DROP, TAKE
from tonk_env.cards import cards_of
from tonk_env.kernels.expert import NUM_SETTINGS
from tonk_env.kernels.look import observe_rows
from tonk_env.kernels.search import imagine_one
from tonk_env.redeal import redeal
from tonk_env.rule_record import rule_array
from tonk_env.rules import make_rules
from tonk_env.state import VIEW_DTYPE, new_tables
from tonk_env.table import Table

RULES = make_rules("points", match="hands")


class Imagined:
    """Tables as the search deals them from what the seat on turn sees."""

    def __init__(self, table: Table) -> None:
        self.table, self.seen = table, table.observation(table.seat)
        self.rules, self.layouts = rule_array(table.rules), table.layout.records
        self.scratch = (new_tables(3), np.zeros(2, VIEW_DTYPE), np.zeros((2, NUM_SETTINGS)), np.array(BELIEFS))

    def deal(self, number: int) -> np.ndarray:
        """One of them, as a record; the spreads on it are those of the real one."""
        assert imagine_one(self.rules, self.layouts, self.seen, np.uint64(7), number, *self.scratch)
        return self.scratch[0][1]

    def observation(self) -> np.ndarray:
        """What the seat on turn sees at the table dealt last."""
        row = np.zeros((1, len(self.seen)), np.int8)
        observe_rows(self.rules, self.layouts, self.scratch[0][1:2], np.zeros(1, np.int64), np.zeros(1, np.int8), row)
        return row[0]


@pytest.mark.parametrize("name, players", tables())
def test_the_tables_it_imagines_look_as_the_real_one(name: str, players: int) -> None:
    """Same observation, same legal moves, the whole deck once, and hands of the right size."""
    for at, table in enumerate(positions(name, players, seed=17 * players, moves=140)):
        if table.over or at % 3:
            continue
        imagined = Imagined(table)
        record = imagined.deal(at)
        np.testing.assert_array_equal(imagined.observation(), imagined.seen)
        np.testing.assert_array_equal(record["legal"], table.record.legal)
        real = table.record
        for k in range(players):
            seat = (table.seat + k) % players
            assert int(record["hand"][k]).bit_count() == int(real.hand[seat]).bit_count()
            assert int(real.known[seat]) & ~int(record["hand"][k]) == 0
        hands = [int(record["hand"][k]) for k in range(players)]
        stock = record["deck"][table.rules.deck_size - table.stock_size : table.rules.deck_size].tolist()
        held = sum(hand.bit_count() for hand in hands)
        assert len(set(stock)) == len(stock)
        assert sum(hands).bit_count() == held  # no card in two hands
        assert not set(stock) & {card for seat in range(players) for card in cards_of(hands[seat])}


def test_it_imagines_low_cards_with_those_who_throw_low_ones() -> None:
    means = []
    for thrown in ("KD", "5D"):
        table = deal("points", ["KS 2H 3C 9D QS", f"{thrown} TC TD 6H 5C"], stock="AS QC", match="hands")
        play(table, "draw", "discard KS", "draw", f"discard {thrown}")
        imagined = Imagined(table)
        counts = [sum(min(card % 13 + 1, 10) for card in cards_of(int(imagined.deal(i)["hand"][1]))) for i in range(300)]
        means.append(np.mean(counts))
    assert means[1] < means[0] - 6


def test_what_a_tunker_kept_is_little_enough() -> None:
    table = deal("tunk", ["3C 4C 5C 9C 9D 9H KS", "JC JD JH 6D 7D 8D TH"], stock="5S 3H")
    play(table, "draw", "tunk", "discard KS")
    imagined = Imagined(table)
    kept = {cards_of(int(imagined.deal(i)["hand"][1]))[0] % 13 for i in range(100)}
    assert kept <= set(range(5))
    assert len(kept) > 2


@pytest.mark.parametrize("name, players", tables())
def test_it_moves_legally_and_never_looks_at_hidden_cards(name: str, players: int) -> None:
    generator = np.random.default_rng(players)
    agent = Search(RULE_SETS[name], players, deals=4, seed=1)
    for at, table in enumerate(positions(name, players, seed=7 * players, moves=40)):
        if table.over or at % 2:
            continue
        chosen = move(agent, table)
        assert table.action_mask[chosen]
        assert move(agent, redeal(table, table.seat, generator)) == chosen


def move(agent: Agent, table: Table) -> int:
    """What an agent does on turn."""
    return int(agent.act(table.observation(table.seat)[None], table.action_mask[None])[0])


def test_equal_seeds_equal_moves_in_any_order() -> None:
    observations, masks = [], []
    for table in positions("points", 2, seed=3, moves=60):
        if not table.over:
            observations.append(table.observation(table.seat))
            masks.append(table.action_mask.copy())
    rows = np.array(observations), np.array(masks)
    agent, same, other = (make_agent("search:16", make_rules("points"), 2, seed) for seed in (4, 4, 5))
    chosen = agent.act(*rows)
    backwards = same.act(rows[0][::-1], rows[1][::-1])[::-1]
    np.testing.assert_array_equal(chosen, backwards)
    assert (chosen != other.act(*rows)).any()
    other.seed(4)
    np.testing.assert_array_equal(chosen, other.act(*rows))


def test_it_beats_the_expert() -> None:
    assert evaluate(["search:64", "expert"], RULES, 2, deals=700, seed=5).against(0, 1).low > 0


def test_it_drops_a_sure_winner_and_takes_what_ends_the_hand() -> None:
    agent = make_agent("search:32", RULES, 2)
    assert move(agent, deal("points", ["AS 2H 3C 4D 2S", "TC TD 6H 5C 3H"], match="hands")) == DROP
    table = deal("points", ["KS KH QC QD 7S", "TC TD 6H 5C 3H"], upcard="KD", match="hands")
    assert move(agent, table) == TAKE


def test_more_time_more_deals_and_about_as_long_as_said() -> None:
    table = deal("points", ["KS 9H 5C 4D 2S", "TC TD 6H 8C 3H"], match="hands")
    agent = make_agent("search:200ms", RULES, 2)
    move(agent, table)
    started = time.perf_counter()
    for _ in range(3):
        assert table.action_mask[move(agent, table)]
    assert 0.15 < time.perf_counter() - started < 6.0  # on a busy machine nobody knows


@pytest.mark.parametrize(
    "spec, words",
    [
        ("search", "search:256"),
        ("search:", "search:50ms"),
        ("search:0", "1 to 100000"),
        ("search:-3", "1 to 100000"),
        ("search:50s", "in milliseconds"),
        ("search:ms", "in milliseconds"),
        ("search:1000000", "1 to 100000"),
        ("serch:256", "did you mean 'search:256'"),
        ("search:9@greedy", "exported policies"),
    ],
)
def test_what_is_no_search_is_refused_in_one_sentence(spec: str, words: str) -> None:
    with pytest.raises(AgentSpecError) as caught:
        make_agent(spec, RULES, 2)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_specs_and_games() -> None:
    agent = make_agent("search:007", RULES, 2)
    assert isinstance(agent, Agent)
    assert (agent.name, agent.compiled) == ("search:7", None)
    assert make_agent("search:50ms", RULES, 2).name == "search:50ms"
    with pytest.raises(AgentSpecError, match="tables of 2, not of 3"):
        make_agent(agent, RULES, 3)
    with pytest.raises(AgentSpecError, match="other rules"):
        make_agent(agent, make_rules("rockets"), 2)


def test_it_cannot_be_a_baseline_of_training(root: Path) -> None:
    with pytest.raises(ValueError, match="does not play inside the compiled loop"):
        load_config(root / "configs" / "quick.yaml", ['opponents.baselines={"search:8": 0.1}'])
