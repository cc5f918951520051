"""The PettingZoo door: PettingZoo's own checks, turns, rewards, ends, seeds, copies and what it tells whom."""

import copy
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel

from tonk_env import tonk_v0
from tonk_env.actions import num_actions
from tonk_env.rules import PRESETS, make_rules
from tonk_env.table import IllegalMoveError, Table

with warnings.catch_warnings():  # PettingZoo's checks make one of its own games in a way that it now warns of
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
    from pettingzoo.test import test_save_obs as save_observation_test

# PettingZoo says these of every environment with dictionary observations that is not on its own list.
NO_ARRAY = pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
NO_BOX = pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
TABLES = [
    (preset, players)
    for preset, rules in PRESETS.items()
    for players in range(rules.min_players, rules.max_players + 1)
]


def deck(*hands: str, upcard: str = "", stock: str = "", rules: str = "points", start: int = 0) -> str:
    """A whole deck that deals these hands (by seat), this upcard and begins the stock with these cards."""
    held = [hand.split() for hand in hands]
    order = held[start:] + held[:start]
    top = [card for cards in zip(*order, strict=True) for card in cards] + upcard.split() + stock.split()
    every = [card_name for card_name in full_deck(rules) if card_name not in top]
    return " ".join(top + every)


def full_deck(rules: str) -> list[str]:
    chosen = make_rules(rules)
    names = [rank + suit for suit in "CDHS"[: chosen.suits] for rank in chosen.ranks]
    return names + ["X1", "X2"][: chosen.jokers]


def choose(env: Any, generator: np.random.Generator) -> int | None:
    observation, _, terminated, truncated, _ = env.last()
    if terminated or truncated:
        return None
    return int(generator.choice(np.flatnonzero(observation["action_mask"])))


def play(env: Any, seed: int = 0) -> dict[str, float]:
    """Play an episode to its end with random moves; the rewards each seat got from last(), added up."""
    generator = np.random.default_rng(seed)
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        returns[agent] += env.last()[1]
        env.step(choose(env, generator))
    return returns


def transcript(env: Any, seed: int) -> list[Any]:
    """Everything every seat could see in an episode of random moves."""
    generator = np.random.default_rng(seed)
    lines: list[Any] = []
    for agent in env.agent_iter():
        seen = {other: {k: v.tobytes() for k, v in env.observe(other).items()} for other in env.possible_agents}
        news = {other: {k: v for k, v in info.items() if k != "action_mask"} for other, info in env.infos.items()}
        lines.append((agent, seen, env.last()[1:4], dict(env.rewards), news))
        env.step(choose(env, generator))
    return lines


@NO_ARRAY
@NO_BOX
@pytest.mark.parametrize("preset, players", TABLES)
def test_pettingzoo_api(preset: str, players: int) -> None:
    api_test(tonk_v0.env(preset, players), num_cycles=30)


@pytest.mark.parametrize("preset, players", TABLES)
def test_pettingzoo_seed(preset: str, players: int) -> None:
    seed_test(lambda: tonk_v0.env(preset, players), num_cycles=30)


