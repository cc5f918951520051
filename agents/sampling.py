"""Draws legal actions from the logits of a policy, seeded and never outside the mask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Actions, Masks

LARGEST = 1e8  # of a logit that can be told from one of an illegal action, which is -1e9
NO_ACTION = "a row of the action mask allows no action at all"
DIVERGED = "the policy's logits are not finite, or beyond 1e8: training diverged; lower ppo.learning_rate"


def draw(logits: NDArray[np.float32], masks: Masks, uniforms: NDArray[np.float32]) -> Actions:
    """Return int64[B]: one action a row, drawn with probability softmax(logits) over the legal ones.

    ``logits`` float32[B, A] (illegal entries may hold anything), ``masks`` int8[B, A] with a 1 in every row, ``uniforms``
    float32[B] in [0, 1). The same three give the same actions. Few actions of many are legal, so only those are touched.
    Raises FloatingPointError if a legal one's logit is not finite, or beyond 1e8.
    """
    if len(masks) == 1:
        return _draw_one(logits[0], masks[0], float(uniforms[0]))
    legal, actions, starts = _legal(masks)
    rows = np.repeat(np.arange(len(masks)), np.diff(starts, append=len(legal)))
    values = _finite(logits.ravel()[legal]).astype(np.float64)
    weights = np.exp(values - np.maximum.reduceat(values, starts)[rows])
    reached = np.cumsum(weights)
    before = reached[starts] - weights[starts]
    chosen = np.searchsorted(reached, before + uniforms * np.add.reduceat(weights, starts), side="right")
    last = np.append(starts[1:], len(legal)) - 1
    return actions[np.clip(chosen, starts, last)]


def _draw_one(logits: NDArray[np.float32], mask: NDArray[np.int8], uniform: float) -> Actions:
    """The same for one row, without the work of telling rows apart, which would take longer than a small network."""
    actions = mask.nonzero()[0]
    if not len(actions):
        raise ValueError(NO_ACTION)
    values = _finite(logits[actions]).astype(np.float64)
    weights = np.exp(values - values.max())
    reached = weights.cumsum()
    chosen = reached.searchsorted(uniform * np.add.reduce(weights), side="right")
    return np.array([actions[min(int(chosen), len(actions) - 1)]], dtype=np.int64)


def best(logits: NDArray[np.float32], masks: Masks) -> Actions:
    """Return int64[B]: the legal action with the greatest logit in each row, the first one among equals.

    Raises FloatingPointError if a legal one's logit is not finite, or beyond 1e8.
    """
    _finite(logits.ravel()[np.flatnonzero(masks)])
    return np.asarray(np.argmax(np.where(masks != 0, logits, -np.inf), axis=1), dtype=np.int64)


def probabilities(logits: NDArray[np.float32], masks: Masks, greedy: bool = False) -> NDArray[np.float64]:
    """Return float64[B, A], what ``draw`` draws with (or ``best`` takes, if ``greedy``); 0 where illegal.

    Raises FloatingPointError if a legal one's logit is not finite, or beyond 1e8.
    """
    shares = np.zeros(masks.shape)
    if greedy:
        shares[np.arange(len(masks)), best(logits, masks)] = 1.0
        return shares
    legal, _, starts = _legal(masks)
    counts = np.diff(starts, append=len(legal))
    values = _finite(logits.ravel()[legal]).astype(np.float64)
    weights = np.exp(values - np.repeat(np.maximum.reduceat(values, starts), counts))
    shares.ravel()[legal] = weights / np.repeat(np.add.reduceat(weights, starts), counts)
    return shares


def legal_actions(masks: Masks) -> NDArray[np.int16]:
    """Return int16[B, most legal actions of a row]: each row's legal actions in order, filled up with -1.

    Raises ValueError if a row has none.
    """
    legal, actions, starts = _legal(masks)
    counts = np.diff(starts, append=len(legal))
    lists = np.full((len(masks), int(counts.max())), -1, dtype=np.int16)
    lists[np.arange(lists.shape[1]) < counts[:, None]] = actions
    return lists


def _finite(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same array, once it is known to hold numbers of a size to calculate with."""
    if not (np.abs(values) <= LARGEST).all():
        raise FloatingPointError(DIVERGED)
    return values


def _legal(masks: Masks) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the legal actions in ``masks.ravel()``, their numbers, and where each row's begin.

    Raises ValueError if a row has none.
    """
    legal = np.flatnonzero(masks)
    starts = np.searchsorted(legal, np.arange(len(masks)) * masks.shape[1])
    rows, actions = np.divmod(legal, masks.shape[1])
    if len(legal) == 0 or starts[-1] >= len(legal) or not np.array_equal(rows[starts], np.arange(len(masks))):
        raise ValueError(NO_ACTION)
    return legal, actions, starts
