"""RLlib: PPO with masks learns Tonk from both seats, half of the time against its own earlier self."""

from __future__ import annotations

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import nn

from tonk_env.rllib import TonkMultiAgentEnv


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """Two small networks; illegal actions get a logit that is never drawn."""

    def setup(self) -> None:
        """Make the networks."""
        size = self.observation_space["observation"].shape[0]
        self.actor, self.critic = (
            nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, out)) for out in (self.action_space.n, 1)
        )

    def _forward(self, batch: dict, **kwargs: object) -> dict:
        logits = self.actor(batch[Columns.OBS]["observation"].float())
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(batch[Columns.OBS]["action_mask"] == 0, -1e9)}

    def compute_values(self, batch: dict, embeddings: object = None) -> torch.Tensor:
        """Expected reward of the seat, float32[B]."""
        return self.critic(batch[Columns.OBS]["observation"].float()).squeeze(-1)


def seating(agent: str, episode: object, **kwargs: object) -> str:
    """Every second episode the earlier self plays, in either seat as often; a pure function of the episode's id."""
    draw = int(episode.id_, 16) % 4
    return "earlier" if agent == f"player_{draw}" else "main"


def main(iterations: int = 6, workers: int = 2) -> None:
    """Train, and renew the earlier self every second iteration."""
    ray.init("local", num_cpus=workers + 1, include_dashboard=False, log_to_driver=False)
    config = (
        PPOConfig()
        .environment(TonkMultiAgentEnv, env_config={"rules": "points", "match": "hands"}, disable_env_checking=True)
        .env_runners(num_env_runners=workers, num_envs_per_env_runner=8)
        .multi_agent(policies={"main", "earlier"}, policy_mapping_fn=seating, policies_to_train=["main"])
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={name: RLModuleSpec(module_class=MaskedModule) for name in ("main", "earlier")}
            )
        )
        .training(lr=1e-3, gamma=1.0, entropy_coeff=0.05, use_kl_loss=False, num_epochs=3, train_batch_size_per_learner=2000)
    )
    algo = config.build_algo()
    for iteration in range(iterations):
        if iteration % 2 == 0:
            weights = {"earlier": algo.get_module("main").get_state()}
            algo.learner_group.set_weights(weights)
            algo.env_runner_group.foreach_env_runner(lambda runner, w=weights: runner.set_state({"rl_module": w}))
        result = algo.train()
        entropy = result["learners"]["main"]["entropy"]
        print(f"iteration {iteration}: {result['env_runners']['num_episodes']:.0f} hands, entropy {entropy:.2f}")
    algo.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
