"""Solves small games on their whole tree: values, best responses, and the equilibrium by CFR+.

CFR+ is that of Tammelin (2014), "Solving large imperfect information games using CFR+": regrets never fall below zero, the
seats take turns, and the average weighs iteration t by t. NashConv is that of Lanctot et al. (2017), "A unified
game-theoretic approach to multiagent reinforcement learning": what both seats together could gain by a best response. It is
zero in an equilibrium only; half of it is usually called exploitability.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from agents.tree_kernels import add_regrets, expect, learn, respond, spread_both, spread_others
from tonk_env.tree import GameTree

Policy = NDArray[np.float64]


@dataclass(frozen=True)
class Exploitability:
    """How far a policy is from unbeatable, in reward units a hand.

    ``value``: what seat 0, which plays first, earns when both seats play the policy. ``first`` and ``second``: what a best
    response earns as seat 0 and as seat 1 against it.
    """

    value: float
    first: float
    second: float

    @property
    def nash_conv(self) -> float:
        """Sum of what both seats could gain by a best response; 0 in an equilibrium."""
        return self.first + self.second

    def to_dict(self) -> dict[str, float]:
        """Return plain numbers for JSON."""
        return {**asdict(self), "nash_conv": self.nash_conv}


def uniform_policy(tree: GameTree) -> Policy:
    """Return float64[S]: every legal move with the same probability."""
    counts = np.diff(tree.first_slot)
    return np.repeat(1.0 / counts, counts)


def check_policy(tree: GameTree, policy: Policy) -> None:
    """Raise ``ValueError`` unless ``policy`` is float64[S] with probabilities that add up to 1 in every information set."""
    if policy.shape != tree.actions.shape:
        raise ValueError(f"a policy for this tree has {len(tree.actions)} probabilities, not {policy.shape}")
    sums = np.add.reduceat(policy, tree.first_slot[:-1])
    if not (policy >= 0).all() or not np.allclose(sums, 1, atol=1e-6):
        raise ValueError("the probabilities of a policy must be at least 0 and add up to 1 in every information set")


def exploitability(tree: GameTree, policy: Policy) -> Exploitability:
    """Return the value of a policy against itself and what exact best responses earn against it.

    ``policy`` is float64[S]: the probability of each move of each information set (``GameTree.first_slot``).
    """
    check_policy(tree, policy)
    first, second = (best_response(tree, policy, seat)[0] for seat in range(2))
    return Exploitability(value_of(tree, policy, policy), first, second)


def value_of(tree: GameTree, first: Policy, second: Policy) -> float:
    """Return what seat 0 earns when it plays the policy ``first`` and seat 1 plays ``second``, in reward units a hand."""
    both = np.where(np.repeat(tree.turn, np.diff(tree.first_slot)) == 0, first, second)
    values = np.zeros(tree.levels[-1])
    expect(tree.first_edge, tree.target, tree.slot, tree.weight, tree.info, tree.first_slot, both, values)
    return float(values[: tree.levels[1]].mean())


def best_response(tree: GameTree, policy: Policy, seat: int) -> tuple[float, Policy]:
    """Return what an exact best response earns at ``seat`` against ``policy`` at the other, and the response."""
    response = np.zeros_like(policy)
    values, others = np.zeros(tree.levels[-1]), np.zeros(tree.levels[-1])
    others[: tree.levels[1]] = 1.0 / tree.levels[1]
    shape = (tree.first_edge, tree.target, tree.slot, tree.weight, tree.info, tree.first_slot, tree.turn)
    spread_others(*shape, policy, seat, others)
    respond(tree.levels, *shape, policy, seat, others, np.zeros_like(policy), response, values)
    return float(values[: tree.levels[1]].mean()), response


class CFR:
    """CFR+ on a game tree. ``step`` is one iteration, ``average`` the policy that converges to an equilibrium."""

    def __init__(self, tree: GameTree) -> None:
        self.tree, self.iteration = tree, 0
        self.regrets, self._sums = np.zeros(len(tree.actions)), np.zeros(len(tree.actions))
        self._current = uniform_policy(tree)
        self._gains = np.zeros(len(tree.actions))
        self._mine, self._others, self.expect = (np.zeros(tree.levels[-1]) for _ in range(3))
        self._own = np.zeros(tree.num_infos)

    def step(self) -> None:
        """Play one iteration: each seat in turn learns from all of its regrets."""
        tree = self.tree
        self.iteration += 1
        shape = (tree.first_edge, tree.target, tree.slot, tree.weight, tree.info, tree.first_slot, tree.turn)
        deals = tree.levels[1]
        for seat in range(2):
            self._mine[:deals], self._others[:deals] = 1.0, 1.0 / deals
            spread_both(*shape, self._current, seat, self._mine, self._others)
            add_regrets(*shape, self._current, seat, self._mine, self._others, self.expect, self._gains, self._own)
            learn(
                tree.first_slot, tree.turn, seat, float(self.iteration), self._own, self._gains, self.regrets,
                self._current, self._sums,
            )  # fmt: skip

    @property
    def average(self) -> Policy:
        """The average policy, float64[S]; uniform where it never came."""
        policy = uniform_policy(self.tree)
        sums = np.repeat(np.add.reduceat(self._sums, self.tree.first_slot[:-1]), np.diff(self.tree.first_slot))
        np.divide(self._sums, sums, out=policy, where=sums > 0)
        return policy
