"""Takes the whole state of a training run, and puts it back: what goes into a checkpoint and why a run can go on exactly."""

from __future__ import annotations

from typing import Any

import torch

from agents.card import describe_game, rule_difference
from agents.checkpoint import Checkpoint, CheckpointError
from agents.config import TrainConfig
from agents.network import Network, new_network
from agents.pool import OpponentPool
from agents.ppo import TonkPPO
from agents.selfplay import SelfPlayVecEnv


def capture(config: TrainConfig, model: TonkPPO, env: SelfPlayVecEnv, pool: OpponentPool, meta: dict[str, Any]) -> Checkpoint:
    """Return the state between two iterations; ``meta`` holds the trainer's own counters."""
    return Checkpoint(
        meta={
            **meta,
            "game": describe_game(config.game.rule_set(), config.game.num_players),
            "seed": config.seed,
            "network": config.network.model_dump(),
            "tables": config.ppo.num_tables,
            "updates": model._n_updates,
            "pool": pool.state(),
            "buffer_generator": model.rollout_buffer.generator.bit_generator.state,
        },
        model={
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "torch_generator": torch.get_rng_state(),
        },
        arrays=env.state(),
        networks={number: network.state_dict() for number, network in pool.networks.items()},
    )


def restore(config: TrainConfig, checkpoint: Checkpoint, model: TonkPPO, env: SelfPlayVecEnv, pool: OpponentPool) -> None:
    """Put a checkpoint's state into fresh objects. Raises ``CheckpointError`` if it is of another game or network."""
    check_fit(config, checkpoint.meta)
    meta = checkpoint.meta
    try:
        model.policy.load_state_dict(checkpoint.model["policy"])
        model.policy.optimizer.load_state_dict(checkpoint.model["optimizer"])
        env.restore(checkpoint.arrays, meta["pool"].get("kinds", pool.kinds))
        pool.restore(meta["pool"], {number: _network(config, w) for number, w in checkpoint.networks.items()})
        model.rollout_buffer.generator.bit_generator.state = meta["buffer_generator"]
        model.num_timesteps, model._n_updates = int(meta["step"]), int(meta["updates"])
        model._last_obs = env.batch.observations.copy()
        torch.set_rng_state(checkpoint.model["torch_generator"])
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"the checkpoint at {meta.get('step')} decisions does not fit this version: {reason}") from None


def check_fit(config: TrainConfig, meta: dict[str, Any]) -> None:
    """Refuse a checkpoint of another game, seed, network or number of tables, naming what differs."""
    wanted, found = describe_game(config.game.rule_set(), config.game.num_players), meta.get("game", {})
    if found.get("num_players") != wanted["num_players"]:
        theirs, ours = found.get("num_players"), wanted["num_players"]
        raise CheckpointError(f"the checkpoint is of tables with {theirs} players, the configuration says {ours}")
    if found.get("rules_fingerprint") != wanted["rules_fingerprint"]:
        difference = rule_difference(found.get("rules"), config.game.rule_set())
        raise CheckpointError(f"the checkpoint is of other rules than the configuration: {difference}")
    for space in ("observation", "action"):
        theirs, ours = found.get("spaces", {}).get(space), wanted["spaces"][space]
        if theirs != ours:
            raise CheckpointError(f"the checkpoint was made for another {space} space: {theirs}, this version has {ours}")
    seed = meta.get("seed", config.seed)
    if seed != config.seed:
        raise CheckpointError(f"the checkpoint is of another seed: {seed}, the configuration says {config.seed}")
    for part, name, value in (
        ("network", "network", config.network.model_dump()),
        ("tables", "number of tables", config.ppo.num_tables),
    ):
        if meta.get(part) != value:
            raise CheckpointError(f"the checkpoint is of another {name}: {meta.get(part)}, the configuration says {value}")


def load_weights(config: TrainConfig, weights: dict[str, torch.Tensor]) -> Network:
    """Return the network of the configuration with saved weights in it. Raises ``CheckpointError`` if they do not fit."""
    network = new_network(config.network, config.game.rule_set(), config.game.num_players)
    try:
        network.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError):
        raise CheckpointError("the saved weights do not fit the network and spaces of the configuration") from None
    return network


def policy_network(config: TrainConfig, checkpoint: Checkpoint) -> Network:
    """Return the learner of a checkpoint: the newest policy of its pool is the same weights."""
    check_fit(config, checkpoint.meta)
    return load_weights(config, checkpoint.networks[int(checkpoint.meta["pool"]["newest"])])


def _network(config: TrainConfig, weights: dict[str, torch.Tensor]) -> Network:
    network = new_network(config.network, config.game.rule_set(), config.game.num_players)
    network.load_state_dict(weights)
    return network
