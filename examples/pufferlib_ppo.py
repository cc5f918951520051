"""PufferLib: its emulation makes rows of bytes of the Gymnasium door, its vectorisation many tables; PPO in plain torch."""

from __future__ import annotations

import numpy as np
import pufferlib.emulation
import pufferlib.vector
import torch
from torch import nn

from tonk_env.single import TonkEnv

GAME = {"rules": "points", "match": "hands", "num_players": 2, "opponents": "random"}


def make() -> pufferlib.emulation.GymnasiumPufferEnv:
    """One table; an illegal move would be an error."""
    return pufferlib.emulation.GymnasiumPufferEnv(env_creator=TonkEnv, env_kwargs={**GAME, "illegal": "raise"})


class Policy(nn.Module):
    """Actor and critic for PufferLib's rows: the action mask, then the observation, as the keys of the Dict are sorted."""

    def __init__(self, actions: int, size: int) -> None:
        super().__init__()
        self.actions = actions
        self.actor, self.critic = (nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, n)) for n in (actions, 1))

    def forward(self, rows: torch.Tensor) -> tuple[torch.distributions.Categorical, torch.Tensor]:
        """Return the distribution over legal moves, and values float32[...]."""
        mask, seen = rows[..., : self.actions], rows[..., self.actions :].float()
        logits = self.actor(seen).masked_fill(mask == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.critic(seen).squeeze(-1)


def advantages(rewards: torch.Tensor, done: torch.Tensor, values: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    """Generalised advantages without discount, float32[T, N]."""
    out, carried = torch.zeros_like(rewards), torch.zeros_like(last)
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + last * ~done[t] - values[t]
        carried = delta + 0.95 * carried * ~done[t]
        out[t], last = carried, values[t]
    return out


def main(iterations: int = 8, steps: int = 64, num_envs: int = 16) -> nn.Module:
    """Train, say what comes out, and return the actor: logits for observations."""
    torch.set_num_threads(1)
    envs = pufferlib.vector.make(make, num_envs=num_envs, backend=pufferlib.vector.Serial)
    rows, _ = envs.reset(seed=1)
    table = envs.driver_env.env
    policy = Policy(table.action_space.n, table.layout.size)
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    for iteration in range(iterations):
        taken = []
        for _ in range(steps):
            seen = torch.from_numpy(rows.copy())
            with torch.no_grad():
                moves, values = policy(seen)
                actions = moves.sample()
            rows, rewards, ended, cut, _ = envs.step(actions.numpy())
            paid, done = torch.from_numpy(rewards.astype(np.float32)), torch.from_numpy(ended | cut)
            taken.append((seen, actions, moves.log_prob(actions), values, paid, done))
        seen, actions, before, values, paid, done = (torch.stack(part) for part in zip(*taken, strict=True))
        with torch.no_grad():
            advantage = advantages(paid, done, values, policy(torch.from_numpy(rows.copy()))[1])
        turns = seen[..., : policy.actions].any(dim=-1)  # a step that only deals the next hand has an empty mask
        weight = (advantage - advantage[turns].mean()) / advantage[turns].std()
        for _ in range(4):
            moves, now = policy(seen)
            ratio = (moves.log_prob(actions) - before).exp()
            gain = torch.min(weight * ratio, weight * ratio.clamp(0.8, 1.2)) + 0.02 * moves.entropy()
            loss = (0.5 * (now - advantage - values) ** 2 - gain)[turns].mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(f"iteration {iteration}: {int(done.sum())} hands, earned {float(paid.sum() / done.sum()):+.2f} a hand")
    envs.close()
    return policy.actor


if __name__ == "__main__":
    main()
