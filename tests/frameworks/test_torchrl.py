"""TorchRL rolls out and trains on both doors: masks, rewards, matches that seats leave early, infos that change shape."""

import itertools
import runpy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from learned import against_random
from tensordict import TensorDict
from torchrl.envs import GymWrapper, TransformedEnv
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.transforms import ActionMask
from torchrl.envs.utils import check_env_specs

import tonk_env  # noqa: F401 (registers the environments)
from tonk_env import tonk_v0
from tonk_env.turns import TurnsWrapper


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


class Watched(TurnsWrapper):
    """Notes every hand that is settled, and raises for an illegal move, since the environment inside has no wrappers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(tonk_v0.raw_env(*args, **options))
        self.moves, self.settled = 0, []  # type: ignore[var-annotated]

    def step(self, action: Any) -> None:
        before = self.unwrapped.table.last_hand
        super().step(action)
        self.moves += 1
        after = self.unwrapped.table.last_hand
        if after is not before:
            self.settled.append(after)


def wrapped(table: TurnsWrapper) -> PettingZooWrapper:
    return PettingZooWrapper(table, use_mask=True, group_map={"seats": table.possible_agents})


def check_moves(batch: TensorDict) -> None:
    """Whoever was on turn played a move that its mask allowed; one seat was on turn at a time."""
    seats = batch["seats"]
    assert (seats["mask"].sum(dim=-1) == 1).all()
    turns = seats[seats["mask"]]
    assert turns["action_mask"].gather(-1, turns["action"][:, None]).all()


def test_specs_are_as_torchrl_wants_them() -> None:
    check_env_specs(wrapped(Watched("points", 2, match="hands")), break_when_any_done=False)
    check_env_specs(GymWrapper(gymnasium.make("tonk_env/Tonk-v0", match="hands")), break_when_any_done=False)


@pytest.mark.parametrize("rules, players", [("points", 2), ("rockets", 3), ("tunk", 4)])
def test_moves_are_legal_and_rewards_are_the_settlement(rules: str, players: int) -> None:
    table = Watched(rules, players, match="hands")
    env = wrapped(table)
    batch = env.rollout(400, break_when_any_done=False)
    check_moves(batch)
    assert table.moves == 400
    assert len(table.settled) > 2
    scale, points = table.unwrapped.rules.scale, table.unwrapped.rules.settlement == "points"
    for seat in range(players):
        scores = [hand.scores for hand in table.settled]
        paid = [(sum(one) - one[seat]) / (players - 1) - one[seat] if points else one[seat] for one in scores]
        assert float(batch["next", "seats", "reward"][:, seat].sum()) == pytest.approx(sum(paid) / scale, abs=1e-3)
    assert int(batch["next", "done"].sum()) == sum(hand.ending != "void" for hand in table.settled)


def test_a_match_goes_on_when_a_seat_is_eliminated() -> None:
    table = Watched("points", 4, elimination=30)
    batch = wrapped(table).rollout(1500, break_when_any_done=False)
    check_moves(batch)
    done = batch["next", "seats", "done"].squeeze(-1)
    over = batch["next", "done"].squeeze(-1)
    assert over.sum() >= 2
    assert (done.any(dim=1) & ~over).sum() > 10  # somebody is out and the match goes on
    ends = [0, *(over.nonzero().squeeze(-1) + 1).tolist()]
    for start, end in itertools.pairwise(ends):
        returns = batch["next", "seats", "reward"][start:end].sum(dim=0).squeeze(-1)
        assert float(returns.sum()) == pytest.approx(0, abs=1e-5)
        assert returns.max() > 0


def test_hands_settled_on_the_first_deal_do_not_change_the_specs() -> None:
    seed = next(seed for seed in range(2000) if opened(seed))
    env = PettingZooWrapper(TurnsWrapper(tonk_v0.env("rockets", num_players=4, hands=3)), use_mask=True, seed=seed)
    assert env.rollout(20)["player_0", "action"].shape[0] > 0
    with pytest.raises((TypeError, ValueError, RuntimeError)):  # without the wrapper TorchRL reads the news as numbers
        PettingZooWrapper(tonk_v0.env("rockets", num_players=4, hands=3), use_mask=True, seed=seed)


def opened(seed: int) -> bool:
    table = tonk_v0.raw_env("rockets", num_players=4, hands=3).table
    table.reset(seed=seed)
    return bool(table.opened)


def test_the_gymnasium_door_takes_an_action_mask() -> None:
    door = gymnasium.make("tonk_env/Tonk-v0", rules="points", match="hands", opponents="greedy", illegal="raise")
    env = TransformedEnv(GymWrapper(door), ActionMask())
    batch = env.rollout(300, break_when_any_done=False)
    assert batch["action_mask"].gather(-1, chosen(batch["action"])).all()
    assert int(batch["next", "done"].sum()) > 20
    paid = batch["next", "reward"][batch["next", "done"]]
    assert (paid != 0).any()
    assert (batch["next", "reward"][~batch["next", "done"]] == 0).all()


def chosen(actions: torch.Tensor) -> torch.Tensor:
    """Action numbers int64[T, 1], of numbers or of one-hot rows."""
    return actions.argmax(dim=-1, keepdim=True) if actions.dim() > 1 else actions[:, None]


def test_the_example_learns(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(1)
    example = runpy.run_path(str(root / "examples" / "torchrl_ppo.py"))
    policy = example["main"]()
    assert capsys.readouterr().out.count("entropy") == 8
    fresh = torch.nn.Sequential(torch.nn.Linear(policy[0].in_features, 64), torch.nn.Tanh(), torch.nn.Linear(64, 483))

    def logits(network: torch.nn.Module) -> Any:
        return lambda seen: network(torch.from_numpy(np.asarray(seen)).float()).detach().numpy()

    before, after = against_random(logits(fresh)), against_random(logits(policy))
    assert after.low > before.mean
