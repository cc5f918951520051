"""The wrapper that keeps every seat to the end: who is selected, what is paid, what infos hold, how an episode ends."""

import numpy as np
import pytest

from tonk_env import tonk_v0
from tonk_env.table import Table
from tonk_env.turns import TurnsWrapper


def play(env: TurnsWrapper, seed: int, check: bool = True) -> dict[str, float]:
    """A whole episode of random moves: what each seat was paid, by the dictionaries of every step."""
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    while not all(env.terminations[agent] or env.truncations[agent] for agent in env.possible_agents):
        agent = env.agent_selection
        observation, _, terminated, truncated, info = env.last()
        assert not terminated
        assert not truncated
        assert set(env.rewards) == set(env.terminations) == set(env.truncations) == set(env.infos) == set(env.possible_agents)
        assert env.agents == env.possible_agents
        assert set(info) == {"action_mask"}
        assert np.array_equal(info["action_mask"], observation["action_mask"])
        env.step(int(generator.choice(np.flatnonzero(observation["action_mask"]))))
        for one, reward in env.rewards.items():
            paid[one] += reward
        assert agent in env.possible_agents
    return paid


MATCH, HAND = {"rules": "points", "num_players": 4, "elimination": 30}, {"rules": "rockets", "num_players": 3}


@pytest.mark.parametrize("options", [MATCH, HAND])
def test_every_seat_is_paid_what_the_plain_environment_pays(options: dict[str, object]) -> None:
    env, plain = TurnsWrapper(tonk_v0.env(**options)), tonk_v0.env(**options)
    for seed in (*range(8), 495):  # at seed 495 of the match two seats go out on the deal
        paid = play(env, seed)
        generator = np.random.default_rng(seed)
        plain.reset(seed=seed)
        wanted = dict.fromkeys(plain.possible_agents, 0.0)
        for agent in plain.agent_iter():
            observation, reward, terminated, truncated, _ = plain.last()
            wanted[agent] += reward
            done = terminated or truncated
            plain.step(None if done else int(generator.choice(np.flatnonzero(observation["action_mask"]))))
        assert paid == pytest.approx(wanted)


def test_a_seat_that_is_out_is_not_selected_and_the_match_goes_on() -> None:
    env = TurnsWrapper(tonk_v0.raw_env("points", num_players=4, elimination=30))
    generator = np.random.default_rng(0)
    went_on = 0
    for seed in range(10):
        env.reset(seed=seed)
        while not all(env.terminations.values()):
            assert not env.terminations[env.agent_selection]
            went_on += any(env.terminations.values())
            env.step(int(generator.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))))
    assert went_on > 50


def test_seats_put_out_on_the_deal_are_paid_with_the_first_step() -> None:
    env = TurnsWrapper(tonk_v0.raw_env(**MATCH))
    env.reset(seed=495)
    out = {agent for agent, ended in env.terminations.items() if ended}
    assert len(out) == 2
    assert set(env.rewards.values()) == {0.0}
    assert play(env, 495) == pytest.approx(dict(zip(env.possible_agents, (1, -1, 1 / 3, -1 / 3), strict=True)))


def test_last_pays_each_reward_once_and_the_table_empties_at_the_end() -> None:
    env = TurnsWrapper(tonk_v0.env("points", num_players=3, match="hands"))
    generator = np.random.default_rng(1)
    env.reset(seed=2)
    earned = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        observation, reward, terminated, truncated, _ = env.last()
        earned[env.agent_selection] += reward
        done = terminated or truncated
        env.step(None if done else int(generator.choice(np.flatnonzero(observation["action_mask"]))))
    scores = env.unwrapped.table.last_hand.scores
    assert list(earned.values()) == pytest.approx([(sum(scores) - one) / 2 / 20 - one / 20 for one in scores])


def test_news_stay_out_of_the_infos() -> None:
    options = {"rules": "rockets", "num_players": 4, "hands": 3}

    def opened(seed: int) -> bool:
        table = Table(tonk_v0.raw_env(**options).rules, 4, seed=seed)
        table.reset()
        return bool(table.opened)

    seed = next(seed for seed in range(2000) if opened(seed))
    plain = tonk_v0.env(**options)
    plain.reset(seed=seed)
    assert "opening_hands" in plain.infos["player_0"]
    env = TurnsWrapper(tonk_v0.env(**options))
    env.reset(seed=seed)
    assert all(set(info) == {"action_mask"} for info in env.infos.values())


def test_an_illegal_move_ends_it_for_all() -> None:
    env = TurnsWrapper(tonk_v0.env("points", num_players=2))
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0]))
    assert all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}
