"""What RLlib's workers and learner are made of: the policy as an RLModule with masks, the baselines, seating and learner."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModule
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import nn

from agents.config import NetworkConfig, OpponentsConfig
from agents.network import ILLEGAL, Network, new_network
from agents.specs import make_agent
from tonk_env.rules import make_rules

LEARNER = "learner"  # name of the module that learns
SCHEDULE = 1_000_000  # schedules run from 0 to this: parts of the budget
DECISIONS = "learner_decisions"  # name of a metric


class PolicyModule(TorchRLModule, ValueFunctionAPI):
    """The project's network as an RLModule. Illegal actions get the logit that exported opponents give them.

    ``model_config`` holds ``network``, the settings of ``agents.config.NetworkConfig`` as plain data, and the game: ``rules``,
    ``num_players``.
    """

    def setup(self) -> None:
        """Make the network, with the initial weights that stable-baselines3 gives such a one."""
        settings = NetworkConfig.model_validate(self.model_config["network"])
        rules, players = make_rules(self.model_config["rules"]), self.model_config["num_players"]
        self.network = new_network(settings, rules, players).requires_grad_(True)
        initialise(self.network)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._logits(batch, self._features(batch))}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        features = self._features(batch)
        return {Columns.ACTION_DIST_INPUTS: self._logits(batch, features), Columns.EMBEDDINGS: features}

    def compute_values(self, batch: dict[str, Any], embeddings: torch.Tensor | None = None) -> torch.Tensor:
        """Return the critic's values float32[B]; ``embeddings`` are the torso's features, if they are known."""
        features = self._features(batch) if embeddings is None else embeddings
        values: torch.Tensor = self.network.critic(features).squeeze(-1)
        return values

    def _features(self, batch: dict[str, Any]) -> torch.Tensor:
        features: torch.Tensor = self.network.torso(batch[Columns.OBS]["observation"].float())
        return features

    def _logits(self, batch: dict[str, Any], features: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network.actor(features)
        return logits.masked_fill(batch[Columns.OBS]["action_mask"] == 0, ILLEGAL)


class BaselineModule(RLModule):
    """A baseline such as ``drop:27`` in a seat. ``model_config`` holds ``spec`` and the game: ``rules``, ``num_players``."""

    def setup(self) -> None:
        """Make the player."""
        settings = self.model_config
        self.agent = make_agent(settings["spec"], make_rules(settings["rules"]), settings["num_players"])
        self.agent.seed(int(np.random.SeedSequence().generate_state(1)[0]))

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        observations = batch[Columns.OBS]
        seen, masks = (np.ascontiguousarray(observations[key], dtype=np.int8) for key in ("observation", "action_mask"))
        return {Columns.ACTIONS: self.agent.act(seen, masks)}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        raise NotImplementedError("a baseline does not learn: leave it out of policies_to_train")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the player is compiled already."""

    def get_state(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return nothing: a baseline has no weights."""
        return {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Do nothing: a baseline has no weights."""


class Seating:
    """RLlib's policy mapping: who sits where, drawn for every seat and episode, the same for all of an episode.

    One seat, drawn too, is the learner's; every other one is given by the shares of ``opponents``. The newest policy in
    another seat is the learner itself, which so learns from both sides.
    """

    def __init__(self, opponents: OpponentsConfig, num_players: int) -> None:
        slots = slot_names(opponents)
        self.num_players = num_players
        self.modules = [LEARNER, *slots, *map(baseline_name, opponents.baselines)]
        shares = [opponents.snapshots / len(slots)] * len(slots)
        current = opponents.current + opponents.snapshots - sum(shares)
        weights = np.array([current, *shares, *opponents.baselines.values()])
        self.weights = weights / weights.sum()

    @property
    def learners_share(self) -> float:
        """Seats of the learner, as a share of all."""
        return float(1 + (self.num_players - 1) * self.weights[0]) / self.num_players

    def __call__(self, agent_id: str, episode: Any, **kwargs: Any) -> str:
        """Return the name of the module that plays this seat in this episode."""
        generator = np.random.default_rng(zlib.crc32(str(episode.id_).encode()))
        seat = int(agent_id.rpartition("_")[2])
        learner, drawn = int(generator.integers(self.num_players)), generator.random(self.num_players)
        if seat == learner:
            return LEARNER
        place = np.searchsorted(self.weights.cumsum(), drawn[seat], side="right")
        return self.modules[min(int(place), len(self.modules) - 1)]


class BudgetLearner(PPOTorchLearner):
    """RLlib's PPO with schedules that follow the share of the budget that is used, wherever the run was begun."""

    share_used = 0.0  # set by the trainer before every iteration

    def before_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Set learning rate and entropy weight for the coming update."""
        super().before_gradient_based_update(timesteps=timesteps)
        now = round(self.share_used * SCHEDULE)
        self.entropy_coeff_schedulers_per_module[LEARNER].update(timestep=now)
        for name in self._module_optimizers[LEARNER]:
            optimizer = self._named_optimizers[name]
            schedule = self._optimizer_lr_schedules.get(optimizer)
            if schedule is not None:
                self._set_optimizer_lr(optimizer, lr=schedule.update(timestep=now))

    def after_gradient_based_update(self, *, timesteps: dict[str, Any]) -> None:
        """Finish the update; RLlib's own counter of steps, which starts at 0 on resuming, moves no schedule."""
        counted = {name: round(self.share_used * SCHEDULE) for name in timesteps}
        super().after_gradient_based_update(timesteps=counted)


def count_decisions(env_runner: Any, metrics_logger: Any, samples: Sequence[Any], **kwargs: Any) -> None:
    """Log how many decisions of the learner a worker has brought: RLlib's own count includes last observations."""
    episodes = (one for sample in samples for one in sample.agent_episodes.values())
    decisions = sum(len(one) for one in episodes if one.module_id == LEARNER)
    metrics_logger.log_value(DECISIONS, decisions, reduce="sum")


def slot_names(opponents: OpponentsConfig) -> list[str]:
    """Names of the modules that hold earlier policies: those that take part in an iteration."""
    count = min(opponents.active, opponents.ring) if opponents.snapshots else 0
    return [f"snapshot_{number}" for number in range(count)]


def baseline_name(spec: str) -> str:
    """Name of a baseline's module: RLlib allows no colon in it."""
    return spec.replace(":", "_")


def initialise(network: Network) -> None:
    """Give a network orthogonal weights: nearly even probabilities, values near their mean."""
    for part, gain in ((network.torso, math.sqrt(2)), (network.actor, 0.01), (network.critic, 1.0)):
        layers = [layer for layer in part if isinstance(layer, nn.Linear)]
        for layer in layers:
            nn.init.orthogonal_(layer.weight, gain if layer is layers[-1] else math.sqrt(2))
            nn.init.zeros_(layer.bias)
