"""Plays an exported opponent: onnxruntime and NumPy are all it needs, and loading a stranger's file runs none of its code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Actions, AgentSpecError, Masks, Observations, Rows
from agents.card import OpponentFileError, card_rules, check_card, read_card
from agents.onnx_file import read_opponent
from agents.sampling import best, draw, probabilities
from tonk_env.rules import RuleSet, make_rules

INPUTS = {"observation": "tensor(int8)", "action_mask": "tensor(int8)"}
OUTPUTS = {"logits": "tensor(float)", "value": "tensor(float)"}


class OnnxAgent:
    """An opponent from a ``.onnx`` file, for tables of these rules.

    It draws from its policy with a generator of its own, or takes the likeliest action if ``greedy``. Without rules and
    players it is made for the game on its card, which ``rules`` and ``num_players`` then tell. Raises
    ``OpponentFileError`` for a file that is damaged, no opponent, or made for another game. Copies and pickles hold the
    file's content and go on with the same draws.
    """

    compiled: tuple[int, int] | None = None

    def __init__(
        self,
        path: str | os.PathLike[str],
        rules: RuleSet | str | None = None,
        num_players: int | None = None,
        seed: int = 0,
        *,
        greedy: bool = False,
        name: str | None = None,
    ) -> None:
        source = Path(path)
        data, text = read_opponent(source)
        self.card: dict[str, Any] = read_card(text, str(source))
        self.rules = card_rules(self.card, str(source)) if rules is None else make_rules(rules)
        self.num_players = self.rules.check_players(self.card["num_players"] if num_players is None else num_players)
        check_card(self.card, self.rules, self.num_players, str(source))
        self.name = name or str(source)
        self.greedy = greedy
        self._data = data  # with which a copy opens a session of its own
        self._session = _open_session(data, str(source))
        spaces = self.card["spaces"]
        _check_signature(self._session, spaces["observation"]["size"], spaces["action"]["size"], str(source))
        self.seed(seed)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = _open_session(self._data, self.name)

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], one legal action for each of int8[B, O] observations with int8[B, A] masks."""
        logits = self._session.run(["logits"], {"observation": observations, "action_mask": masks})[0]
        try:
            if self.greedy:
                return best(logits, masks)
            return draw(logits, masks, self.generator.random(len(logits), dtype=np.float32))
        except FloatingPointError:
            raise OpponentFileError(f"{self.name} cannot play: its logits are not finite numbers, or beyond 1e8") from None

    def check_game(self, rules: RuleSet, num_players: int) -> None:
        """Raise ``OpponentFileError`` for a game other than the one on the card, naming what differs."""
        check_card(self.card, rules, num_players, self.name)

    def evaluate(self, observations: Observations, masks: Masks) -> tuple[np.ndarray, np.ndarray]:
        """Return logits float32[B, A] (-1e9 where illegal) and expected rewards float32[B]."""
        logits, value = self._session.run(["logits", "value"], {"observation": observations, "action_mask": masks})
        return logits, value

    def probabilities(self, observations: Observations, masks: Masks) -> np.ndarray:
        """Return float64[B, A]: how likely it chooses each action."""
        return probabilities(self.evaluate(observations, masks)[0], masks, self.greedy)

    def reset(self, rows: Rows | None = None) -> None:
        """Do nothing: the observation holds all that a policy remembers."""

    def seed(self, seed: int) -> None:
        """Start the generator anew."""
        self.generator = np.random.default_rng(seed)


def _open_session(data: bytes, source: str) -> Any:
    """Return a session that uses one thread, as many agents play side by side."""
    try:
        import onnxruntime
    except ImportError:
        raise AgentSpecError(
            f'{source} needs the package onnxruntime: install it with `pip install ".[play]"` in the project\'s folder'
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - the runtime has many errors; all say that the graph cannot be run
        raise OpponentFileError(f"{source} is damaged: its graph cannot be run") from None


def _check_signature(session: Any, observation: int, actions: int, source: str) -> None:
    """Refuse a graph whose inputs and outputs are not those its card promises."""
    found = {put.name: (put.type, list(put.shape)[1:]) for put in [*session.get_inputs(), *session.get_outputs()]}
    inputs = {put.name for put in session.get_inputs()}
    shapes = {"observation": [observation], "action_mask": [actions], "logits": [actions], "value": []}
    for name, kind in {**INPUTS, **OUTPUTS}.items():
        if found.get(name) != (kind, shapes[name]) or (name in INPUTS) != (name in inputs):
            raise OpponentFileError(
                f"{source} is not an opponent: {name!r} should be {kind} of shape [batch, *{shapes[name]}], "
                f"it is {found.get(name, 'missing')}"
            )
