"""Tianshou plays and learns through PettingZooEnv and its multi-agent manager, in hands and in whole matches."""

import copy
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learned import against_random
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net

from tonk_env import tonk_v0
from tonk_env.turns import TurnsWrapper


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def table(*args: Any, **options: Any) -> PettingZooEnv:
    """A table that raises for an illegal move: the environment inside has no wrappers."""
    return PettingZooEnv(TurnsWrapper(tonk_v0.raw_env(*args, **options)))


def collect(make: Any, steps: int, num_envs: int = 2) -> tuple[Batch, list[Any]]:
    """Random legal play of all seats: what was collected, and the environments."""
    env = make()
    players = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in env.agents]
    manager = MultiAgentOffPolicyAlgorithm(algorithms=players, env=env)
    tables = [make() for _ in range(num_envs)]
    collector = Collector(manager, DummyVectorEnv([lambda one=one: one for one in tables]), VectorReplayBuffer(steps, num_envs))
    collector.reset()
    collector.collect(n_step=steps)
    return collector.buffer[collector.buffer.sample_indices(0)], tables


def episodes(played: Batch) -> list[Batch]:
    """The whole episodes of one environment's transitions, in order."""
    ends = np.flatnonzero(played.done) + 1
    return [played[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@pytest.mark.parametrize("rules, players", [("points", 2), ("rockets", 3), ("tunk", 4)])
def test_moves_are_legal_and_rewards_are_the_settlement(rules: str, players: int) -> None:
    paid: list[list[float]] = []

    def make() -> PettingZooEnv:
        one = table(rules, players, match="hands")
        inside = one.env.unwrapped.table
        step = inside.step

        def noting(action: int) -> Any:
            hands = step(action)
            paid.extend(hand.scores for hand in hands)
            return hands

        inside.step = noting
        return one

    played, tables = collect(make, 400, num_envs=1)
    assert played.obs.mask[np.arange(len(played)), played.act].all()
    assert set(played.obs.agent_id) == {f"player_{seat}" for seat in range(players)}
    inside = tables[0].env.unwrapped.rules
    scores = np.array(paid)
    if inside.settlement == "points":
        scores = (scores.sum(axis=1, keepdims=True) - scores) / (players - 1) - scores
    assert len(paid) > 2
    np.testing.assert_allclose(played.rew.sum(axis=0), scores.sum(axis=0) / inside.scale, atol=1e-4)


def test_a_match_goes_on_when_a_seat_is_eliminated() -> None:
    played, _ = collect(lambda: table("points", 4, elimination=20), 2000, num_envs=1)
    whole = episodes(played)
    assert len(whole) >= 2
    for episode in whole:
        returns = episode.rew.sum(axis=0)
        assert returns.sum() == pytest.approx(0, abs=1e-5)
        assert returns.max() > 0
    assert any((episode.rew != 0).any(axis=1).sum() > 1 for episode in whole)  # somebody was paid and left, others played on


def test_the_example_learns(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002 (Tianshou draws from it)
    example = runpy.run_path(str(root / "examples" / "tianshou_selfplay.py"))
    network = example["main"]()
    assert "100% of them legal" in capsys.readouterr().out
    fresh = copy.deepcopy(network)
    assert isinstance(fresh, Net)
    for layer in fresh.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.reset_parameters()

    def choice(net: Net) -> Any:
        return lambda seen: net(np.asarray(seen))[0].detach().numpy() * 100  # nearly always the action of greatest value

    before, after = against_random(choice(fresh)), against_random(choice(network))
    assert after.low > before.mean