def test_pettingzoo_render(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    render_test(lambda render_mode: tonk_v0.env("rockets", 3, render_mode=render_mode))


def test_pettingzoo_benchmark_runs_for_its_five_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(tonk_v0.env("points", 3))
    assert "turns per second" in capsys.readouterr().out


def test_pettingzoo_saves_no_observations_that_are_no_pictures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # where it would save them
    save_observation_test(tonk_v0.env("points", 3))
    assert "did not save the observations" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("preset, players", TABLES)
def test_observations_and_masks_fit_their_spaces_to_the_end(preset: str, players: int) -> None:
    env = tonk_v0.env(preset, players, match="hands")
    generator = np.random.default_rng(1)
    for episode in range(3):
        env.reset(seed=episode)
        for agent in env.agent_iter():
            for other in env.possible_agents:
                seen = env.observe(other)
                assert env.observation_space(other).contains(seen)
                assert list(seen) == ["action_mask", "observation"]
                assert seen["observation"].any()
                assert (seen["action_mask"].any()) == (other == agent)
                if other in env.agents:
                    assert np.array_equal(seen["action_mask"], env.infos[other]["action_mask"])
            env.step(choose(env, generator))


def test_mask_is_what_the_environment_accepts() -> None:
    env = tonk_v0.env("rockets", 3)
    for seed in range(5):
        env.reset(seed=seed)
        for _ in range(3):
            mask = env.observe(env.agent_selection)["action_mask"]
            for action in range(num_actions(env.unwrapped.rules)):
                if mask[action]:
                    copy.deepcopy(env.unwrapped).step(action)
                else:
                    with pytest.raises(IllegalMoveError):
                        env.unwrapped.step(action)
            env.step(int(np.flatnonzero(mask)[-1]))


@pytest.mark.parametrize("preset, players", [("points", 3), ("deadwood", 4), ("speno", 6), ("difference", 2)])
def test_every_reward_of_a_hand_arrives_once(preset: str, players: int) -> None:
    env = tonk_v0.env(preset, players, match="hands")
    rules = env.unwrapped.rules
    for episode in range(60):
        env.reset(seed=episode)
        returns = play(env, episode)
        result = env.unwrapped.table.last_hand.to_record()
        if rules.settlement == "points":
            scores = np.array(result["scores"])
            expected = (scores.sum() - scores) / (players - 1) - scores
        else:
            expected = np.array(result["payoffs"])
        assert np.allclose(list(returns.values()), expected / rules.scale)
        assert np.isclose(sum(returns.values()), 0)


@pytest.mark.parametrize("reward", ["place", "hands"])
def test_eliminated_seat_leaves_and_is_paid_once(reward: str) -> None:
    env = tonk_v0.env("points", 4, elimination=50, match_reward=reward)
    early = 0
    for episode in range(10):
        env.reset(seed=episode)
        generator = np.random.default_rng(episode)
        returns = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            _, paid, terminated, truncated, _ = env.last()
            returns[agent] += paid
            assert not truncated
            table = env.unwrapped.table
            assert terminated == (table.over or not table.live[env.possible_agents.index(agent)])
            early += terminated and not table.over
            env.step(choose(env, generator))
        if reward == "place":
            places = env.unwrapped.table.places()
            means = np.array([place + (places.count(place) - 1) / 2 for place in places])  # sharers: the mean of their places
            assert np.allclose(list(returns.values()), 1 - 2 * (means - 1) / 3)
        assert np.isclose(sum(returns.values()), 0)
    assert early > 5


def test_the_same_seat_stays_selected_through_its_turn() -> None:
    cards = deck("7H 8H 9H KS 4C", "2C 3D 5C 9S JD", upcard="QD", stock="6H", rules="deadwood")
    env = tonk_v0.env("deadwood", 2)
    env.reset(options={"deck": cards})
    table = env.unwrapped.table
    for words in ("draw", "spread 7H 8H 9H", "hit 6H low"):
        env.step(table.parse(words))
        assert env.agent_selection == "player_0"
        assert set(env.rewards.values()) == {0.0}
    env.step(table.parse("discard KS"))
    assert env.agent_selection == "player_1"
    assert env.unwrapped.layout.decode(env.observe("player_0")["observation"]).as_dict()["count"] == 4


def test_illegal_move_costs_only_the_offender_and_leaves_no_trace() -> None:
    env = tonk_v0.env("rockets", 3, illegal_reward=-7.0)
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0]))
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        layers = [env, env.env, env.env.env, env.unwrapped]
        assert {layer.agent_selection for layer in layers} == {agent}
        returns[agent] += env.last()[1]
        env.step(None)
    assert returns == {**dict.fromkeys(env.possible_agents, 0.0), offender: -7.0}
    fresh = tonk_v0.env("rockets", 3)
    env.reset(seed=5)
    fresh.reset(seed=5)
    assert transcript(env, 5) == transcript(fresh, 5)


