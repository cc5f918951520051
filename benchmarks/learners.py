"""Those whose speed is compared: the trainer's learner on any environment, the library's own, and bare torch."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from free_env import FreeVecEnv
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv

from agents.callbacks import Clocks
from agents.config import TrainConfig
from agents.network import ACTIVATIONS, frozen_copy, new_network
from agents.pool import OpponentPool
from agents.ppo import TonkPPO
from agents.selfplay import SelfPlayVecEnv


class Iterates(Protocol):
    """Something that can be measured."""

    def iterate(self) -> int:
        """Play and learn for one iteration; returns the decisions of the learner in it."""


class Learner:
    """The trainer's learner, pool and environment without evaluation and files. ``free``: the environment is recorded."""

    def __init__(self, config: TrainConfig, *, free: bool = False) -> None:
        self.pool = OpponentPool(config.opponents, config.seed)
        self.frames = config.decisions_per_iteration
        self.clocks, self.iteration = Clocks(), 0
        game, ppo = config.game, config.ppo
        played = SelfPlayVecEnv(
            game.rule_set(), game.num_players, ppo.num_tables, self.pool, config.seed, all_seats=ppo.all_seats
        )
        learner = TonkPPO(config, played, lambda step: 0.0)
        self.pool.renew(frozen_copy(learner.policy), 0, ())
        self.selfplay = None if free else played
        self.env: VecEnv = FreeVecEnv(played) if free else played
        self.model = TonkPPO(config, self.env, lambda step: 0.0) if free else learner
        self.model.set_logger(Logger(None, []))

    def iterate(self) -> int:
        """One iteration, as in training."""
        self.model.learn(self.frames, _Timed(self), log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]
        return self.frames

    def shares(self) -> dict[str, float]:
        """Shares of the time since the last call that went into env, opponents, policy and update."""
        return self.clocks.shares(self.selfplay.take_seconds() if self.selfplay else {})

    def renew(self) -> None:
        """Renew the pool after an iteration, as the trainer does."""
        if self.selfplay:
            self.iteration += 1
            self.pool.renew(frozen_copy(self.model.policy), self.iteration, self.selfplay.playing())


class _Timed(BaseCallback):
    """Runs the trainer's clocks and renews the pool."""

    def __init__(self, learner: Learner) -> None:
        super().__init__()
        self.learner = learner

    def _on_rollout_start(self) -> None:
        self.learner.clocks.switch("rollout")

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.learner.clocks.switch("update")

    def _on_training_end(self) -> None:
        self.learner.clocks.switch(None)
        self.learner.renew()


class _Library:
    def __init__(self, model: MaskablePPO, frames: int) -> None:
        self.model, self.frames = model, frames
        self.model.set_logger(Logger(None, []))

    def iterate(self) -> int:
        self.model.learn(self.frames, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]
        return self.frames


def library_learner(config: TrainConfig, env: VecEnv) -> Iterates:
    """MaskablePPO as it comes: a network each for actor and critic, of the torso's widths; its own buffer."""
    ppo, widths = config.ppo, list(config.network.torso)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=ppo.steps,
        batch_size=ppo.minibatch,
        n_epochs=ppo.epochs,
        policy_kwargs={"net_arch": {"pi": widths, "vf": widths}, "activation_fn": ACTIVATIONS[config.network.activation]},
        seed=config.seed,
        device=config.device,
    )
    return _Library(model, config.decisions_per_iteration)


class Bare:
    """The arithmetic of an iteration: forward passes of the rollout, forward and backward passes of the update.

    Inputs are ready as float32; nothing is sampled, stored or optimised. It is the least that torch could need.
    """

    def __init__(self, config: TrainConfig, env: Any) -> None:
        self.ppo = config.ppo
        size = env.observations.shape[-1]
        self.network = new_network(config.network, config.game.rule_set(), config.game.num_players).train().requires_grad_(True)
        rows = torch.from_numpy(env.observations.reshape(-1, size)).float()
        times = -(-config.decisions_per_iteration // len(rows))
        self.inputs = rows.repeat(times, 1)[: config.decisions_per_iteration]

    def iterate(self) -> int:
        """All passes of one iteration."""
        with torch.no_grad():
            for part in torch.split(self.inputs, self.ppo.num_tables):
                self.network(part)
        for _ in range(self.ppo.epochs):
            for part in torch.split(self.inputs, self.ppo.minibatch):
                logits, values = self.network(part)
                self.network.zero_grad(set_to_none=True)
                torch.autograd.backward((logits, values), (torch.ones_like(logits), torch.ones_like(values)))
        return len(self.inputs)
