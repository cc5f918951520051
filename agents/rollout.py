"""The buffer of one iteration: decisions of every seat that the learner plays, and what came of each."""

from __future__ import annotations

from collections import defaultdict
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
    worths: torch.Tensor  # float32[B, K], what each of them earns when the hand is played out, 0 where unknown
    hidden: torch.Tensor  # int8[B, H], the others' hands
    actions: torch.Tensor  # int64[B]
    advice: torch.Tensor  # int64[B], the teacher's action
    log_probs: torch.Tensor  # float32[B]
    values: torch.Tensor  # float32[B]
    advantages: torch.Tensor  # float32[B]
    returns: torch.Tensor  # float32[B]


class RolloutBuffer(MaskableRolloutBuffer):
    """The decisions of one iteration in columns, step after step, and what came of them.

    At a table they may be of several seats. Masks are kept as lists of the legal actions, which are few, and the generator
    that mixes minibatches is the buffer's own.
    """

    def __init__(self, *args: Any, seed: int = 0, **kwargs: Any) -> None:
        self.generator = np.random.default_rng(seed)
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Start to fill from the beginning."""
        self.steps: dict[str, list[Array]] = defaultdict(list)
        self.columns: dict[str, Array] = {}
        self.learned: NDArray[np.int64] = np.zeros(0, np.int64)  # places of the decisions to learn from
        self.pos, self.full = 0, False

    def note(self, **arrays: Array) -> None:
        """Write what is known of the decisions of a step: arrays [T, …] by name, not copied."""
        for name, array in arrays.items():
            self.steps[name].append(array)

    def compute(self, last_values: Array, last_seats: Array, ended: Array, paid: Array) -> None:
        """Fill advantages and returns by ``gae_lambda``; every step holds one decision of each of the T tables.

        ``last_values`` float32[T] are of the seats int8[T] that are on turn now. ``paid`` float32[S, T, N] and ``ended``
        bool[S, T, N] followed the steps (see ``SelfPlayVecEnv``). An advantage follows its own seat: from one decision of
        the seat to its next, or to the end of its episode. A decision whose seat is not on turn again has no such
        successor yet and is not learned from; the ones before it see its value.
        """
        seats, values = (np.stack(self.steps[name]) for name in ("seats", "values"))
        tables = np.arange(seats.shape[1])
        value, advantage, since = (np.zeros(paid.shape[1:], np.float32) for _ in range(3))  # of a seat's next decision
        known = np.zeros(paid.shape[1:], bool)  # whether there is one, or the end
        value[tables, last_seats], known[tables, last_seats] = last_values, True
        found, advantages = np.zeros(seats.shape, bool), np.zeros(seats.shape, np.float32)
        for step in reversed(range(len(seats))):
            over = ended[step]
            for array in (value, advantage, since):
                array[over] = 0.0
            known |= over
            since += paid[step]
            here = (tables, seats[step])
            found[step] = known[here]
            delta = since[here] + self.gamma * value[here] - values[step]
            advantages[step] = np.where(found[step], delta + self.gamma * self.gae_lambda * advantage[here], 0)
            value[here], advantage[here], since[here], known[here] = values[step], advantages[step], 0.0, True
        self._finish(
            np.flatnonzero(found),
            advantages=advantages.ravel(), returns=(advantages + values).ravel(),
        )  # fmt: skip

    def minibatches(self, size: int) -> Iterator[Minibatch]:
        """Yield all decisions once, in random order, in parts of about ``size``, none too small to be normalised."""
        assert self.full, "the buffer is read before it is full"
        order = self.generator.permutation(self.learned)
        for rows in np.array_split(order, max(1, round(len(order) / size))):
            yield Minibatch(**{name: self._tensor(name, rows) for name in Minibatch.__dataclass_fields__})

    def foreseen(self) -> float:
        """Return how much of the spread of returns the values explain: 1 all, 0 nothing (nan if there is no spread)."""
        returns, values = (self.columns[name][self.learned] for name in ("returns", "values"))
        spread = float(returns.var())
        return 1.0 - float((returns - values).var()) / spread if spread else float("nan")

    def _finish(self, learned: NDArray[np.int64], **more: Array) -> None:
        """Make one array of each column, with ``more`` of them."""
        width = max(lists.shape[1] for lists in self.steps["legal"])
        for name, fill in (("legal", -1), ("worths", 0)):
            self.steps[name] = [_filled_up(lists, width, fill) for lists in self.steps.get(name, [])]
        self.columns = {name: np.concatenate(parts) for name, parts in self.steps.items() if parts} | more
        if "advice" not in self.columns:
            self.columns["advice"] = np.full(len(self.columns["actions"]), UNADVISED, np.int64)
        if "worths" not in self.columns:
            self.columns["worths"] = np.zeros((len(self.columns["actions"]), 1), np.float32)
        self.steps.clear()
        self.learned, self.full = learned, True

    def _tensor(self, name: str, rows: Array) -> torch.Tensor:
        part = torch.from_numpy(self.columns[name][rows]).to(self.device)
        return part.long() if name == "legal" else part


def _filled_up(lists: Array, width: int, fill: int) -> Array:
    """The same lists, each filled up to a greater length."""
    return np.pad(lists, ((0, 0), (0, width - lists.shape[1])), constant_values=fill)