@pytest.mark.parametrize("make", [tonk_v0.env, tonk_v0.raw_env])
def test_wrong_actions_get_one_clear_error(make: Any) -> None:
    env = make("points", 2, match="hands")
    env.reset(seed=0)
    for action in (-1, 483, 1.5, "draw"):
        with pytest.raises(tonk_v0.ActionError, match="whole number from 0 to 482"):
            env.step(action)
    with pytest.raises(tonk_v0.ActionError, match="player_0 is still in the game"):
        env.step(None)
    generator = np.random.default_rng(0)
    while not any(env.terminations.values()):
        env.step(choose(env, generator))
    with pytest.raises(tonk_v0.ActionError, match="player_0 has finished"):
        env.step(1)


def test_before_reset_static_facts_work_and_play_does_not() -> None:
    for env in (tonk_v0.env("points", 3), tonk_v0.raw_env("points", 3)):
        assert env.possible_agents == ["player_0", "player_1", "player_2"]
        assert env.max_num_agents == 3
        assert env.metadata["is_parallelizable"] is False
        assert env.render_mode is None
        assert env.action_space("player_1").n == 483
        assert env.observation_space("player_1")["observation"].shape == (env.unwrapped.layout.size,)
        copy.deepcopy(env).close()
        pickle.loads(pickle.dumps(env)).close()
        with pytest.raises((AssertionError, AttributeError), match="reset"):
            env.step(1)
        with pytest.raises((AssertionError, AttributeError), match="reset"):
            env.last()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copy_in_the_middle_of_a_game(duplicate: Any) -> None:
    env = tonk_v0.env("rockets", 3, drop="never")
    env.reset(seed=4)
    generator = np.random.default_rng(0)
    for _ in range(7):
        env.step(choose(env, generator))
    twin = duplicate(env)
    moves = []
    for _ in range(4):
        for agent in env.agents:
            mine, its = env.observe(agent), twin.observe(agent)
            assert all(np.array_equal(mine[key], its[key]) for key in mine)
        assert env.agent_selection == twin.agent_selection
        moves.append(choose(env, generator))
        env.step(moves[-1])
        twin.step(moves[-1])
    before = {agent: twin.observe(agent)["observation"] for agent in twin.agents}
    env.step(choose(env, generator))
    assert all(np.array_equal(before[agent], twin.observe(agent)["observation"]) for agent in twin.agents)


def test_seed_deals_the_hands_of_the_table() -> None:
    env, table = tonk_v0.env("rockets", 3), Table("rockets", 3, seed=11)
    env.reset(seed=11)
    table.reset()
    first = env.unwrapped.table.deck
    assert first == table.deck
    env.reset()
    table.reset()
    assert env.unwrapped.table.deck == table.deck != first
    env.reset(seed=11)
    assert env.unwrapped.table.deck == first


def test_seed_none_is_no_seed() -> None:
    one, other = tonk_v0.env("rockets", 2), tonk_v0.env("rockets", 2)
    one.reset(seed=3)
    other.reset(seed=3)
    decks = [one.unwrapped.table.deck]
    for _ in range(10):
        one.reset()
        other.reset(seed=None)
        assert one.unwrapped.table.deck == other.unwrapped.table.deck
        decks.append(one.unwrapped.table.deck)
    assert len({tuple(cards) for cards in decks}) == len(decks)


def test_unseeded_environments_differ() -> None:
    envs = [tonk_v0.env("rockets", 2) for _ in range(3)]
    for env in envs:
        env.reset()
    assert len({tuple(env.unwrapped.table.deck) for env in envs}) == 3


def test_options_survive_a_seeded_reset() -> None:
    env = tonk_v0.env("points", 2, match="hands", hands=2, opening_multiplier=5)
    for _ in range(2):
        env.reset(seed=5)
        assert (env.unwrapped.rules.opening_multiplier, env.unwrapped.rules.hands) == (5, 2)


def test_same_seed_same_game_whatever_the_program_draws() -> None:
    quiet, noisy = tonk_v0.env("points", 3), tonk_v0.env("points", 3)
    quiet.reset(seed=2)
    calm = transcript(quiet, 2)
    state = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002
    noisy.reset(seed=2)
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == state  # noqa: NPY002
    generator = np.random.default_rng(2)
    for line, _ in zip(calm, noisy.agent_iter(), strict=True):
        random.random()
        assert noisy.observe(noisy.agent_selection)["observation"].tobytes() == line[1][line[0]]["observation"]
        noisy.step(choose(noisy, generator))


