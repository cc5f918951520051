"""PufferLib's emulation and vectorisation play the Gymnasium door, and a policy learns on them."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pufferlib.emulation
import pufferlib.vector
import pytest
import torch
from learned import against_random

from tonk_env.single import TonkEnv

GAME = {"rules": "points", "match": "hands", "num_players": 2, "opponents": "greedy", "illegal": "raise"}


def make() -> Any:
    return pufferlib.emulation.GymnasiumPufferEnv(env_creator=TonkEnv, env_kwargs=GAME)


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_rows_hold_the_mask_first_and_every_return_is_a_settlement(backend: str) -> None:
    workers = {"num_workers": 2, "overwork": True} if backend == "Multiprocessing" else {}
    envs = pufferlib.vector.make(make, num_envs=4, backend=getattr(pufferlib.vector, backend), **workers)
    generator = np.random.default_rng(0)
    rows, _ = envs.reset(seed=1)
    returns, hands, running = [], 0, np.zeros(4)
    for _ in range(150):
        masks = rows[:, :483]
        actions = np.array([int(generator.choice(np.flatnonzero(mask))) if mask.any() else 0 for mask in masks])
        rows, rewards, ended, cut, _ = envs.step(actions)
        running += rewards
        for place in np.flatnonzero(ended | cut):
            returns.append(running[place])
            running[place] = 0.0
            hands += 1
    envs.close()
    assert hands > 10
    assert np.allclose(np.array(returns) * 20, np.round(np.array(returns) * 20), atol=1e-3)  # whole points of two players
    assert any(returns)


def test_the_example_learns(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(1)
    actor = runpy.run_path(str(root / "examples" / "pufferlib_ppo.py"))["main"]()
    assert capsys.readouterr().out.count("a hand") == 8
    fresh = torch.nn.Sequential(torch.nn.Linear(actor[0].in_features, 64), torch.nn.Tanh(), torch.nn.Linear(64, 483))

    def logits(network: Any) -> Any:
        return lambda seen: network(torch.from_numpy(np.asarray(seen)).float()).detach().numpy()

    before, after = against_random(logits(fresh)), against_random(logits(actor))
    assert after.low > before.mean
