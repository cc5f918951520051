"""Measures the learner: paired evaluations during training and the final one with its report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from math import isfinite
from pathlib import Path
from typing import Any

from agents.base import Agent
from agents.config import TrainConfig
from agents.evaluate import Evaluation, evaluate
from agents.runs import REPORT
from agents.specs import parse_spec
from agents.statistics import Estimate
from tonk_env.files import atomic_writer

Progress = Callable[[int, int], None]
CHOICE, FINAL = 1, 2  # added to the evaluation's seed: deals that choose an opponent never measure against it


def measure(
    agent: Agent, opponents: Sequence[str], config: TrainConfig, progress: Progress | None = None, shift: int = 0
) -> dict[str, Estimate]:
    """Return the agent's mean reward against each opponent, every time on the same deals."""
    rules, setting = config.game.rule_set(), config.evaluation
    result = evaluate(
        [agent, *opponents],
        rules,
        config.game.num_players,
        setting.deals,
        setting.seed + shift,
        progress,
        pairs=[(0, place) for place in range(1, len(opponents) + 1)],
    )
    return {spec: result.against(0, place) for place, spec in enumerate(opponents, 1)}


def yardstick(config: TrainConfig) -> dict[str, Any]:
    """Return what a score depends on besides the policy, as plain data: scores of different ones do not compare."""
    setting = config.evaluation
    return {"opponents": setting.opponents, "deals": setting.deals, "seed": setting.seed, "play": setting.play}


def score(payoffs: dict[str, Estimate]) -> float:
    """Return the number by which policies are compared: the payoff against the opponent that is hardest to beat."""
    return min(estimate.mean for estimate in payoffs.values())


def score_error(payoffs: dict[str, Estimate]) -> float:
    """Return the standard error of the score, 0 where a single deal tells nothing of it."""
    error = min(payoffs.values(), key=lambda estimate: estimate.mean).error
    return error if isfinite(error) else 0.0


def hardest_drop(agent: Agent, config: TrainConfig, progress: Progress | None = None) -> str:
    """Return the ``drop:N`` against which the agent earns least, among those of the configuration."""
    specs = [f"drop:{count}" for count in config.evaluation.drop_range]
    payoffs = measure(agent, specs, config, progress, CHOICE)
    return min(specs, key=lambda spec: payoffs[spec].mean)


def final_evaluation(agent: Agent, config: TrainConfig, drop: str, progress: Progress | None = None) -> Evaluation:
    """Return the payoff matrix of the agent and those of ``final_opponents``, on fresh deals.

    Everybody meets everybody, but opponents that are not compiled (say ``champion`` or a file) meet only the agent: they are
    there for what it earns from them, and slow.
    """
    opponents = final_opponents(config, drop)
    inside = [False, *(parse_spec(spec).inside for spec in opponents)]
    meetings = (combinations if config.game.num_players == 2 else permutations)(range(len(inside)), 2)
    return evaluate(
        [agent, *opponents],
        config.game.rule_set(),
        config.game.num_players,
        config.evaluation.final_deals,
        config.evaluation.seed + FINAL,
        progress,
        pairs=[(one, two) for one, two in meetings if 0 in (one, two) or (inside[one] and inside[two])],
    )


def final_opponents(config: TrainConfig, drop: str) -> list[str]:
    """Return whom the final table holds beside the agent: ``random``, ``greedy``, the hardest ``drop:N``, then the others of
    ``evaluation.opponents``, nobody twice."""
    wanted = ["random", "greedy", drop, *config.evaluation.opponents]
    return list(dict.fromkeys(parse_spec(spec).text for spec in wanted))


def strength(evaluation: Evaluation, player: int = 0) -> dict[str, Any]:
    """Return the player's payoffs as plain data for a card: unit, deals, seed, and mean and interval by opponent."""
    return {
        "unit": evaluation.unit.reward,
        "deals": evaluation.deals,
        "seed": evaluation.seed,
        "payoffs": {
            evaluation.names[opponent]: plain(estimate)
            for (one, opponent), estimate in evaluation.estimates.items()
            if one == player and opponent >= 0
        },
    }


def plain(estimate: Estimate) -> dict[str, Any]:
    """Return mean and interval, rounded, for logs and cards."""
    return {"mean": round(estimate.mean, 5), "low": round(estimate.low, 5), "high": round(estimate.high, 5)}


def write_report(run: Path, evaluation: Evaluation) -> Path:
    """Write the evaluation as JSON, text and picture into the run's report folder. Returns the folder."""
    folder = run / REPORT
    folder.mkdir(exist_ok=True)
    evaluation.to_json(folder / "evaluation.json")
    with atomic_writer(folder / "evaluation.txt") as stream:
        stream.write(evaluation.text())
    with atomic_writer(folder / "strength.json") as stream:
        json.dump(strength(evaluation), stream, indent=1)
    evaluation.plot(folder / "evaluation.png")
    return folder
