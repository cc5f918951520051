"""Our side of every comparison: functions that play a little through one door and say how many decisions that were.

Play is random among the legal moves, and observation and mask are written or fetched at every decision.
"""

from __future__ import annotations

from random import Random
from typing import Any

import gymnasium
import numpy as np
from measuring import Stepper

import tonk_env  # noqa: F401 - registers the Gymnasium environments
from tonk_env import tonk_v0
from tonk_env.batch import RANDOM, Batch, choose_from_observations
from tonk_env.rules import make_rules
from tonk_env.table import Table

TABLES = 1024  # of a batch: enough that the loop around it does not matter
DRAWS = np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))  # every compiled decision adds its inverse to a table's stream
CHUNK = 256  # decisions in one call of a stepper that plays them one by one


def batch(rules: str = "points", players: int = 2, tables: int = TABLES, **options: Any) -> Stepper:
    """Choice and step compiled, for all tables at once."""
    game = new_batch(rules, players, tables, **options)

    def step() -> int:
        game.step(game.choose_random())
        return tables

    return step


def new_batch(rules: str, players: int, tables: int, **options: Any) -> Batch:
    """A batch in the middle of its hands, so that tables are at different moments."""
    game = Batch(make_rules(rules, **options), players, tables, seed=0)
    game.reset()
    for _ in range(32):
        game.step(game.choose_random())
    return game


def bare_writing(rules: str = "points", players: int = 2, tables: int = TABLES, **options: Any) -> Stepper:
    """Fill the same observations and masks with a constant and do nothing else: no engine can write them faster."""
    game = Batch(make_rules(rules, **options), players, tables, seed=0)

    def step() -> int:
        game.observations.fill(1)
        game.action_masks.fill(1)
        return tables

    return step


def table(rules: str = "points", players: int = 2, **options: Any) -> Stepper:
    """One table moved from Python, no RL interface around it."""
    game, random = Table(make_rules(rules, **options), players, seed=0), Random(0).random
    game.reset()

    def step() -> int:
        for _ in range(CHUNK):
            if game.over:
                game.reset()
            seen = game.observation(game.seat), game.action_mask, game.legal_actions()
            legal = seen[2]
            game.step(int(legal[int(random() * len(legal))]))
        return CHUNK

    return step


def aec(raw: bool = False, rules: str = "points", players: int = 2, **options: Any) -> Stepper:
    """The loop of PettingZoo's documentation, with all its wrappers or raw."""
    make = tonk_v0.raw_env if raw else tonk_v0.env
    return aec_loop(make(make_rules(rules, **options), players), masked_action)


def aec_loop(env: Any, choose: Any) -> Stepper:
    """Play any turn-based PettingZoo environment; ``choose(observation, random)`` gives the action. Only moves count."""
    random = Random(0).random
    env.reset(seed=0)

    def step() -> int:
        moves = 0
        while moves < CHUNK:
            if not env.agents:
                env.reset()
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(choose(observation, random))
            moves += 1
        return moves

    return step


def masked_action(observation: Any, random: Any) -> int:
    """A uniformly random legal action; NumPy finds what is not zero twice as fast in booleans."""
    legal = observation["action_mask"].view(bool).nonzero()[0]
    return int(legal[int(random() * len(legal))])


def single(checked: bool = False, opponents: str = "greedy") -> Stepper:
    """Gymnasium, one learner; its own decisions are counted. ``checked``: with the checker that make() adds by itself."""
    env = gymnasium.make("tonk_env/Tonk-v0", rules="points", opponents=opponents, disable_env_checker=not checked)
    random = Random(0).random
    now = {"observation": env.reset(seed=0)[0]}

    def step() -> int:
        observation = now["observation"]
        for _ in range(CHUNK):
            observation, _, terminated, truncated, _ = env.step(masked_action(observation, random))
            if terminated or truncated:
                observation = env.reset()[0]
        now["observation"] = observation
        return CHUNK

    return step


def vector(tables: int = TABLES, opponents: str = "greedy") -> Stepper:
    """Gymnasium with many tables; a learner's decisions at all of them are counted, its compiled random choice included."""
    envs: Any = gymnasium.make_vec("tonk_env/Tonk-v0", num_envs=tables, rules="points", opponents=opponents)
    layout = envs.unwrapped.layout
    now = {"observation": envs.reset(seed=0)[0], "drawn": 0}

    def step() -> int:
        seen = now["observation"]
        actions = choose_from_observations(layout, RANDOM, 0, seen["observation"], seen["action_mask"], 1, now["drawn"])
        now["drawn"] += tables
        now["observation"] = envs.step(actions)[0]
        return tables

    return step


def heuristic(spec: str, tables: int = TABLES) -> Stepper:
    """All seats played by a compiled player, episode after episode. Raises AgentSpecError for a player that is none."""
    from agents.specs import make_agent

    rules = make_rules("points", match="hands")
    compiled = make_agent(spec, rules, 2).compiled
    if compiled is None:
        raise ValueError(f"{spec} has no compiled form")
    game = Batch(rules, 2, tables, seed=0, autoreset=False)
    game.set_players(np.full((tables, 2), compiled[0]), np.full((tables, 2), compiled[1]))

    def step() -> int:
        before = game.tables["choice"].copy()
        game.run()
        return int(((game.tables["choice"] - before) * DRAWS).sum())

    return step
