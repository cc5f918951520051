"""Training with RLlib: worker processes on a Ray cluster play, and everything around the learning is that of other runs."""

from __future__ import annotations

import logging
import math
import os
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from agents.base import Observations
from agents.card import describe_game
from agents.checkpoint import Checkpoint, CheckpointError
from agents.cluster_modules import (
    DECISIONS,
    LEARNER,
    SCHEDULE,
    BaselineModule,
    BudgetLearner,
    PolicyModule,
    Seating,
    baseline_name,
    count_decisions,
    slot_names,
)
from agents.config import ConfigError, TrainConfig
from agents.network import Network, freeze
from agents.run_state import check_fit, load_weights
from agents.runs import RunError
from agents.trainer import Trainer, warm_up
from tonk_env.batch import Batch
from tonk_env.rllib import TonkMultiAgentEnv

PREFIX = "network."  # of the network's weights inside a PolicyModule
NO_CLIP = 1e9  # RLlib's own limit on the critic's loss, out of the way
CURVES = {  # RLlib's names to those of the project
    "policy_loss": "train/policy_gradient_loss",
    "vf_loss": "train/value_loss",
    "vf_explained_var": "train/explained_variance",
    "total_loss": "train/loss",
    "curr_entropy_coeff": "train/entropy_weight",
    "default_optimizer_learning_rate": "train/learning_rate",
}


