"""Compares ways to train: the same budget and seeds for each, their best policies measured on the same deals.

    python benchmarks/recipes.py configs/quick.yaml --seeds 0 1 2 --name recipes \
        --variant "teacher: teacher.agent=expert" --variant "all seats: ppo.all_seats=true" budget.decisions=1_500_000

Runs that are there (`runs/NAME-VARIANT-SEED`) are not trained again, so that variants can be added. Intervals are of the mean
over seeds.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from rich.console import Console

from agents.config import load_config
from agents.evaluate import evaluate
from agents.onnx_agent import OnnxAgent
from agents.runs import read_evaluations
from agents.statistics import estimate
from tonk_env.files import atomic_writer

BASE = "base"
LADDER = ["greedy", "drop:20", "drop:24", "expert"]
SEED = 6_000_000  # of the deals: none that training measures with
Runs = dict[tuple[str, int], Path]


def slug(name: str) -> str:
    """Return a variant's name as part of a folder's."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def train(config: str, overrides: list[str], run: Path) -> float:
    """Train one run in a process of its own, unless it is there. Returns its minutes."""
    if not (run / "report" / "evaluation.json").is_file():
        command = [sys.executable, "train.py", config, "--name", run.name, *overrides]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{run} failed:\n{done.stderr[-2000:]}")
    return float(read_evaluations(run)[-1]["seconds"]) / 60


def train_all(
    config: str, variants: dict[str, list[str]], seeds: list[int], shared: list[str], prefix: str, parallel: int
) -> Runs:
    """Train every variant with every seed, seed by seed."""
    runs = {(name, seed): Path("runs") / f"{prefix}-{slug(name)}-{seed}" for seed in seeds for name in variants}
    console, began = Console(stderr=True), time.monotonic()

    def one(key: tuple[str, int]) -> None:
        minutes = train(config, [*shared, *variants[key[0]], f"seed={key[1]}", "threads=1"], runs[key])
        passed = (time.monotonic() - began) / 60
        console.print(f"{passed:5.1f} min: {key[0]}, seed {key[1]}: {minutes:.1f} minutes", markup=False)

    with ThreadPoolExecutor(parallel) as pool:
        list(pool.map(one, runs))
    return runs


def payoffs(run: Path, deals: int) -> list[float]:
    """Return what the run's opponent earns from each of the ladder, in reward units an episode."""
    config = load_config(run / "config.yaml")
    rules, players = config.game.rule_set(), config.game.num_players
    agent = OnnxAgent(run / "opponent.onnx", rules, players, name="trained", greedy=config.evaluation.play == "greedy")
    pairs = [(0, place) for place in range(1, len(LADDER) + 1)]
    result = evaluate([agent, *LADDER], rules, players, deals, SEED, pairs=pairs)
    return [result.against(0, place).mean for _, place in pairs]


def interval(values: np.ndarray) -> str:
    """Return mean and half width of the 95 % interval over seeds."""
    found = estimate(values)
    return f"{found.mean:+.3f} ± {found.half_width:.3f}"


def table(runs: Runs, variants: dict[str, list[str]], seeds: list[int], deals: int) -> tuple[list[str], dict[str, object]]:
    """Return a Markdown table, and the same as plain data."""
    found = {key: payoffs(run, deals) for key, run in runs.items()}
    earned = {name: np.array([found[name, seed] for seed in seeds]) for name in variants}
    lines = [f"| recipe | {' | '.join(LADDER)} | least | least, over {BASE} |", "| --- |" + " --- |" * (len(LADDER) + 2)]
    base = next(iter(earned.values())).min(axis=1)
    for name, values in earned.items():
        least = values.min(axis=1)
        gain = "" if name == next(iter(earned)) else interval(least - base)
        cells = [f"{values[:, place].mean():+.3f}" for place in range(len(LADDER))]
        lines.append(f"| {name} | {' | '.join(cells)} | {interval(least)} | {gain} |")
    return lines, {name: values.tolist() for name, values in earned.items()}


def main() -> None:
    """Read the variants, train, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config")
    parser.add_argument("shared", nargs="*", help="key.subkey=value for all runs")
    parser.add_argument("--variant", action="append", default=[], help='"name: key.subkey=value …"')
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--name", default="recipes", help="begins the names of the run folders")
    parser.add_argument("--deals", type=int, default=10_000)
    parser.add_argument("--parallel", type=int, default=2)
    args = parser.parse_intermixed_args()
    told = (text.partition(":") for text in args.variant)
    variants = {BASE: []} | {name.strip(): shlex.split(keys) for name, _, keys in told}
    runs = train_all(args.config, variants, args.seeds, args.shared, args.name, args.parallel)
    lines, data = table(runs, variants, args.seeds, args.deals)
    Console().print("\n".join(lines), markup=False, soft_wrap=True)
    with atomic_writer(Path("runs") / f"{args.name}.json") as stream:
        told_all = {"ladder": LADDER, "seeds": args.seeds, "deals": args.deals, "variants": variants, "earned": data}
        json.dump(told_all, stream, indent=1)


if __name__ == "__main__":
    main()
