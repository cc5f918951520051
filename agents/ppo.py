"""MaskablePPO with a compact buffer and schedules that follow the run's budget."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from stable_baselines3.common.vec_env import VecEnv

from agents.config import PPOConfig, TrainConfig
from agents.network import TonkPolicy, policy_kwargs


class CompactRolloutBuffer(MaskableRolloutBuffer):
    """The library's buffer with masks in bytes, arrays kept from one iteration to the next and a generator of its own.

    Minibatches are views into a permutation, all of nearly one size, so that none is too small to be normalised.
    """

    def __init__(self, *args: Any, seed: int = 0, **kwargs: Any) -> None:
        self.generator = np.random.default_rng(seed)
        self.allocated = False
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Start to fill from the beginning."""
        if not self.allocated:
            super().reset()
            self.action_masks = np.zeros(self.action_masks.shape, dtype=np.int8)
            self.allocated = True
        self.pos = 0
        self.full = False

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:  # type: ignore[override]
        """Yield the whole buffer once, in random order, in parts of about ``batch_size``."""
        assert self.full, "the buffer is read before it is full"
        size = self.buffer_size * self.n_envs
        order = self.generator.permutation(size)
        for part in np.array_split(order, max(1, round(size / (batch_size or size)))):
            yield self._get_samples(part)

    def _get_samples(self, batch_inds: NDArray[np.int64], env: Any = None) -> MaskableRolloutBufferSamples:  # type: ignore[override]
        fields = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")
        flat = (self._flat(getattr(self, name)) for name in fields)
        return MaskableRolloutBufferSamples(*(self.to_torch(array[batch_inds]) for array in flat))

    @staticmethod
    def _flat(array: NDArray[Any]) -> NDArray[Any]:
        """View of [steps, tables, …] as [steps x tables, …]."""
        return array.reshape(-1, *array.shape[2:]) if array.ndim > 2 else array.reshape(-1)


class TonkPPO(MaskablePPO):
    """MaskablePPO whose schedules follow ``progress()``, the share of the budget used up (0 to 1)."""

    rollout_buffer: CompactRolloutBuffer

    def __init__(self, config: TrainConfig, env: VecEnv, progress: Callable[[int], float]) -> None:
        self.settings: PPOConfig = config.ppo
        self.progress = progress
        ppo = config.ppo
        super().__init__(
            TonkPolicy,
            env,
            learning_rate=_Line(ppo.learning_rate, ppo.learning_rate_end),
            n_steps=ppo.steps,
            batch_size=ppo.minibatch,
            n_epochs=ppo.epochs,
            gamma=ppo.gamma,
            gae_lambda=ppo.gae_lambda,
            clip_range=ppo.clip,
            normalize_advantage=ppo.normalize_advantage,
            ent_coef=ppo.entropy,
            vf_coef=ppo.value_coef,
            max_grad_norm=ppo.max_grad_norm,
            target_kl=ppo.target_kl,
            rollout_buffer_class=CompactRolloutBuffer,
            rollout_buffer_kwargs={"seed": config.seed},
            policy_kwargs=policy_kwargs(config.network),
            seed=config.seed % 2**32,
            device=config.device,
        )

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        used = self.progress(num_timesteps)
        self._current_progress_remaining = 1.0 - used
        self.ent_coef = _Line(self.settings.entropy, self.settings.entropy_end)(1.0 - used)

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: NDArray[np.bool_] | None = None) -> None:
        """Do nothing: the environment keeps its own statistics, without a dictionary for every table and step."""


class _Line:
    """A value that runs from ``start`` to ``end`` as what remains of the budget falls from 1 to 0."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def __call__(self, remaining: float) -> float:
        return self.end + (self.start - self.end) * min(1.0, max(0.0, remaining))