def connect(config: TrainConfig) -> None:
    """Join the cluster of the configuration, or start one on this machine.

    Raises ``ConfigError`` if none answers at the address.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_TRAIN_ENABLE_V2_MIGRATION_WARNINGS", "0")
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # its warnings are about settings that are meant
    if ray.is_initialized():
        return
    address = config.cluster.address
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        cores = max(os.cpu_count() or 1, math.ceil(cores_needed(config)))
        ray.init("local", num_cpus=cores, include_dashboard=False, **quiet)
        return
    try:
        host, colon, port = address.partition(":")
        if colon:
            socket.create_connection((host, int(port)), timeout=10).close()  # Ray itself would try for minutes
        ray.init(address=address, **quiet)
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ConfigError(
            f"cluster.address is {address!r}, but no Ray cluster answers there ({reason}): begin one with  ray start --head  "
            "or leave the address out"
        ) from None


def cores_needed(config: TrainConfig) -> float:
    """Cores that Ray must have for the workers of a run."""
    return config.cluster.workers * config.cluster.cpus_per_worker


class ClusterTrainer(Trainer):
    """A run whose hands are played by worker processes. Measuring, keeping, exporting and reporting are inherited."""

    def build(self) -> None:
        """Make RLlib's algorithm: its workers start here."""
        self._decisions = 0
        self._barren = 0  # iterations in a row that brought nothing
        self.restarts = 0
        wanted, there = cores_needed(self.config), ray.cluster_resources().get("CPU", 0)
        if wanted > there:
            self.console.print(f"waiting for cores: {wanted:g} are asked for by `cluster`, the Ray cluster has {there:g}")
        self.algorithm = algorithm_config(self.config).build_algo()
        self._slots = slot_names(self.config.opponents)
        self._curves = Logger(None, [])
        batch = Batch(self.rules, self.num_players, 64, seed=self.config.seed)
        batch.reset()
        self._positions = batch.observations.copy()

    def close(self) -> None:
        """Stop the workers and leave the cluster, and take away the empty folder that RLlib makes for itself."""
        self.algorithm.stop()
        with suppress(OSError):
            Path(self.algorithm.logdir).rmdir()
        ray.shutdown()

    def network(self) -> Network:
        """Return a frozen copy of the learner as it is now."""
        weights = self.algorithm.learner_group.get_weights([LEARNER])[LEARNER]
        return freeze(load_weights(self.config, {name.removeprefix(PREFIX): torch.tensor(w) for name, w in weights.items()}))

    @property
    def decisions(self) -> int:
        """Decisions that the learner has taken so far."""
        return self._decisions

    @property
    def logger(self) -> Logger:
        """Where curves are written."""
        return self._curves

    def members_at_tables(self) -> Iterable[int]:
        """Return nothing: workers hold their own copies of the policies that they play."""
        return ()

    def positions(self) -> Observations:
        """Return some observations int8[B, O] to try a network on."""
        return self._positions

    def start(self) -> None:
        """Open the curves."""
        warm_up(Batch(self.rules, self.num_players, 1, seed=0))
        self._curves = Logger(str(self.folder), [TensorBoardOutputFormat(str(self.folder))])

    def learn(self) -> None:
        """Let RLlib play and learn, an iteration at a time."""
        self.finished = self.share_used(self.decisions) >= 1
        if self.finished:
            return
        self.display.doing("playing")
        self.between_iterations(self.decisions)
        while not self.stopping:
            self._iterate()
            if self.playing(self.decisions):
                self.between_iterations(self.decisions)

    def _iterate(self) -> None:
        """Seat the opponents of the coming iteration, play it and learn from it."""
        self._seat_snapshots()
        used = self.share_used(self.decisions)
        self.algorithm.learner_group.foreach_learner(lambda learner, used=used: setattr(learner, "share_used", used))
        self._result = self.algorithm.train()
        played = int(self._result.get("env_runners", {}).get(DECISIONS, 0))
        self._decisions += played
        self._barren = 0 if played else self._barren + 1
        if self._barren >= self.config.cluster.patience:
            raise RunError(
                f"no worker has played anything in {self._barren} iterations in a row: see the logs of Ray's workers, then go "
                f"on with  python train.py --resume {self.folder}"
            )

    def _seat_snapshots(self) -> None:
        """Give the modules of earlier policies those that the pool has drawn; the newest while there are none."""
        members = self.pool.active or [self.pool.newest]
        weights = {
            slot: {f"{PREFIX}{name}": value.numpy() for name, value in self.pool.networks[member].state_dict().items()}
            for slot, member in zip(self._slots, np.resize(members, len(self._slots)), strict=True)
        }
        if weights:
            self.algorithm.learner_group.set_weights(weights)  # a worker that is started anew is filled from there
            self._send(weights)

    def _send(self, weights: dict[str, Any]) -> None:
        """Give weights of some modules to all workers."""
        state = {"rl_module": ray.put(weights)}
        self.algorithm.env_runner_group.foreach_env_runner(lambda runner, state=state: runner.set_state(state))

    def log(self) -> None:
        """Record what an iteration brought."""
        learned = self._result.get("learners", {}).get(LEARNER, {})
        for theirs, ours in CURVES.items():
            if theirs in learned:
                self.logger.record(ours, float(learned[theirs]))
        if "entropy" in learned:
            self.logger.record("train/entropy_loss", -float(learned["entropy"]))
        returns = self._result["env_runners"].get("module_episode_returns_mean", {})
        if LEARNER in returns:
            self.logger.record("play/return", float(returns[LEARNER]))
        workers = self.algorithm.env_runner_group
        self.restarts = int(workers.num_remote_worker_restarts())
        self.logger.record("cluster/workers", workers.num_healthy_remote_workers())
        self.logger.record("cluster/restarts", self.restarts)
        self.logger.record("pool/policies_loaded", len(self.pool.networks))
        self.logger.record("pool/snapshots", len(self.pool.ring))

    def optimizers(self) -> dict[str, Any]:
        """Return the state of the learner's optimisers by their names; other modules have idle ones."""
        every = self.algorithm.learner_group.get_state(components="learner/optimizer")["learner"]["optimizer"]
        return {name: one for name, one in every.items() if one["module_id"] == LEARNER}

    def capture(self, meta: dict[str, Any]) -> Checkpoint:
        """Return the learner's state; hands in play and the generators of workers are not part of it."""
        return Checkpoint(
            meta={
                **meta,
                "game": describe_game(self.rules, self.num_players),
                "seed": self.config.seed,
                "network": self.config.network.model_dump(),
                "tables": self.config.ppo.num_tables,
                "pool": self.pool.state(),
            },
            model={"policy": self.network().state_dict(), "optimizer": _tensors(self.optimizers())},
            arrays={"decisions": np.array(self._decisions)},
            networks={number: network.state_dict() for number, network in self.pool.networks.items()},
        )

    def put_back(self, checkpoint: Checkpoint) -> None:
        """Take over a learner's state. Raises ``CheckpointError`` if it is of another game or network."""
        check_fit(self.config, checkpoint.meta)
        try:
            policy = {f"{PREFIX}{name}": value.numpy() for name, value in checkpoint.model["policy"].items()}
            self.algorithm.learner_group.set_state(
                {"learner": {"rl_module": {LEARNER: policy}, "optimizer": _arrays(checkpoint.model["optimizer"])}}
            )
            networks = {number: load_weights(self.config, weights) for number, weights in checkpoint.networks.items()}
            self.pool.restore(checkpoint.meta["pool"], networks)
            self._decisions = int(checkpoint.meta["step"])
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise CheckpointError(f"the checkpoint at {checkpoint.meta.get('step')} decisions does not fit: {reason}") from None
        self._send({LEARNER: policy})


