"""The one-file PPO of the examples: its advantages against a plain reckoning, masks, learning, and the file it writes."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from agents.evaluate import evaluate
from agents.onnx_agent import OnnxAgent
from tonk_env import Batch, make_rules

PATH = Path(__file__).parents[1] / "examples" / "cleanrl_ppo.py"


@pytest.fixture(scope="module")
def example() -> Any:
    """The example's names, without running it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cleanrl_ppo", type(sys)("cleanrl_ppo"))  # where dataclass looks its module up
        return SimpleNamespace(**runpy.run_path(str(PATH), run_name="cleanrl_ppo"))


def plain_advantages(
    rewards: np.ndarray, seats: np.ndarray, over: np.ndarray, values: np.ndarray, last: np.ndarray, lam: float
) -> np.ndarray:
    """The same for one table, seat by seat and forwards, with each seat's decisions of an episode taken out of the row."""
    steps, players = rewards.shape
    found = np.zeros(steps)
    starts = [0, *(np.flatnonzero(over) + 1)]
    for begin, end in zip(starts, [*starts[1:], steps], strict=True):
        ended = end <= steps and end > begin and over[end - 1]
        for seat in range(players):
            mine = [step for step in range(begin, end) if seats[step] == seat]
            for at, step in enumerate(mine):
                total, weight = 0.0, 1.0
                for k in range(at, len(mine)):
                    until = mine[k + 1] if k + 1 < len(mine) else end
                    after = values[mine[k + 1]] if k + 1 < len(mine) else 0.0 if ended else last[seat]
                    total += weight * (rewards[mine[k] : until, seat].sum() + after - values[mine[k]])
                    weight *= lam
                found[step] = total
    return found


def test_advantages_are_reckoned_seat_by_seat(example: Any) -> None:
    generator = np.random.default_rng(0)
    steps, tables, players = 40, 5, 3
    rewards = generator.normal(size=(steps, tables, players)).astype(np.float32)
    seats = generator.integers(players, size=(steps, tables)).astype(np.int8)
    over = generator.random((steps, tables)) < 0.15
    values = generator.normal(size=(steps, tables)).astype(np.float32)
    last = generator.normal(size=(tables, players)).astype(np.float32)
    found = example.advantages(rewards, seats, over, values, last, 0.9)
    for table in range(tables):
        part = (rewards[:, table], seats[:, table], over[:, table], values[:, table], last[table])
        np.testing.assert_allclose(found[:, table], plain_advantages(*part, 0.9), rtol=1e-4, atol=1e-4)


def test_masked_actions_have_no_probability_and_no_gradient(example: Any) -> None:
    agent = example.Agent(6, 5, 8)
    masks = torch.tensor([[1, 0, 1, 0, 0]], dtype=torch.int8)
    log_probs, _ = agent(torch.ones(1, 6, dtype=torch.int8), masks)
    assert log_probs.exp()[0, masks[0] == 0].eq(0).all()
    (-(log_probs.exp() * log_probs).sum()).backward()
    gradient = agent.actor[0].bias.grad
    assert gradient[masks[0] == 0].eq(0).all()


def test_it_collects_what_was_played_and_every_reward(example: Any) -> None:
    args = example.Args(tables=32, steps=24)
    batch = Batch(make_rules("points", match="hands"), 2, args.tables, seed=1)
    batch.reset()
    rollout = example.collect(example.Agent(batch.observation_size, batch.num_actions, 16), batch, args)
    assert {len(tensor) for tensor in rollout.values()} == {32 * 24}
    assert rollout["masks"].gather(1, rollout["actions"][:, None]).all()  # and the batch refuses illegal moves
    assert rollout["log_probs"].le(0).all()


def test_it_learns_and_writes_an_opponent(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = "--decisions 60000 --tables 128 --steps 16 --minibatch 512 --width 64"
    file = tmp_path / "opponent.onnx"
    monkeypatch.setattr(sys, "argv", [str(PATH), *settings.split(), "--out", str(file)])
    example.main()
    assert "decisions" in capsys.readouterr().out
    rules = make_rules("points", match="hands")
    payoff = evaluate([OnnxAgent(file), "random"], rules, 2, deals=400).to_dict()["payoffs"][0]
    assert payoff["mean"] > 0.5  # an untrained policy is at zero
