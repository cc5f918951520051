"""Trains a best response: MaskablePPO against one frozen agent, to find out how much can be won from it in any rule set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from agents.base import Actions, Agent, Masks, Observations
from agents.config import TrainConfig, parse_config
from agents.evaluate import evaluate, unit_of
from agents.exporting import export_network
from agents.measure import plain
from agents.network import Network, NetworkAgent, frozen_copy
from agents.pool import EXTERNAL, Draw
from agents.ppo import TonkPPO
from agents.selfplay import SelfPlayVecEnv
from agents.specs import make_agent
from agents.statistics import Estimate
from tonk_env.rules import RuleSet

Progress = Callable[[int, int], None]
CHECKS = 10  # times the response is measured while it learns; the best of these is what counts
CHOICE, FINAL = 2_000_000, 2_000_001  # seeds: deals that choose a response never measure it
TABLES, STEPS, MINIBATCH = 1024, 32, 4096


@dataclass(frozen=True)
class Response:
    """What a trained best response earns from the agent, in reward units an episode.

    ``profit`` is measured on fresh deals, each in all seatings; ``curve`` holds (decisions, estimate) on the deals that
    chose the response; ``chosen_at`` is the number of decisions of the one that was chosen. A profit is a lower bound of
    what can be won: a better learner, or a longer training, may find more.
    """

    agent: str
    budget: int
    profit: Estimate
    curve: tuple[tuple[int, Estimate], ...]
    chosen_at: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers for JSON."""
        return {
            **asdict(self),
            "profit": self.profit.to_dict(),
            "curve": [{"decisions": step, **one.to_dict()} for step, one in self.curve],
        }


class FixedPool:
    """Opponents for ``SelfPlayVecEnv``: the frozen agent in every other seat, inside the compiled loop where it can be."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.kinds = [agent.name]

    def draw(self, shape: tuple[int, ...]) -> Draw:
        """Return the agent for every seat of an array of seats."""
        kind, param = self.agent.compiled or (EXTERNAL, 0)
        member = 0 if self.agent.compiled is None else -1
        return Draw(
            np.full(shape, member, np.int64), np.zeros(shape, np.int64), np.full(shape, kind, np.int8),
            np.full(shape, param, np.int16),
        )  # fmt: skip

    def act(self, members: NDArray[np.int64], observations: Observations, masks: Masks) -> Actions:
        """Return int64[B], the agent's choices."""
        return self.agent.act(observations, masks)


def response_config(rules: RuleSet, num_players: int, budget: int, seed: int, settings: list[str] | None = None) -> TrainConfig:
    """Return the training configuration of a response; ``settings`` are ``key.subkey=value`` texts. Raises ``ConfigError``."""
    steps = min(STEPS, max(1, budget // TABLES))
    told = rules.to_dict()
    data = {
        "seed": seed,
        "game": {"rules": told["preset"], "options": told["set"], "num_players": num_players},
        "budget": {"decisions": budget},
        "network": {"torso": [256, 256]},
        "ppo": {
            "num_tables": TABLES, "steps": steps, "minibatch": min(MINIBATCH, TABLES * steps), "epochs": 3,
            "learning_rate": 1e-3, "entropy": 0.03, "entropy_end": 0.0, "clip": 0.2,
        },
        "evaluation": {"deals": 4000, "final_deals": 20_000},
    }  # fmt: skip
    return parse_config(data, settings or [], "the response's configuration")


def train_response(
    spec: str | Agent,
    rules: RuleSet,
    num_players: int,
    config: TrainConfig,
    progress: Progress | None = None,
    output: Path | None = None,
) -> Response:
    """Train against ``spec`` for the configuration's budget and return what the best response found earns.

    ``progress`` is called with decisions taken and to be taken; ``output`` is where the response is exported to. Raises
    ``AgentSpecError`` for what is no agent of this game and ``FloatingPointError`` if training diverges.
    """
    torch.set_num_threads(config.threads)
    frozen = make_agent(spec, rules, num_players, seed=config.seed)
    env = SelfPlayVecEnv(rules, num_players, config.ppo.num_tables, FixedPool(frozen), config.seed)  # type: ignore[arg-type]
    budget = config.budget.decisions
    model = TonkPPO(config, env, lambda step: min(1.0, step / budget))
    model.set_logger(Logger(None, []))
    learner = _Learner(frozen, config, budget, progress)
    learner.judge(frozen_copy(model.policy), 0)
    model.learn(budget, learner, log_interval=None)  # type: ignore[arg-type]
    learner.judge(frozen_copy(model.policy), model.num_timesteps)
    profit = _profit(learner.best, frozen, config, FINAL, config.evaluation.final_deals)
    response = Response(frozen.name, budget, profit, tuple(learner.curve), learner.chosen_at)
    if output is not None:
        export_network(learner.best, output, config, f"best response to {frozen.name}", learner.chosen_at, {
            "unit": unit_of(rules).reward, "deals": config.evaluation.final_deals, "seed": FINAL,
            "payoffs": {frozen.name: plain(profit)},
        })  # fmt: skip
    return response


def _profit(network: Network, frozen: Agent, config: TrainConfig, seed: int, deals: int) -> Estimate:
    """Return what a network earns alone among copies of the frozen agent."""
    agent = NetworkAgent(network, "response", greedy=True)  # a best response has no need of chance
    rules, players = config.game.rule_set(), config.game.num_players
    return evaluate([agent, frozen], rules, players, deals, seed, pairs=[(0, 1)]).against(0, 1)


class _Learner(BaseCallback):
    """Shows progress and measures the response now and then, keeping the best one."""

    def __init__(self, frozen: Agent, config: TrainConfig, budget: int, progress: Progress | None) -> None:
        super().__init__()
        self.frozen, self.config, self.budget, self.progress = frozen, config, budget, progress
        self.curve: list[tuple[int, Estimate]] = []
        self.best: Network
        self.chosen_at = 0

    def judge(self, network: Network, step: int) -> None:
        """Measure a network and keep it if it earns most so far."""
        measured = _profit(network, self.frozen, self.config, CHOICE, self.config.evaluation.deals)
        if all(measured.mean > before.mean for _, before in self.curve):
            self.best, self.chosen_at = network, step
        self.curve.append((step, measured))

    def _on_step(self) -> bool:
        if self.progress is not None:
            self.progress(min(self.num_timesteps, self.budget), self.budget)
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= len(self.curve) * self.budget / CHECKS:
            self.judge(frozen_copy(self.model.policy), self.num_timesteps)  # type: ignore[arg-type]
