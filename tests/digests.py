"""Prints digests of some games on single tables and in batches: the same compiled and interpreted."""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np
from wandering import RULE_SETS, choose, seats_of

from tonk_env.batch import DROP, EXTERNAL, GREEDY, RANDOM, Batch
from tonk_env.redeal import redeal
from tonk_env.table import Table

MOVES = 60


def of_table(name: str, players: int) -> str:
    """Digest of random moves: what every seat sees, what ended, and a deal of the unseen cards."""
    digest, generator = hashlib.sha256(), np.random.default_rng(4)
    table = Table(RULE_SETS[name], players, seed=21)
    table.reset()
    for move in range(MOVES):
        for seat in range(players):
            digest.update(table.observation(seat).tobytes() + table.mask(seat).tobytes())
        if move % 20 == 10:
            digest.update(str(redeal(table, 0, generator).deck).encode())
        if table.over:
            table.reset()
        else:
            digest.update(str([result.to_record() for result in table.step(choose(table, generator))]).encode())
            digest.update(table.rewards.tobytes())
    return digest.hexdigest()[:16]


def of_batch(name: str, players: int) -> str:
    """Digest of a batch with compiled players at all seats but one."""
    batch = Batch(RULE_SETS[name], players, 2, seed=5)
    batch.set_players(
        np.tile([EXTERNAL, GREEDY, DROP, RANDOM, GREEDY, DROP][:players], (2, 1)), np.full((2, players), 15)
    )
    batch.reset()
    digest = hashlib.sha256()
    for _ in range(MOVES // 3):
        digest.update(batch.observations.tobytes() + batch.action_masks.tobytes() + batch.seats.tobytes())
        batch.step(batch.choose_random())
        digest.update(batch.rewards.tobytes() + batch.endings.tobytes() + batch.hand_scores.tobytes())
    return digest.hexdigest()[:16]


def digests() -> dict[str, list[str]]:
    """Digests by rule set."""
    found = {}
    for name, rules in RULE_SETS.items():
        players = seats_of(rules)[len(seats_of(rules)) // 2]
        found[name] = [of_table(name, players), of_batch(name, players)]
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests()))
