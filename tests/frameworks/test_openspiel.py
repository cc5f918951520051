"""Tonk in OpenSpiel: its own checks, the same game as on a table, exact solutions of a tiny game, search in the full one."""

from __future__ import annotations

import pickle
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from absl.testing import absltest
from open_spiel.integration_tests import api_test
from open_spiel.python.algorithms import generate_playthrough, ismcts, mcts
from open_spiel.python.observation import make_observation
from open_spiel.python.tests import games_sim_test

import tonk_env.open_spiel_game
from tonk_env.rules import PRESETS, RuleSetError
from tonk_env.table import Table

ROOT = Path(__file__).parents[2]
PLAYTHROUGH = Path(__file__).parent / "playthroughs" / "python_tonk_micro.txt"
TINY = "python_tonk(rules=micro,options=ranks:A2;hand_size:1)"  # four cards: a tree that can be looked at as a whole
GAMES = [
    f"python_tonk(rules={preset},players={players})"
    for preset, rules in PRESETS.items()
    for players in sorted({rules.min_players, rules.max_players})
]


def wander(game: Any, seed: int) -> Any:
    """States of a random hand that seldom ends with a drop, chance nodes and the end included."""
    generator, state = np.random.default_rng(seed), game.new_initial_state()
    while not state.is_terminal():
        yield state
        actions = state.legal_actions()
        if state.is_player_node() and generator.random() < 0.9:
            actions = [action for action in actions if action] or actions  # 0 is the drop
        state.apply_action(int(generator.choice(actions)))
    yield state


# ----- OpenSpiel's own tests


def run_cases(*cases: type[absltest.TestCase]) -> int:
    """Run OpenSpiel's test classes; how many tests passed. Fails with the first trouble that they report."""
    suite = absltest.unittest.TestSuite(absltest.TestLoader().loadTestsFromTestCase(case) for case in cases)
    result = suite.run(absltest.unittest.TestResult())
    troubles = [text for _, text in result.failures + result.errors]
    assert not troubles, troubles[0]
    return int(result.testsRun)


@pytest.mark.parametrize("name", ["micro", "points", "rockets,players=3", "tunk", "wild_jokers"])
def test_open_spiels_api_test(name: str) -> None:
    game = pyspiel.load_game(f"python_tonk(rules={name})")
    case = type("Partial", (api_test.EnforceAPIOnPartialTreeBase,), {"game": game, "game_name": "python_tonk"})
    assert run_cases(case) >= 5


def test_open_spiels_api_test_on_a_whole_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(api_test.TOTAL_NUM_STATES, "python_tonk", (185, 504, 696))
    monkeypatch.setitem(api_test.PERFECT_RECALL_NUM_STATES, "python_tonk", 408)
    case = type("Whole", (api_test.EnforceAPIOnFullTreeBase,), {"game": pyspiel.load_game(TINY), "game_name": "python_tonk"})
    assert run_cases(case) >= 7


@pytest.mark.parametrize("name", GAMES)
def test_open_spiels_simulations(name: str) -> None:
    game = pyspiel.load_game(name)
    games_sim_test.GamesSimTest().sim_game(game)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


def test_the_playthrough_is_the_recorded_one() -> None:
    recorded = PLAYTHROUGH.read_text(encoding="utf-8")
    actions = [int(line.split()[1]) for line in recorded.splitlines() if line.startswith("action: ")]
    assert generate_playthrough.playthrough("python_tonk(rules=micro)", actions) == recorded


# ----- the same game


@pytest.mark.parametrize("name", GAMES)
def test_it_is_the_game_that_a_table_plays(name: str) -> None:
    game = pyspiel.load_game(name)
    played = 0
    for seed in range(6):
        states = [state.clone() for state in wander(game, seed)]
        hand = states[-1].hand
        if len(hand.events) == hand.to_deal:
            continue  # settled on the deal, which a table deals again
        table = Table(game.rules, game.seats)
        table.reset(deck=hand.cards + hand.unseen())
        for state, action in zip(states, states[-1].history(), strict=False):
            if state.is_chance_node():
                continue
            assert state.current_player() == table.seat
            assert state.legal_actions() == table.legal_actions().tolist()
            assert [state.action_to_string(a) for a in state.legal_actions()] == [table.words(a) for a in state.legal_actions()]
            for seat in range(game.seats):
                assert (state.hand.observation(seat) == table.observation(seat)).all()
            ended = table.step(action)
        if ended[-1].ending != "void":  # after a void hand a table deals again
            assert states[-1].returns() == pytest.approx(table.rewards.tolist())
        played += 1
    assert played > 2


def test_a_hand_settled_on_the_deal_pays() -> None:
    names = "KS 9C KH TD KC 5H KD 8S TS QC QS".split()
    deck = Table("points").check_deck([*names, *(r + s for s in "CDHS" for r in "A23456789TJQK" if r + s not in names)])
    state = pyspiel.load_game("python_tonk(rules=points)").new_initial_state()
    for card in deck[:11]:
        state.apply_action(card)
    assert state.is_terminal()
    assert state.returns() == pytest.approx([84 / 20, -84 / 20])


