"""Stable-Baselines3 and sb3-contrib on the Gymnasium door: learning with and without masks, in processes, measured."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv, VecNormalize

from tonk_env.registration import GYMNASIUM_ID

ANYWHERE = f"tonk_env:{GYMNASIUM_ID}"  # so that a fresh process, too, imports what registers it
EXAMPLE = Path(__file__).parents[1] / "examples" / "sb3_maskable_ppo.py"
GAME: dict[str, Any] = {"rules": "points", "match": "hands", "num_players": 2, "opponents": "random"}
PLAIN: dict[str, Any] = {**GAME, "observation": "vector", "illegal": "lose"}  # for learners without masks


class Ledger(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds up what was paid and compares it with what the hands that ended say; refuses illegal moves."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.hands = 0

    def step(self, action: Any) -> Any:
        assert self.get_wrapper_attr("action_masks")()[action], "an illegal move reached the environment"
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            scores = np.array(info["hands"][-1]["scores"])
            seat = info["seat"]
            assert reward == pytest.approx((scores[1 - seat] - scores[seat]) / 20)
            self.hands += 1
        else:
            assert reward == 0
        return observation, reward, terminated, truncated, info


def make(num_envs: int = 4, seed: int = 0, **kwargs: Any) -> VecEnv:
    return make_vec_env(ANYWHERE, n_envs=num_envs, seed=seed, **kwargs)


def weights(model: Any) -> torch.Tensor:
    return torch.cat([part.detach().flatten().clone() for part in model.policy.parameters()])


@pytest.mark.parametrize("observation, policy", [("vector", "MlpPolicy"), ("dict", "MultiInputPolicy")])
def test_maskable_ppo_learns_from_legal_moves_and_true_rewards(observation: str, policy: str) -> None:
    envs = make(8, env_kwargs={**GAME, "observation": observation}, wrapper_class=Ledger)
    assert is_masking_supported(envs)
    assert get_action_masks(envs).shape == (8, 483)
    model = MaskablePPO(policy, envs, n_steps=128, batch_size=256, n_epochs=4, gamma=1.0, learning_rate=1e-3, seed=0)
    measured = make(1, seed=500, env_kwargs={**GAME, "observation": observation}, wrapper_class=Ledger)
    before, start = evaluate_masked(model, measured, n_eval_episodes=150, deterministic=False)[0], weights(model)
    model.learn(6144)
    after = evaluate_masked(model, measured, n_eval_episodes=150, deterministic=False)[0]
    assert not torch.equal(start, weights(model))
    assert after > before + 0.3
    assert sum(envs.get_attr("hands")) > 500


@pytest.mark.parametrize(
    "algorithm, settings",
    [
        (PPO, {"n_steps": 128, "batch_size": 256, "learning_rate": 1e-3}),
        (A2C, {"learning_rate": 1e-3}),
        (DQN, {"learning_starts": 200, "train_freq": 4, "buffer_size": 5000, "exploration_fraction": 0.5}),
    ],
)
def test_learners_without_masks_lose_by_illegal_moves_and_learn(algorithm: Any, settings: dict[str, Any]) -> None:
    envs = make(4, env_kwargs=PLAIN)
    model = algorithm("MlpPolicy", envs, seed=0, **settings)
    start = weights(model)
    model.learn(3072)
    assert not torch.equal(start, weights(model))
    assert torch.isfinite(weights(model)).all()
    returns, lengths = evaluate_policy(model, make(1, seed=9, env_kwargs=PLAIN), 50, return_episode_rewards=True)
    assert len(returns) == 50
    assert min(lengths) >= 1
    assert -1.0 in returns  # the price of an illegal move


def test_ppo_without_masks_learns_to_move_legally() -> None:
    """The price of an illegal move must be worse than a lost hand, or it is the cheap way out."""
    game = {**PLAIN, "illegal_reward": -5.0}
    envs, measured = make(8, env_kwargs=game), make(1, seed=9, env_kwargs=game)
    model = PPO(
        "MlpPolicy", envs, n_steps=64, batch_size=256, n_epochs=8, learning_rate=2e-3, ent_coef=0.01, seed=0
    )

    def illegal() -> float:
        returns = evaluate_policy(model, measured, 200, deterministic=False, return_episode_rewards=True)[0]
        return float(np.mean(np.array(returns) == -5))

    assert illegal() > 0.8  # nearly every hand of an untrained policy
    model.learn(8192)
    assert illegal() < 0.2


def test_tables_in_processes_of_their_own() -> None:
    envs = make(2, env_kwargs={**GAME, "observation": "vector", "illegal": "raise"}, vec_env_cls=SubprocVecEnv)
    try:
        assert is_masking_supported(envs)
        model = MaskablePPO("MlpPolicy", envs, n_steps=64, batch_size=64, n_epochs=1, seed=0)
        model.learn(256)
        assert model.num_timesteps == 256
        assert get_action_masks(envs).any(axis=1).all()
    finally:
        envs.close()


def test_normalising_leaves_the_mask_alone() -> None:
    envs = VecNormalize(make(4, env_kwargs=GAME), norm_obs_keys=["observation"])
    model = MaskablePPO("MultiInputPolicy", envs, n_steps=64, batch_size=64, n_epochs=1, seed=0)
    model.learn(512)
    observations = envs.reset()
    masks = get_action_masks(envs)
    for _ in range(20):
        assert np.array_equal(observations["action_mask"], masks)
        assert np.array_equal(envs.get_original_obs()["action_mask"], masks)
        assert not np.array_equal(observations["observation"], envs.get_original_obs()["observation"])
        actions, _ = model.predict(observations, action_masks=masks)
        assert masks[np.arange(4), actions].all()
        observations, *_ = envs.step(actions)
        masks = get_action_masks(envs)


def test_callbacks_measure_with_and_without_masks(tmp_path: Path) -> None:
    masked = MaskablePPO("MlpPolicy", make(4, env_kwargs=PLAIN), n_steps=64, batch_size=64, n_epochs=1, seed=0)
    watch = MaskableEvalCallback(
        make(1, env_kwargs={**PLAIN, "illegal": "raise"}), eval_freq=64, n_eval_episodes=10, log_path=str(tmp_path), verbose=0
    )
    masked.learn(512, callback=watch)
    found = np.load(tmp_path / "evaluations.npz")
    assert found["results"].shape == (2, 10)
    assert np.isfinite(watch.best_mean_reward)
    plain = PPO("MlpPolicy", make(4, env_kwargs=PLAIN), n_steps=64, batch_size=64, n_epochs=1, seed=0)
    look = EvalCallback(make(1, env_kwargs=PLAIN), eval_freq=64, n_eval_episodes=10, verbose=0)
    plain.learn(512, callback=look)
    assert np.isfinite(look.best_mean_reward)


def test_measuring_draws_only_legal_moves() -> None:
    model = MaskablePPO("MlpPolicy", make(1, env_kwargs=PLAIN), n_steps=64, batch_size=64, seed=0)
    strict = make(1, env_kwargs={**PLAIN, "illegal": "raise"})
    assert np.isfinite(evaluate_masked(model, strict, n_eval_episodes=20)[0])
    with pytest.raises(ValueError, match="not legal"):
        evaluate_masked(model, strict, n_eval_episodes=20, use_masking=False)


def test_the_example_learns(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = runpy.run_path(str(EXAMPLE))["main"](6144)
    assert after > before + 0.5
    assert "reward a hand" in capsys.readouterr().out


def test_the_example_tells_its_argument() -> None:
    def run(argument: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(EXAMPLE), argument], capture_output=True, text=True, check=False)

    told, refused = run("--help"), run("many")
    assert (told.returncode, refused.returncode) == (0, 2)
    assert "decisions to train for (default: 16384)" in told.stdout
    assert "invalid int value: 'many'" in refused.stderr
    assert "Traceback" not in refused.stderr
