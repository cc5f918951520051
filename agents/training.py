"""Begins and resumes training runs: in this process, or with RLlib on a cluster where the configuration asks for workers."""

from __future__ import annotations

import importlib.util
from contextlib import closing
from pathlib import Path

import torch
from rich.console import Console

from agents.checkpoint import FOLDER, CheckpointError, read_tensors
from agents.claim import sole_use
from agents.config import ConfigError, TrainConfig
from agents.exporting import export_run
from agents.runs import BEST, RUNS, behind_links, create_run, open_run, write_description
from agents.specs import make_agent
from agents.trainer import Trainer

__all__ = ["Trainer", "export_run", "resume", "train"]


def train(
    config: TrainConfig,
    config_name: str = "run",
    name: str | None = None,
    runs: Path = RUNS,
    console: Console | None = None,
    stop_after: int | None = None,
) -> Path:
    """Train a new run and return its folder. ``stop_after`` iterations it stops as if asked to by Ctrl-C.

    Raises ``RunError``, ``ConfigError`` or ``AgentSpecError``, each before anything is written.
    """
    check_device(config)
    check_opponents(config)
    trainer_class = trainer_of(config)
    run = create_run(config, config_name, name, runs)
    with sole_use(run), closing(trainer_class(config, run, console)) as trainer:
        trainer.run(stop_after)
    return run


def resume(
    run: Path, overrides: list[str] | None = None, console: Console | None = None, stop_after: int | None = None
) -> Path:
    """Go on with a run where its newest checkpoint stands, and return its folder, the one behind a link like ``latest``.

    Overrides change its configuration for good. Raises ``RunError``, ``ConfigError``, ``AgentSpecError``,
    ``CheckpointError`` or ``InUseError``, each before anything is written.
    """
    config = open_run(run, overrides)
    run = behind_links(run)
    check_device(config)
    check_opponents(config)
    with sole_use(run), closing(trainer_of(config)(config, run, console)) as trainer:
        trainer.restore()
        for fault in trainer.store.passed_over:
            trainer.display.say(f"passed over: {fault}")
        _check_best(trainer)
        write_description(run, config)
        trainer.run(stop_after)
    return run


def _check_best(trainer: Trainer) -> None:
    """Look now, and not at the end of training, whether the best policy so far can be read; if not, look for another one."""
    if trainer.best["score"] is None:
        return
    try:
        read_tensors(trainer.folder / FOLDER / BEST)
    except CheckpointError as fault:
        if trainer.share_used(trainer.decisions) >= 1:
            raise CheckpointError(f"{fault}; train on for another best policy, with a larger budget.decisions") from None
        trainer.display.say(f"{fault}: the best policy is the best one from here on")
        trainer.best, trainer.remeasure = {"score": None, "step": None}, False


def trainer_of(config: TrainConfig) -> type[Trainer]:
    """Return the class that trains this configuration. With ``cluster.workers`` this joins the cluster.

    Raises ``ConfigError`` where Ray or the cluster is missing.
    """
    if not config.cluster.workers:
        return Trainer
    if importlib.util.find_spec("ray") is None:
        raise ConfigError(
            f'cluster.workers is {config.cluster.workers}, which needs RLlib: run  pip install "ray[rllib]", '
            "or train in this process with cluster.workers=0"
        )
    from agents.cluster import ClusterTrainer, connect

    connect(config)
    return ClusterTrainer


def check_opponents(config: TrainConfig) -> None:
    """Raise ``AgentSpecError`` for somebody to be measured against who cannot play this game, before training begins."""
    for spec in config.evaluation.opponents:
        make_agent(spec, config.game.rule_set(), config.game.num_players)


def check_device(config: TrainConfig) -> None:
    """Raise ``ConfigError`` for a device that this machine does not have, before the library falls back to another."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device is 'cuda', but torch finds no GPU that it can use here; leave it at device=cpu")
