"""The buffer of one iteration: decisions of every seat that the learner plays, and what each of them brought."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

Array = NDArray[Any]
UNADVISED = -1  # in place of a teacher's action


@dataclass(frozen=True)
class Minibatch:
    """Decisions for a gradient step, as tensors: what was seen, what was done, and what came of it."""

    observations: torch.Tensor  # int8[B, O]
    legal: torch.Tensor  # int64[B, K], legal actions, filled up with -1
    hidden: torch.Tensor  # int8[B, H], the others' hands
    actions: torch.Tensor  # int64[B]
    advice: torch.Tensor  # int64[B], the teacher's action
    log_probs: torch.Tensor  # float32[B]
    values: torch.Tensor  # float32[B]
    advantages: torch.Tensor  # float32[B]
    returns: torch.Tensor  # float32[B]


class RolloutBuffer(MaskableRolloutBuffer):
    """``buffer_size`` decisions at each of ``n_envs`` tables, every table's in the order in which they were taken.

    At a table they may be of several seats. An advantage follows its own seat: from one decision of the seat to its next,
    or to the end of its episode. A decision whose seat is not on turn again before the buffer is full has no such
    successor and is not learned from; the ones before it see its value. In place of masks there are lists of the legal
    actions, which are few. Arrays are kept from one iteration to the next; the generator that mixes minibatches is its own.
    """

    def __init__(self, *args: Any, seed: int = 0, num_players: int = 2, hidden_size: int = 0, **kwargs: Any) -> None:
        self.generator = np.random.default_rng(seed)
        self.num_players, self.hidden_size = num_players, hidden_size
        self.allocated = False
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Start to fill from the beginning."""
        if not self.allocated:
            shape = (self.buffer_size, self.n_envs)
            self.observations = np.zeros((*shape, *self.obs_shape), np.int8)
            self.hidden = np.zeros((*shape, self.hidden_size), np.int8)
            self.actions, self.advice = np.zeros(shape, np.int64), np.full(shape, UNADVISED, np.int64)
            self.seats = np.zeros(shape, np.int8)
            self.values, self.log_probs, self.advantages, self.returns = (np.zeros(shape, np.float32) for _ in range(4))
            self.paid = np.zeros((*shape, self.num_players), np.float32)
            self.ended = np.zeros((*shape, self.num_players), bool)
            self.known = np.zeros(shape, bool)
            self.allocated = True
        self.lists: list[Array] = []
        self.pos = 0
        self.full = False

    def note(self, legal: Array, **decision: Array) -> None:
        """Write the coming decision of every table; ``close`` goes on to the next.

        ``legal`` int16[T, K] are the legal actions, filled up with -1; the others are arrays [T, …] by their names.
        """
        self.lists.append(legal)
        for name, values in decision.items():
            getattr(self, name)[self.pos] = values

    def close(self, paid: Array, ended: Array) -> None:
        """Write what followed: ``paid`` float32[T, N] and ``ended`` bool[T, N] (see ``SelfPlayVecEnv``)."""
        self.paid[self.pos], self.ended[self.pos] = paid, ended
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute(self, last_values: Array, last_seats: Array) -> None:
        """Fill advantages and returns; ``last_values`` float32[T] are of the seats int8[T] that are on turn now."""
        tables = np.arange(self.n_envs)
        shape = (self.n_envs, self.num_players)
        value, advantage, paid = (np.zeros(shape, np.float32) for _ in range(3))  # of a seat's next decision; paid until then
        known = np.zeros(shape, bool)  # whether there is one, or the end
        value[tables, last_seats], known[tables, last_seats] = last_values, True
        for step in reversed(range(self.buffer_size)):
            over = self.ended[step]
            for array in (value, advantage, paid):
                array[over] = 0.0
            known |= over
            paid += self.paid[step]
            here = (tables, self.seats[step])
            found = known[here]
            delta = paid[here] + self.gamma * value[here] - self.values[step]
            self.known[step] = found
            self.advantages[step] = np.where(found, delta + self.gamma * self.gae_lambda * advantage[here], 0)
            value[here], advantage[here], paid[here], known[here] = self.values[step], self.advantages[step], 0.0, True
        np.add(self.advantages, self.values, out=self.returns)
        self.legal = _filled_up(self.lists)

    def minibatches(self, size: int) -> Iterator[Minibatch]:
        """Yield all decisions once, in random order, in parts of about ``size``, none too small to be normalised."""
        assert self.full, "the buffer is read before it is full"
        order = self.generator.permutation(np.flatnonzero(self.known))
        for rows in np.array_split(order, max(1, round(len(order) / size))):
            yield Minibatch(**{name: self._tensor(name, rows) for name in Minibatch.__dataclass_fields__})

    def foreseen(self) -> float:
        """Return how much of the spread of returns the values explain: 1 all, 0 nothing (nan if there is no spread)."""
        returns, values = self.returns[self.known], self.values[self.known]
        spread = float(returns.var())
        return 1.0 - float((returns - values).var()) / spread if spread else float("nan")

    def _tensor(self, name: str, rows: Array) -> torch.Tensor:
        array = getattr(self, name)
        part = torch.from_numpy(array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])[rows]).to(self.device)
        return part.long() if name == "legal" else part


def _filled_up(lists: list[Array]) -> Array:
    """Lists [T, K] of several K as one array [S, T, largest K], filled up with -1."""
    width = max(part.shape[1] for part in lists)
    return np.stack([np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1) for part in lists])
