"""Gymnasium: a thousand tables at once with the library's own statistics, for a player that drops at a count of 24 or less."""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray

import tonk_env  # noqa: F401 (registers tonk_env/Tonk-v0)


def play(counts: NDArray[np.int64], masks: NDArray[np.int8], generator: np.random.Generator) -> NDArray[np.int64]:
    """Drop (action 0) where the count allows it; else a random legal move other than the drop."""
    scores = np.where(masks == 1, generator.random(masks.shape), -1.0)
    scores[:, 0] = np.where((masks[:, 0] == 1) & (counts <= 24), 2.0, -0.5)
    return scores.argmax(axis=1)


def main(num_envs: int = 1024, steps: int = 100, seed: int = 1) -> float:
    """Play, print the mean return of the episodes that ended, and return it."""
    envs = gymnasium.make_vec(
        "tonk_env/Tonk-v0", num_envs=num_envs, rules="points", match="hands", num_players=2, opponents="random"
    )
    count = envs.unwrapped.layout.block("count")  # my count, unary
    generator, returns = np.random.default_rng(seed), []
    observations, infos = envs.reset(seed=seed)
    for _ in range(steps):
        counts = count.of(observations["observation"]).sum(axis=-1, dtype=np.int64)
        actions = play(counts, infos["action_mask"], generator)
        observations, _, terminated, truncated, infos = envs.step(actions)
        ended = terminated | truncated  # this autoreset mode, SAME_STEP, already shows the next episode
        if ended.any():
            returns += infos["final_info"]["episode_return"][ended].tolist()
    print(f"{len(returns)} hands, {np.mean(returns):+.3f} reward units each against random moves")
    return float(np.mean(returns))


if __name__ == "__main__":
    main()
