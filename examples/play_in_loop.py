"""A training loop's skeleton on many tables at once: a policy for all seats, rewards kept until their seat moves again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tonk_env import Batch


def policy(observations: NDArray[np.int8], masks: NDArray[np.int8], generator: np.random.Generator) -> NDArray[np.int64]:
    """Stands for yours: scores for all actions, illegal ones out of the question, the best one wins."""
    scores = generator.random(masks.shape)
    return np.where(masks == 1, scores, -1.0).argmax(axis=1)


def main(num_tables: int = 256, steps: int = 200, seed: int = 2) -> None:
    """Play and report how many episodes ended and what each seat earned in them."""
    generator = np.random.default_rng(seed)
    batch = Batch("points", num_players=2, num_tables=num_tables, seed=seed)
    batch.reset()
    owed = np.zeros((num_tables, batch.num_players))  # earned since a seat's last move: it goes to that move
    tables = np.arange(num_tables)
    earned, episodes = np.zeros(batch.num_players), 0
    for _ in range(steps):
        seats = batch.seats.copy()  # on turn now; step() rewrites all outputs in place
        owed[tables, seats] = 0.0  # a learner would store (observation, action) here, and owed as the last one's reward
        batch.step(policy(batch.observations, batch.action_masks, generator))
        owed += batch.rewards
        earned += batch.rewards.sum(axis=0)
        episodes += int(batch.over.sum())
    print(f"{episodes} episodes ended; each seat earned {np.round(earned, 2).tolist()} in all")


if __name__ == "__main__":
    main()
