"""An environment that costs nothing: it hands out recorded observations, masks, rewards and ends, whatever is played."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from agents.selfplay import SelfPlayVecEnv

RECORDED = 32  # steps, handed out over and over


class FreeVecEnv(VecEnv):
    """The spaces, masks and number of tables of a self-play environment, from a recording of random play in it."""

    def __init__(self, source: SelfPlayVecEnv, steps: int = RECORDED) -> None:
        first = source.reset()
        tables = source.num_envs
        self.observations: NDArray[np.int8] = np.zeros((steps, *first.shape), np.int8)
        self.masks: NDArray[np.int8] = np.zeros((steps, *source.action_masks().shape), np.int8)
        self.rewards, self.dones = np.zeros((steps, tables), np.float32), np.zeros((steps, tables), bool)
        self.at, self._infos = 0, [{} for _ in range(tables)]  # type: ignore[var-annotated]
        seen: Any = first
        for step in range(steps):
            self.observations[step], self.masks[step] = seen, source.action_masks()
            seen, self.rewards[step], self.dones[step], _ = source.step(source.batch.choose_random())
        super().__init__(tables, source.observation_space, source.action_space)

    def reset(self) -> NDArray[np.int8]:
        """The first recorded observations."""
        self.at = 0
        return np.asarray(self.observations[0])

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take actions and forget them."""

    def step_wait(self) -> Any:
        """The next recorded step."""
        at, self.at = self.at, (self.at + 1) % len(self.observations)
        return self.observations[self.at], self.rewards[at], self.dones[at], self._infos

    def action_masks(self) -> NDArray[np.int8]:
        """The masks that belong to the observations last handed out."""
        return np.asarray(self.masks[self.at])

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """The masks of all tables in one array, as the self-play environment gives them."""
        return [getattr(self, method_name)(*args, **kwargs)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """One value for each table."""
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set."""
        raise AttributeError(attr_name)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """It is not."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing to release."""