def test_tensors_and_strings_hide_what_is_hidden() -> None:
    game = pyspiel.load_game("python_tonk(rules=rockets,players=3)")
    kinds = [pyspiel.IIGObservationType(perfect_recall=recall) for recall in (False, True)]
    observers = [make_observation(game, kind) for kind in kinds]
    moved = 0
    for at, state in enumerate(state.clone() for seed in range(3) for state in wander(game, seed)):
        if state.is_chance_node() or state.is_terminal() or at % 4:
            continue
        for seat in range(3):
            other = state.resample_from_infostate(seat, np.random.default_rng(at).random)
            for observer in observers:
                assert observer.string_from(state, seat) == observer.string_from(other, seat)
                observer.set_from(state, seat)
                before = observer.tensor.copy()
                observer.set_from(other, seat)
                assert (before == observer.tensor).all()
            moved += str(other) != str(state)
    assert moved > 20


@pytest.mark.parametrize("name", GAMES)
def test_states_dealt_again_look_the_same_and_play_on(name: str) -> None:
    game = pyspiel.load_game(name)
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    for at, state in enumerate(state.clone() for state in wander(game, 7)):
        if state.is_chance_node() or state.is_terminal() or at % 5:
            continue
        other = state.resample_from_infostate(state.current_player(), sampler)
        assert other.information_state_string() == state.information_state_string()
        assert other.information_state_tensor() == state.information_state_tensor()
        assert other.legal_actions() == state.legal_actions()
        while not other.is_terminal():
            other.apply_action(int(np.random.default_rng(at).choice(other.legal_actions())))
        assert sum(other.returns()) == pytest.approx(0)


def test_copies_and_pickles_are_independent() -> None:
    for at, state in enumerate(wander(pyspiel.load_game("python_tonk(rules=tunk,players=3)"), 3)):
        if at % 6:
            continue
        for twin in (state.clone(), pickle.loads(pickle.dumps(state))):
            assert (str(twin), twin.legal_actions()) == (str(state), state.legal_actions())
            before = str(state)
            if not twin.is_terminal():
                twin.apply_action(twin.legal_actions()[0])
            assert str(state) == before


def test_wrong_parameters_are_refused() -> None:
    make = tonk_env.open_spiel_game.TonkGame
    for params, match in (
        ({"rules": "rokets"}, "no preset"),
        ({"players": 9}, "refused"),
        ({"options": "hand_size=3"}, "name:value"),
        ({"options": "hand_sise:3"}, "hand_size"),
    ):
        with pytest.raises(RuleSetError, match=match):
            make(params)
    assert make({"rules": "rockets", "options": "opening_exact:38+39;hand_size:4"}).rules.opening_exact == (38, 39)
    assert make({"rules": "points", "options": "drop:never;upcard:false"}).rules.drop == "never"


# ----- solving and searching


@pytest.fixture(scope="module")
def micro() -> Any:
    """The micro game with its whole tree in C++."""
    return pyspiel.load_game("cached_tree(game=python_tonk(rules=micro))")


def test_the_micro_tree_is_as_large_as_the_page_says(micro: Any) -> None:
    kinds, waiting = Counter(), [micro.new_initial_state()]
    while waiting:
        state = waiting.pop()
        kinds["end" if state.is_terminal() else "chance" if state.is_chance_node() else "decision"] += 1
        waiting += [state.child(action) for action in state.legal_actions()]
    assert kinds == {"chance": 9877, "decision": 28080, "end": 58752}
    text = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    points = pyspiel.load_game("python_tonk(rules=points,players=2)")
    observer = make_observation(points, pyspiel.IIGObservationType(perfect_recall=True))
    assert all(f"{number:,}" in text for number in (28080, 58752, observer.dict["history"].size))


@pytest.mark.parametrize("solver, found", [("CFRSolver", 0.01109), ("CFRPlusSolver", 0.00031)])
def test_cfr_solves_the_micro_game(micro: Any, solver: str, found: float) -> None:
    assert pyspiel.nash_conv(micro, pyspiel.UniformRandomPolicy(micro), False) == pytest.approx(0.96872, abs=1e-4)
    learner = getattr(pyspiel, solver)(micro)
    for _ in range(100):
        learner.evaluate_and_update_policy()
    assert pyspiel.nash_conv(micro, learner.average_policy(), False) == pytest.approx(found, abs=3e-5)


def test_search_plays_the_full_game_from_what_it_may_know() -> None:
    game, random_state = pyspiel.load_game("python_tonk(rules=points)"), np.random.RandomState(0)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, random_state), 2.0, 100, random_state=random_state)
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, random_state.uniform))  # seeded
    returns, searched = 0.0, 0
    for hand in range(40):
        state = game.new_initial_state()
        while not state.is_terminal():
            action = int(random_state.choice(state.legal_actions()))
            if state.current_player() == hand % 2:
                action, searched = int(bot.step(state)), searched + 1
            assert action in state.legal_actions()
            state.apply_action(action)
        assert sum(state.returns()) == pytest.approx(0)
        returns += state.returns()[hand % 2]
    assert searched > 40
    assert returns / 40 > 0.5  # against random moves, 10 points a hand


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("openspiel_*.py")), ids=lambda path: path.stem)
def test_examples_run(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
