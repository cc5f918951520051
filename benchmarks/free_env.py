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
        tables, self.num_players = source.num_envs, source.num_players
        kept: dict[str, list[NDArray[Any]]] = {name: [] for name in ("seen", "masks", "hidden", "on_turn", "rewards", "dones")}
        paid: list[NDArray[np.float32]] = []
        ended: list[NDArray[np.bool_]] = []
        seen: Any = first
        for _ in range(steps):
            before = (seen, source.action_masks().copy(), source.hidden_hands(), source.seats.copy())
            seen, rewards, dones, _ = source.step(source.batch.choose_random())
            for name, values in zip(kept, (*before, rewards, dones), strict=True):
                kept[name].append(values)
            paid.append(source.paid.copy())
            ended.append(source.ended.copy())
        self.observations, self.masks, self.hidden, self.on_turn, self.rewards, self.dones = map(np.stack, kept.values())
        self._paid, self._ended = np.stack(paid), np.stack(ended)
        self.paid, self.ended = self._paid[0], self._ended[0]
        self.at, self._infos = 0, [{} for _ in range(tables)]  # type: ignore[var-annotated]
        super().__init__(tables, source.observation_space, source.action_space)

    @property
    def seats(self) -> NDArray[np.int8]:
        """The seats that belong to the observations last handed out."""
        return np.asarray(self.on_turn[self.at])

    def reset(self) -> NDArray[np.int8]:
        """The first recorded observations."""
        self.at = 0
        return np.asarray(self.observations[0])

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take actions and forget them."""

    def step_wait(self) -> Any:
        """The next recorded step."""
        at, self.at = self.at, (self.at + 1) % len(self.observations)
        self.paid, self.ended = self._paid[at], self._ended[at]
        return self.observations[self.at], self.rewards[at], self.dones[at], self._infos

    def look(self) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int8]]:
        """The observations, masks and seats last handed out."""
        return self.observations[self.at], self.masks[self.at], self.on_turn[self.at]

    def play(self, actions: NDArray[np.int64]) -> None:
        """Go on to the next recorded step, whatever is played."""
        self.step_wait()

    def hidden_hands(self) -> NDArray[np.int8]:
        """The others' cards that belong to the observations last handed out."""
        return np.asarray(self.hidden[self.at])

    def move_values(self, legal: NDArray[np.int16], plays: int) -> NDArray[np.float32]:
        """Nothing is worth anything here."""
        return np.zeros(legal.shape, np.float32)

    def advice(self, kind: int, param: int) -> NDArray[np.int64]:
        """The first legal action: some teacher that costs nothing."""
        return np.asarray(self.masks[self.at].argmax(axis=1))

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
