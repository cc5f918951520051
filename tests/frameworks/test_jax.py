"""The batch from a JAX program: what came through io_callback is what the host plays, and a policy learns from it."""

from __future__ import annotations

import os
import runpy
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax

PATH = Path(__file__).parents[2] / "examples" / "jax_loop.py"


@pytest.fixture(scope="module")
def example() -> Any:
    """The example's names, without running it."""
    return SimpleNamespace(**runpy.run_path(str(PATH), run_name="jax_loop"))


def test_a_compiled_rollout_plays_what_the_host_plays(example: Any) -> None:
    inside, outside = example.make_batch(3), example.make_batch(3)
    start = (inside.observations.copy(), inside.action_masks.copy())
    weights = {
        "in": np.zeros((inside.observation_size, 4), np.float32),
        "bias": np.zeros(4, np.float32),
        "out": np.zeros((4, inside.num_actions), np.float32),
    }
    play = jax.jit(partial(example.rollout, inside))
    total, episodes = 0.0, 0
    for turn in range(3):
        start, kept = play(weights, start, jax.random.key(turn))
        kept = {name: np.asarray(array) for name, array in kept.items()}
        for step in range(example.STEPS):
            assert (kept["seen"][step] == outside.observations).all()
            assert (kept["masks"][step] == outside.action_masks).all()
            assert outside.action_masks[np.arange(example.TABLES), kept["actions"][step]].all()
            outside.step(kept["actions"][step].astype(np.int64))
            assert (kept["rewards"][step] == outside.rewards[:, 0]).all()
            assert np.allclose(outside.rewards.sum(axis=1), 0, atol=1e-6)
            assert (kept["over"][step] == outside.over).all()
            total, episodes = total + outside.rewards[:, 0].sum(), episodes + outside.over.sum()
    assert episodes > 1000
    assert abs(total / episodes) < 0.5  # random moves against random moves


def test_an_illegal_move_stops_the_program(example: Any) -> None:
    batch = example.make_batch(0)
    illegal = batch.action_masks.argmin(axis=1)
    with pytest.raises(ValueError, match="table 0"):
        example.host_step(batch, illegal)


def test_the_example_runs_and_learns(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    earned = example.main(iterations=40)
    assert np.mean(earned[-5:]) > np.mean(earned[:5]) + 0.6
    assert "against random moves" in capsys.readouterr().out
