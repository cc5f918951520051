"""TorchRL: PPO with a masked categorical, one network in all seats, on the PettingZoo door."""

from __future__ import annotations

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from tonk_env import tonk_v0
from tonk_env.turns import TurnsWrapper

GROUP = "seats"


class Bytes(nn.Sequential):
    """Layers that take the observation as it is, in bytes."""

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Return float32[..., out] for int8[..., size]."""
        return super().forward(observation.float())


def actor_critic(policy: nn.Module, value: nn.Module, *place: str) -> tuple[ProbabilisticActor, ValueOperator]:
    """Actor and critic around two networks, for data that lies at ``place`` in the tensordict."""
    names = ("logits", "action_mask", "action", "action_log_prob", "state_value")
    logits, mask, action, log_prob, state_value = [(*place, name) if place else name for name in names]
    observation = (*place, "observation", "observation")  # a Dict inside the group's own
    actor = ProbabilisticActor(
        TensorDictModule(policy, in_keys=[observation], out_keys=[logits]),
        in_keys={"logits": logits, "mask": mask}, out_keys=[action],
        distribution_class=MaskedCategorical, return_log_prob=True, log_prob_key=log_prob,
    )  # fmt: skip
    return actor, ValueOperator(value, in_keys=[observation], out_keys=[state_value])


def main(iterations: int = 8, frames: int = 1000) -> nn.Module:
    """Train, say what comes out, and return the policy: logits for observations."""
    torch.set_num_threads(1)  # with more, threads wait for each other at every small step: many times slower
    table = TurnsWrapper(tonk_v0.env("points", num_players=2, match="hands"))
    env = PettingZooWrapper(table, use_mask=True, group_map={GROUP: table.possible_agents})
    size, actions = table.unwrapped.layout.size, table.unwrapped.table.num_actions
    policy, value = (Bytes(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, out)) for out in (actions, 1))
    actor, critic = actor_critic(policy, value, GROUP)
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    names = ("reward", "done", "terminated", "advantage", "value_target")
    advantage.set_keys(value=(GROUP, "state_value"), **{name: (GROUP, name) for name in names})
    loss = ClipPPOLoss(*actor_critic(policy, value), entropy_coeff=0.05, normalize_advantage=True)
    loss.set_keys(sample_log_prob="action_log_prob")
    optimiser = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-3)
    collector = Collector(env, actor, frames_per_batch=frames, total_frames=iterations * frames)
    for iteration, batch in enumerate(collector):
        with torch.no_grad():
            advantage(batch)
        seats: TensorDict = batch[GROUP]
        turns = seats[seats["mask"]]  # of all seats, those on turn
        for _ in range(3):
            losses = loss(turns)
            optimiser.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
            optimiser.step()
        hands = int(batch["next", "done"].sum())
        print(f"iteration {iteration}: {hands} hands, entropy {losses['entropy'].item():.2f}")
    collector.shutdown()
    return policy


if __name__ == "__main__":
    main()
