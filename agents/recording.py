"""Lets agents play at one table, hand after hand, for records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from agents.base import Agent, AgentSpecError
from agents.specs import make_agent
from tonk_env.rules import RuleSet
from tonk_env.table import HandResult, Table


def record_hands(
    specs: Sequence[str | Agent],
    rules: RuleSet,
    num_players: int,
    hands: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[HandResult]:
    """Yield ``hands`` finished hands in the order they were dealt, those settled on the deal too.

    ``specs`` names one agent for each seat, or one for all of them. The match in play when the last hand is reached is
    not played to its end. Equal arguments give equal hands. Raises ``AgentSpecError``.
    """
    agents = seat_agents(specs, rules, num_players, seed)
    table = Table(rules, num_players, seed=seed)
    done = 0
    while done < hands:
        for hand in _next_hands(table, agents):
            yield hand
            done += 1
            progress(done, hands)
            if done == hands:
                return


def seat_agents(specs: Sequence[str | Agent], rules: RuleSet, num_players: int, seed: int) -> list[Agent]:
    """Return an agent for each seat, each with a generator of its own."""
    if len(specs) not in (1, num_players):
        raise AgentSpecError(
            f"{len(specs)} agents are named for {num_players} seats; name one for each seat, or one for all of them"
        )
    every = list(specs) * (num_players if len(specs) == 1 else 1)
    seeds = np.random.SeedSequence(seed).generate_state(num_players, np.uint32)
    return [make_agent(spec, rules, num_players, seed=int(own)) for spec, own in zip(every, seeds, strict=True)]


def choose(agent: Agent, table: Table) -> int:
    """Return the action that an agent chooses for the seat on turn."""
    observation, mask = table.observation(table.seat), table.action_mask
    rows = np.array([table.seat], dtype=np.int64)
    return int(agent.act(observation[None], mask[None], rows=rows)[0])


def _next_hands(table: Table, agents: Sequence[Agent]) -> Iterator[HandResult]:
    """Play on until at least one hand has ended, and yield those that have."""
    if table.over:
        table.reset()
        for seat, agent in enumerate(agents):
            agent.reset(np.array([seat], dtype=np.int64))
        yield from table.opened
    finished: list[HandResult] = []
    while not finished:
        finished = table.step(choose(agents[table.seat], table))
    yield from finished
