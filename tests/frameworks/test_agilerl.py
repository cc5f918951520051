"""AgileRL plays and learns on the Gymnasium doors, with the masks that it finds in the infos."""

import runpy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from agilerl.algorithms import DQN, PPO
from agilerl.rollouts.on_policy import collect_rollouts
from learned import Learned, against_random

import tonk_env  # noqa: F401 (registers the environments)

GAME = {"rules": "points", "match": "hands", "num_players": 2, "observation": "vector", "illegal": "raise"}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_rollouts_keep_masks_and_rewards() -> None:
    envs = gymnasium.make_vec("tonk_env/Tonk-v0", num_envs=8, opponents="greedy", **GAME)
    agent = PPO(envs.single_observation_space, envs.single_action_space, learn_step=512, num_envs=8)
    scores, _, _, _, info = collect_rollouts(agent, envs)
    buffer = agent.rollout_buffer.buffer
    masks, actions = torch.as_tensor(buffer["action_masks"]), torch.as_tensor(buffer["actions"]).long()
    assert masks.reshape(-1, 483).gather(1, actions.reshape(-1, 1)).all()
    paid, done = torch.as_tensor(buffer["rewards"]), torch.as_tensor(buffer["dones"]).bool()
    assert (paid[~done] == 0).all()
    assert float(paid.sum()) == pytest.approx(sum(scores), abs=1e-3)
    assert len(scores) == int(done.sum()) > 10
    assert info["action_mask"].shape == (8, 483)


def test_dqn_draws_only_legal_moves_too() -> None:
    env = gymnasium.make("tonk_env/Tonk-v0", opponents="random", **GAME)
    agent = DQN(env.observation_space, env.action_space)
    observation, info = env.reset(seed=1)
    for epsilon in np.linspace(1, 0, 200):
        action = agent.get_action(observation, epsilon=float(epsilon), action_mask=info["action_mask"])
        observation, _, ended, cut, info = env.step(np.asarray(action).item())  # an illegal one would raise
        if ended or cut:
            observation, info = env.reset()


def test_the_example_learns(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002 (AgileRL draws from it)
    best = runpy.run_path(str(root / "examples" / "agilerl_ppo.py"))["main"]()
    assert capsys.readouterr().out.count("in its test") == 6
    fresh = PPO(best.observation_space, best.action_space)
    before, after = against_random(Player(fresh)), against_random(Player(best))
    assert after.low > before.mean


class Player(Learned):
    """An agent of AgileRL, asked as its users ask it."""

    def __init__(self, agent: PPO) -> None:
        super().__init__(lambda seen: seen)
        self.agent = agent

    def act(self, observations: Any, masks: Any, rows: Any = None) -> Any:
        return np.asarray(self.agent.get_action(observations, action_mask=masks)[0])