def test_stacked_deck_and_its_refusal() -> None:
    env = tonk_v0.env("points", 2, match="hands")
    cards = deck("AS 2H 3C 2D 4S", "9C TD 5H 8S KC", upcard="QS", stock="7D")
    env.reset(options={"deck": cards})
    env.step(0)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.infos["player_1"]["hands"][0]["scores"] == [0, 42]
    with pytest.raises(ValueError, match="AS"):
        env.reset(options={"deck": cards.replace("2H", "AS")})


def test_hands_are_told_to_each_seat_until_it_moves_and_hide_the_cards() -> None:
    env = tonk_v0.env("points", 2, match="hands", hands=3)
    env.reset(seed=0, options={"deck": deck("AS 2H 3C 2D 4S", "9C TD 5H 8S KC", upcard="QS", stock="7D")})
    env.step(0)
    told = {agent: env.infos[agent]["hands"][0] for agent in env.agents}
    assert told["player_0"] == told["player_1"]
    assert told["player_0"]["ending"] == "drop"
    assert not {"deck", "moves"} & set(told["player_0"])
    assert env.agent_selection == "player_1"
    env.step(1)
    assert "hands" not in env.infos["player_1"]
    assert env.infos["player_0"]["hands"] == [told["player_0"]]


def test_hands_settled_on_the_deal_are_reported_after_reset() -> None:
    env = tonk_v0.env("points", 2)
    env.reset(seed=0, options={"deck": deck("KS KH KC KD TS", "9C TD 5H 8S QC", upcard="QS")})
    opened = env.infos["player_1"]["opening_hands"]
    assert [(hand["ending"], hand["winners"]) for hand in opened] == [("opening", [0])]
    assert opened[0]["scores"] == [0, 84]


def test_turn_limit_of_a_single_hand_truncates() -> None:
    env = tonk_v0.env("points", 2, match="hands", max_turns=2, drop="never")
    env.reset(seed=3)
    generator = np.random.default_rng(0)
    while not any(env.truncations.values()):
        assert not any(env.terminations.values())
        env.step(choose(env, generator))
    assert all(env.truncations.values())
    assert not any(env.terminations.values())


def test_only_the_turn_based_conversion_is_offered() -> None:
    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(tonk_v0.env("points", 3))
    for episode in range(10):
        env = tonk_v0.env("points", 3, elimination=50)
        env.reset(seed=episode)
        expected = play(env, episode)
        parallel = turn_based_aec_to_parallel(tonk_v0.env("points", 3, elimination=50))
        generator = np.random.default_rng(episode)
        observations, _ = parallel.reset(seed=episode)
        returns = dict.fromkeys(parallel.possible_agents, 0.0)
        while parallel.agents:
            active = parallel.aec_env.agent_selection
            legal = np.flatnonzero(observations[active]["action_mask"])
            actions = dict.fromkeys(parallel.agents, 0) | {active: int(generator.choice(legal))}
            observations, rewards, *_ = parallel.step(actions)
            for agent, reward in rewards.items():
                returns[agent] += reward
            if parallel.agents:
                observations = {agent: parallel.aec_env.observe(agent) for agent in parallel.agents}
        assert returns == pytest.approx(expected)


def test_what_is_observed_belongs_to_the_observer() -> None:
    env = tonk_v0.env("points", 2)
    env.reset(seed=0)
    first = env.last()[0]
    kept = {key: value.copy() for key, value in first.items()}
    env.infos["player_0"]["action_mask"][:] = 0
    env.step(1)
    assert all(np.array_equal(first[key], kept[key]) for key in kept)
    with pytest.raises(ValueError, match="player_9"):
        env.observe("player_9")


def test_pettingzoo_registry() -> None:
    pettingzoo = pytest.importorskip("pettingzoo", minversion="1.27")
    from tonk_env.registration import register_envs

    register_envs()
    register_envs()
    assert pettingzoo.make("aec", "tonk-v0", rules="rockets", num_players=5).max_num_agents == 5
