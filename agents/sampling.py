"""Draws legal actions from the logits of a policy, seeded and never outside the mask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Actions, Masks


def draw(logits: NDArray[np.float32], masks: Masks, uniforms: NDArray[np.float32]) -> Actions:
    """Return int64[B]: one action a row, drawn with probability softmax(logits) over the legal ones.

    ``logits`` float32[B, A] (illegal entries may hold anything finite), ``masks`` int8[B, A] with a 1 in every row,
    ``uniforms`` float32[B] in [0, 1). The same three give the same actions.
    """
    legal = masks != 0
    top = np.where(legal, logits, -np.inf).max(axis=1, keepdims=True)
    weights = np.exp(np.minimum(logits - top, 0.0)) * legal
    reached = np.cumsum(weights, axis=1)
    total = reached[:, -1]
    # Just below the total at most: the first sum above the threshold then belongs to an action with weight.
    threshold = np.minimum(uniforms * total, np.nextafter(total, np.float32(0)))
    return np.asarray(np.argmax(reached > threshold[:, None], axis=1), dtype=np.int64)


def best(logits: NDArray[np.float32], masks: Masks) -> Actions:
    """Return int64[B]: the legal action with the greatest logit in each row, the first one among equals."""
    return np.asarray(np.argmax(np.where(masks != 0, logits, -np.inf), axis=1), dtype=np.int64)
