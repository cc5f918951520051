"""What an agent does at every information set of a game tree, as probabilities: the ground on which it is solved against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, AgentSpecError, Masks, Observations
from tonk_env.batch import RANDOM
from tonk_env.tree import GameTree

CHUNK = 4096  # observations an agent is asked about at once
PROBES = (1, 2, 3)  # seeds with which an agent of unknown kind is asked; if it draws, the answers differ


class UnknownPolicyError(AgentSpecError):
    """An agent whose probabilities cannot be found out; the message is one sentence."""


def policy_on(tree: GameTree, agent: Agent, progress: Callable[[int, int], None] | None = None) -> NDArray[np.float64]:
    """Return float64[S]: the probability with which the agent makes each move of each information set.

    The agent is asked once for every distinct observation, so it must be one that remembers nothing else. Raises
    ``UnknownPolicyError`` if it draws and does not say with which chances.
    """
    counts = np.diff(tree.first_slot)[tree.look_info]
    starts = np.cumsum(counts) - counts
    of_look = np.zeros(counts.sum())
    for first in range(0, tree.num_looks, CHUNK):
        last = min(first + CHUNK, tree.num_looks)
        observations, masks = tree.looks(first, last)
        chances = chances_of(agent, observations, masks)
        rows, slots = tree.moves_of(tree.look_info[first:last])
        of_look[starts[first] : starts[first] + len(rows)] = chances[rows, tree.actions[slots]]
        if progress is not None:
            progress(last, tree.num_looks)
    sets = np.arange(tree.num_infos, dtype=np.int32)
    rows, slots = tree.moves_of(sets)
    policy: NDArray[np.float64] = of_look[starts[tree.look][rows] + slots - tree.first_slot[:-1][rows]]
    return policy


def chances_of(agent: Agent, observations: Observations, masks: Masks) -> NDArray[np.float64]:
    """Return float64[B, A], the probability with which an agent chooses each action.

    Known are agents with a method ``probabilities(observations, masks)``, the compiled players, and agents that never
    draw. Raises ``UnknownPolicyError`` for others.
    """
    tell = getattr(agent, "probabilities", None)
    if tell is not None:
        return np.asarray(tell(observations, masks), dtype=np.float64)
    if agent.compiled is not None and agent.compiled[0] == RANDOM:
        return np.asarray(masks / masks.sum(axis=1, keepdims=True), dtype=np.float64)
    answers = []
    for seed in PROBES:
        agent.seed(seed)
        answers.append(agent.act(observations, masks, np.arange(len(masks))))
    if not all((answer == answers[0]).all() for answer in answers):
        raise UnknownPolicyError(
            f"agent {agent.name!r} draws at random and does not say with which chances: it needs a method "
            "`probabilities(observations, masks)` that returns float64[B, A]"
        )
    chances = np.zeros(masks.shape)
    chances[np.arange(len(masks)), answers[0]] = 1.0
    return chances
