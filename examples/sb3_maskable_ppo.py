"""Stable-Baselines3: MaskablePPO of sb3-contrib on the Gymnasium environment, measured with masks while it learns."""

from __future__ import annotations

import argparse

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv

ENV_ID = "tonk_env:tonk_env/Tonk-v0"  # the module in front is imported wherever it is made, in other processes too
GAME = {
    "rules": "points",
    "match": "hands",
    "num_players": 2,
    "opponents": "greedy",
    "observation": "vector",  # the mask is asked for by action_masks(), so it need not be in the observation too
    "illegal": "raise",  # with masks no illegal move is ever sent: say so if one is
}


def make(num_envs: int, seed: int) -> VecEnv:
    """Tables in this process; for slow opponents give vec_env_cls=SubprocVecEnv."""
    return make_vec_env(ENV_ID, n_envs=num_envs, seed=seed, env_kwargs=GAME)


def main(steps: int = 16_384) -> tuple[float, float]:
    """Train for some steps; print and return what a hand paid before and after."""
    model = MaskablePPO(
        "MlpPolicy",
        make(8, seed=0),
        n_steps=128,
        batch_size=256,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,  # a hand always ends
        ent_coef=0.03,
        seed=0,
    )
    measured = make(1, seed=1000)
    before, _ = evaluate_policy(model, measured, n_eval_episodes=200, deterministic=False)
    watch = MaskableEvalCallback(measured, eval_freq=1024, n_eval_episodes=50, deterministic=False, verbose=0)
    model.learn(steps, callback=watch)
    after, _ = evaluate_policy(model, measured, n_eval_episodes=200, deterministic=False)
    print(f"reward a hand against greedy: {before:+.2f} untrained, {after:+.2f} after {steps} decisions")
    return float(before), float(after)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="MaskablePPO against greedy, measured before and after.")
    parser.add_argument("steps", type=int, nargs="?", default=16_384, help="decisions to train for (default: %(default)s)")
    main(parser.parse_args().steps)
