"""Run folders: their names and the files in them that describe a run."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents.config import ConfigError, TrainConfig, dump_config, parse_config, read_yaml, settings_of
from tonk_env.files import atomic_writer

RUNS = Path("runs")
CONFIG, VERSIONS, ORIGIN, EVALUATIONS, OPPONENT, REPORT, BEST = (
    "config.yaml",
    "versions.json",
    "origin.json",
    "evaluation.jsonl",
    "opponent.onnx",
    "report",
    "best.pt",
)
FIXED = ("seed", "game", "network", "ppo.num_tables")  # keys and sections that a resumed run cannot change
LIBRARIES = ("numpy", "numba", "torch", "stable-baselines3", "sb3-contrib", "gymnasium", "onnx", "onnxruntime", "ray")


class RunError(ValueError):
    """A run folder that cannot be made or used; the message is one sentence."""


def create_run(config: TrainConfig, config_name: str, name: str | None = None, runs: Path = RUNS) -> Path:
    """Make the folder of a new run, with its configuration, versions and origin in it, and point ``runs/latest`` to it.

    Without a name it is ``<preset>__<configuration>__<seed>__<time>``. Raises ``RunError`` if the name is taken or bad.
    """
    if name is not None and (not name or Path(name).name != name or name.startswith(".")):
        raise RunError(f"{name!r} cannot be the name of a run: give a plain folder name, it goes under {runs}")
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = runs / (name or f"{config.game.rules}__{config_name}__{config.seed}__{stamp}")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise RunError(f"the run {folder} exists; continue it with --resume {folder} or choose another --name") from None
    except OSError as error:
        raise RunError(f"cannot make the folder {folder}: {error.strerror or error}") from None
    write_description(folder, config)
    with atomic_writer(folder / ORIGIN) as stream:
        json.dump({"commit": _commit(), "date": utc_now()}, stream, indent=2)
    _point_latest(runs, folder)
    return folder


def write_description(folder: Path, config: TrainConfig) -> None:
    """Write ``config.yaml`` and ``versions.json``."""
    with atomic_writer(folder / CONFIG) as stream:
        stream.write(dump_config(config))
    with atomic_writer(folder / VERSIONS) as stream:
        json.dump(versions(), stream, indent=2)


def read_origin(folder: Path) -> dict[str, Any]:
    """Return what the run was started from: ``commit``, None outside git, with -dirty behind it where files differed.

    Runs of earlier versions have no such file; there it is the commit that went on with the run last.
    """
    for name in (ORIGIN, VERSIONS):
        with suppress(OSError, ValueError):
            found = json.loads((folder / name).read_text(encoding="utf-8"))
            if isinstance(found, dict) and "commit" in found:
                return {"commit": found["commit"]}
    return {"commit": None}


def utc_now() -> str:
    """Return the time as cards and records have it, such as ``2025-01-31T12:00:00Z``."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def open_run(folder: Path, overrides: list[str] | None = None) -> TrainConfig:
    """Return the configuration of an existing run, with overrides on top.

    Raises ``RunError`` or ``ConfigError``, the latter also for overrides of what is fixed for a run (``FIXED``).
    """
    if not folder.is_dir():
        raise RunError(f"there is no run folder {folder}")
    if not (folder / CONFIG).is_file():
        raise RunError(f"{folder} is not a run folder: it holds no {CONFIG}")
    stored = read_yaml(folder / CONFIG)
    config = parse_config(stored, overrides or [], str(folder / CONFIG))
    if overrides:
        _refuse_changes(parse_config(stored, (), str(folder / CONFIG)), config, folder)
    return config


def behind_links(folder: Path) -> Path:
    """Return the folder that a link such as ``runs/latest`` leads to: its name is the run's, and stays so."""
    while folder.is_symlink():
        folder = folder.parent / folder.readlink()
    return folder


def _refuse_changes(before: TrainConfig, after: TrainConfig, folder: Path) -> None:
    """Refuse another value of what is fixed for a run; the same rules in other words are no change."""
    same_rules = before.game.rule_set() == after.game.rule_set()
    if bool(before.cluster.workers) != bool(after.cluster.workers):
        raise ConfigError(
            f"cluster.workers cannot go from {before.cluster.workers} to {after.cluster.workers} in {folder}: with RLlib or "
            "without it, a run stays as it was begun; start a new run for the other"
        )
    guesses = bool(before.ppo.belief_coef), bool(after.ppo.belief_coef)
    if guesses[0] != guesses[1]:
        raise ConfigError(
            f"ppo.belief_coef cannot go from {before.ppo.belief_coef} to {after.ppo.belief_coef} in {folder}: a run has the "
            "head that guesses cards from its start or never; start a new run for it"
        )
    old, new = settings_of(before), settings_of(after)
    for key in old:
        fixed = any(key == name or key.startswith(f"{name}.") for name in FIXED)
        if fixed and old[key] != new[key] and not (same_rules and key in ("game.rules", "game.options")):
            raise ConfigError(
                f"{key} is fixed for a run: it is {old[key]!r} in {folder}, not {new[key]!r}; start a new run for it"
            )


def versions() -> dict[str, Any]:
    """Return the versions of Python, the machine's kind, the project, its commit where there is one, and the libraries."""
    import tonk_env

    found: dict[str, Any] = {"python": platform.python_version(), "platform": platform.platform()}
    found["tonk_env"] = getattr(tonk_env, "__version__", None)
    found["commit"] = _commit()
    for library in LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[library] = importlib.metadata.version(library)
    return found


def append_evaluation(folder: Path, line: dict[str, Any]) -> None:
    """Add one line to ``evaluation.jsonl``."""
    with (folder / EVALUATIONS).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def read_evaluations(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of ``evaluation.jsonl``; a last line that was cut off is left out."""
    path = folder / EVALUATIONS
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        with suppress(ValueError):
            lines.append(json.loads(text))
    return lines


def forget_evaluations(folder: Path, step: int) -> list[dict[str, Any]]:
    """Drop the lines that were written after ``step`` decisions, and return the rest."""
    kept = [line for line in read_evaluations(folder) if line["step"] <= step]
    with atomic_writer(folder / EVALUATIONS) as stream:
        stream.writelines(json.dumps(line) + "\n" for line in kept)
    return kept


def _commit() -> str | None:
    """The commit of the project's own checkout, marked where files differ from it."""
    here = Path(__file__).resolve().parents[1]
    if not (here / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12", "--match="],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _point_latest(runs: Path, folder: Path) -> None:
    """Let ``runs/latest`` lead to the newest run, where the system has symbolic links."""
    link = runs / "latest"
    with suppress(OSError, NotImplementedError):
        if link.is_symlink() or not link.exists():
            part = runs / f".latest.{os.getpid()}"
            part.symlink_to(folder.name, target_is_directory=True)
            part.replace(link)
