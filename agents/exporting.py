"""From a run folder to an opponent file: which policy, and what its card says about where it comes from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.card import make_card
from agents.checkpoint import FOLDER, CheckpointError, CheckpointStore, read_checkpoint, read_tensors
from agents.config import TrainConfig
from agents.export import export_policy
from agents.network import Network, NetworkAgent
from agents.run_state import load_weights, policy_network
from agents.runs import BEST, CONFIG, REPORT, RunError, open_run, read_evaluations, read_origin, utc_now, versions
from tonk_env.rules import RuleSet


def export_network(
    network: Network,
    path: Path,
    config: TrainConfig,
    run: str,
    step: int,
    strength: dict[str, Any],
    folder: Path | None = None,
) -> Path:
    """Write a network of a run as an opponent; ``step`` is the number of decisions it was trained on.

    ``folder`` is the run's, from which the card takes the commit and the log; a file that is written into the folder of its
    run finds it there. Without one, as for a trained best response, both say that nothing is known.
    """
    provenance = {
        "run": run,
        "decisions": step,
        "seed": config.seed,
        "play": config.evaluation.play,
        "date": utc_now(),
        **_record(folder if folder is not None else _own_folder(path, run)),
        "versions": versions(),
        "config": config.model_dump(mode="json"),
    }
    return export_policy(network, path, make_card(config.game.rule_set(), config.game.num_players, provenance, strength))


def _own_folder(path: Path, run: str) -> Path | None:
    """Return the folder of a file if it is that of the run."""
    folder = path.parent
    return folder if folder.name == run and (folder / CONFIG).is_file() else None


def _record(folder: Path | None) -> dict[str, Any]:
    """Return the commit that a run was started from, and its evaluations as a log: decisions, seconds, score, payoffs."""
    if folder is None:
        return {"commit": None, "log": []}
    log = [
        {"decisions": line["step"], **{key: line[key] for key in ("seconds", "score", "payoffs") if key in line}}
        for line in read_evaluations(folder)
    ]
    return {**read_origin(folder), "log": log}


def export_run(run: Path, output: Path) -> Path:
    """Write the best policy of a run folder, or the policy of one checkpoint in it, as an opponent. Returns ``output``.

    A run without an evaluation yet gives its newest policy. Raises ``RunError``, ``ConfigError``, ``CheckpointError``, or
    ``OSError`` if the file cannot be written.
    """
    if run.parent.name == FOLDER and (run.is_dir() or run.name == BEST):
        folder = run.parent.parent
        return _export_best(folder, output) if run.name == BEST else _export_checkpoint(folder, run, output)
    config = open_run(run)
    if (run / FOLDER / BEST).is_file():
        return _export_best(run, output)
    checkpoint = CheckpointStore(run, config.checkpoints.keep).load()
    return export_network(policy_network(config, checkpoint), output, config, run.name, checkpoint.meta["step"], {}, run)


def _export_best(folder: Path, output: Path) -> Path:
    config = open_run(folder)
    best = read_tensors(folder / FOLDER / BEST)
    if not {"weights", "step"} <= set(best):
        raise CheckpointError(f"{folder / FOLDER / BEST} holds no policy of a run")
    measured = folder / REPORT / "strength.json"
    strength = json.loads(measured.read_text(encoding="utf-8")) if measured.is_file() else {}
    network = load_weights(config, best["weights"])
    return export_network(network, output, config, folder.name, int(best["step"]), strength, folder)


def _export_checkpoint(folder: Path, checkpoint: Path, output: Path) -> Path:
    config = open_run(folder)
    loaded = read_checkpoint(checkpoint)
    return export_network(policy_network(config, loaded), output, config, folder.name, loaded.meta["step"], {}, folder)


def checkpoint_agents(run: Path, rules: RuleSet, num_players: int) -> list[tuple[int, Callable[[], NetworkAgent]]]:
    """Return (decisions, how to load the agent) for every checkpoint of a run, the oldest first.

    Raises ``RunError`` if the run plays another game or holds none; loading raises ``CheckpointError``.
    """
    config = open_run(run)
    if config.game.rule_set() != rules or config.game.num_players != num_players:
        raise RunError(f"{run} was trained in {config.game.rules} with {config.game.num_players} players, not in this game")

    def loader(folder: Path) -> Callable[[], NetworkAgent]:
        return lambda: NetworkAgent(policy_network(config, read_checkpoint(folder)), folder.name)

    folders = CheckpointStore(run, config.checkpoints.keep).folders()
    if not folders:
        raise RunError(f"{run} holds no checkpoints")
    return [(int(folder.name), loader(folder)) for folder in folders]
