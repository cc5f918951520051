"""Compiled loops over a game tree: values, best responses, regrets. They call nothing in other files, so Numba's cache is safe.

The arrays are those of ``tonk_env.tree.GameTree``. Gains and values are in reward units, probabilities are unchecked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """Compile, kept on disk; Numba notices by itself when this file changes."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


@jit
def expect(first_edge, target, slot, weight, info, first_slot, policy, values):
    """``values[m]`` = what seat 0 may expect at each node."""
    for node in range(values.shape[0] - 1, -1, -1):
        base, total = first_slot[info[node]], 0.0
        for edge in range(first_edge[node], first_edge[node + 1]):
            gain = weight[edge] if target[edge] < 0 else weight[edge] * values[target[edge]]
            total += policy[base + slot[edge]] * gain
        values[node] = total


@jit
def spread_others(first_edge, target, slot, weight, info, first_slot, turn, policy, seat, others):
    """``others[m]`` = probability with which chance and the other seat lead to each node."""
    for node in range(others.shape[0]):
        here = info[node]
        base, mine = first_slot[here], turn[here] == seat
        for edge in range(first_edge[node], first_edge[node + 1]):
            if target[edge] >= 0:
                share = 1.0 if mine else policy[base + slot[edge]]
                others[target[edge]] = others[node] * weight[edge] * share


@jit
def respond(levels, first_edge, target, slot, weight, info, first_slot, turn, policy, seat, others, gains, response, values):
    """Choose the best move of every information set, from the last level up; ``values[m]`` is for ``seat``."""
    sign = 1.0 if seat == 0 else -1.0
    for level in range(levels.shape[0] - 2, -1, -1):
        for node in range(levels[level], levels[level + 1]):
            here = info[node]
            base, total = first_slot[here], 0.0
            for edge in range(first_edge[node], first_edge[node + 1]):
                gain = sign * weight[edge] if target[edge] < 0 else weight[edge] * values[target[edge]]
                if turn[here] == seat:
                    gains[base + slot[edge]] += others[node] * gain
                else:
                    total += policy[base + slot[edge]] * gain
            values[node] = total
        for node in range(levels[level], levels[level + 1]):
            here = info[node]
            if turn[here] != seat:
                continue
            base, best = first_slot[here], first_slot[here]
            for at in range(base, first_slot[here + 1]):
                if gains[at] > gains[best]:
                    best = at
            response[best] = 1.0
            total = 0.0
            for edge in range(first_edge[node], first_edge[node + 1]):
                if base + slot[edge] == best:
                    total += sign * weight[edge] if target[edge] < 0 else weight[edge] * values[target[edge]]
            values[node] = total


@jit
def spread_both(first_edge, target, slot, weight, info, first_slot, turn, policy, seat, mine, others):
    """Probabilities with which ``seat`` itself, and chance with the other seat, lead to each node."""
    for node in range(others.shape[0]):
        here = info[node]
        base, own = first_slot[here], turn[here] == seat
        for edge in range(first_edge[node], first_edge[node + 1]):
            to = target[edge]
            if to >= 0:
                share = policy[base + slot[edge]]
                mine[to] = mine[node] * share if own else mine[node]
                others[to] = others[node] * weight[edge] if own else others[node] * weight[edge] * share


@jit
def add_regrets(first_edge, target, slot, weight, info, first_slot, turn, policy, seat, mine, others, values, gains, own):
    """Add up the counterfactual regrets of ``seat`` in ``gains`` and its own probabilities of reaching each set in ``own``.

    With perfect recall the latter are equal for all nodes of a set, so that their sum weighs iterations as one of them does.
    """
    sign = 1.0 if seat == 0 else -1.0
    for node in range(values.shape[0] - 1, -1, -1):
        here = info[node]
        base, total, learning = first_slot[here], 0.0, turn[here] == seat
        for edge in range(first_edge[node], first_edge[node + 1]):
            to = target[edge]
            gain = sign * weight[edge] if to < 0 else weight[edge] * values[to]
            total += policy[base + slot[edge]] * gain
            if learning:
                gains[base + slot[edge]] += others[node] * gain
        values[node] = total
        if learning:
            own[here] += mine[node]
            for at in range(base, first_slot[here + 1]):
                gains[at] -= others[node] * total


@jit
def learn(first_slot, turn, seat, weight, own, gains, regrets, policy, sums):
    """Add the current policy of ``seat`` to the average, then match the regrets."""
    for here in range(turn.shape[0]):
        if turn[here] != seat:
            continue
        first, last = first_slot[here], first_slot[here + 1]
        total = 0.0
        for at in range(first, last):
            sums[at] += weight * own[here] * policy[at]
            regrets[at] = max(regrets[at] + gains[at], 0.0)
            gains[at] = 0.0
            total += regrets[at]
        for at in range(first, last):
            policy[at] = regrets[at] / total if total > 0 else 1.0 / (last - first)
        own[here] = 0.0