def algorithm_config(config: TrainConfig) -> PPOConfig:
    """Return RLlib's configuration for a run."""
    ppo, game, cluster = config.ppo, config.game, config.cluster
    seating = Seating(config.opponents, game.num_players)
    specs = module_specs(config)
    tables = -(-ppo.num_tables // cluster.workers)
    table = {"rules": game.rules, "num_players": game.num_players, "illegal": "raise", **game.options}
    return (
        PPOConfig()
        .environment(TonkMultiAgentEnv, env_config=table, disable_env_checking=True)  # that check plays without masks
        .env_runners(
            num_env_runners=cluster.workers,
            num_envs_per_env_runner=tables,
            num_cpus_per_env_runner=cluster.cpus_per_worker,
            rollout_fragment_length="auto",
            sample_timeout_s=600.0,
        )
        .learners(learner_class=BudgetLearner, num_learners=0, num_gpus_per_learner=int(config.device == "cuda"))
        .training(
            lr=[[0, ppo.learning_rate], [SCHEDULE, ppo.learning_rate_end]],
            entropy_coeff=[[0, ppo.entropy], [SCHEDULE, ppo.entropy_end]],
            gamma=ppo.gamma,
            lambda_=ppo.gae_lambda,
            clip_param=ppo.clip,
            vf_clip_param=NO_CLIP,
            vf_loss_coeff=ppo.value_coef,
            use_kl_loss=False,
            grad_clip=ppo.max_grad_norm,
            grad_clip_by="global_norm",
            train_batch_size_per_learner=round(config.decisions_per_iteration / seating.learners_share),
            minibatch_size=ppo.minibatch,
            num_epochs=ppo.epochs,
        )
        .multi_agent(policies=set(specs), policy_mapping_fn=seating, policies_to_train=[LEARNER])
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=specs))
        .callbacks(on_sample_end=count_decisions)
        .fault_tolerance(restart_failed_env_runners=True, env_runner_restore_timeout_s=600.0)
        .debugging(seed=config.seed % 2**31, log_level="ERROR")
    )


def module_specs(config: TrainConfig) -> dict[str, RLModuleSpec]:
    """Return what RLlib builds its modules from: the learner, earlier policies, baselines."""
    rules, players = config.game.rule_set(), config.game.num_players
    space = TonkMultiAgentEnv({"rules": rules, "num_players": players})
    spaces = {"observation_space": space.observation_spaces["player_0"], "action_space": space.action_spaces["player_0"]}
    game = {"rules": rules.to_dict(), "num_players": players}
    network = {"network": config.network.model_dump(), **game}
    specs = {
        name: RLModuleSpec(module_class=PolicyModule, model_config=network, **spaces)
        for name in (LEARNER, *slot_names(config.opponents))
    }
    for spec in config.opponents.baselines:
        baseline = {"spec": spec, **game}
        specs[baseline_name(spec)] = RLModuleSpec(module_class=BaselineModule, model_config=baseline, **spaces)
    return specs


def _tensors(value: Any) -> Any:
    """Arrays as tensors, in nested dictionaries and lists: what a checkpoint can hold."""
    if isinstance(value, Mapping):
        return {name: _tensors(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_tensors(one) for one in value]
    return torch.tensor(value) if isinstance(value, np.ndarray | np.generic) else value


def _arrays(value: Any) -> Any:
    """Tensors as arrays again."""
    if isinstance(value, Mapping):
        return {name: _arrays(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_arrays(one) for one in value]
    return value.numpy() if isinstance(value, torch.Tensor) else value
