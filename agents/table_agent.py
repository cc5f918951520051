"""A solved game as an agent: a table of probabilities by observation, in a data-only file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from agents.base import Actions, AgentSpecError, Masks, Observations, Rows
from agents.card import OpponentFileError, card_rules, check_card, describe_game
from tonk_env.files import atomic_writer
from tonk_env.rules import RuleSet
from tonk_env.tree import GameTree, look_numbers

TABLE_FORMAT = 1
TYPES = {"keys": np.uint64, "first_slot": np.int64, "actions": np.int16, "chances": np.float32, "card": np.uint8}
MOST_BYTES = 1 << 30  # of the arrays of a file that is read


class TableAgent:
    """Plays a solved game from the table in ``path``, drawing with a generator of its own.

    Raises ``OpponentFileError`` for a file that is damaged, no table, or made for another game.
    """

    compiled: tuple[int, int] | None = None

    def __init__(
        self, path: str | os.PathLike[str], rules: RuleSet, num_players: int, seed: int = 0, name: str | None = None
    ) -> None:
        self.name = name or str(path)
        self.card, self._table = read_table(Path(path))
        check_card(self.card, rules, num_players, self.name)
        self.seed(seed)

    def act(self, observations: Observations, masks: Masks, rows: Rows | None = None) -> Actions:
        """Return int64[B], one legal action for each of int8[B, O] observations with int8[B, A] masks."""
        first, last = self._find(observations, masks)
        wanted = self._reached[first] + self.generator.random(len(first)) * (self._reached[last] - self._reached[first])
        chosen = np.clip(np.searchsorted(self._reached, wanted, side="right") - 1, first, last - 1)
        return np.asarray(self._table["actions"][chosen], dtype=np.int64)

    def probabilities(self, observations: Observations, masks: Masks) -> NDArray[np.float64]:
        """Return float64[B, A]: how likely it chooses each action."""
        first, last = self._find(observations, masks)
        rows = np.repeat(np.arange(len(first)), last - first)
        slots = np.arange(len(rows)) - np.repeat(np.cumsum(last - first) - last, last - first)
        chances = np.zeros(masks.shape)
        chances[rows, self._table["actions"][slots]] = self._table["chances"][slots]
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    def check_game(self, rules: RuleSet, num_players: int) -> None:
        """Raise ``OpponentFileError`` for a game other than the one of the table, naming what differs."""
        check_card(self.card, rules, num_players, self.name)

    def reset(self, rows: Rows | None = None) -> None:
        """Do nothing: the observation holds all that the table asks for."""

    def seed(self, seed: int) -> None:
        """Start the generator anew."""
        self.generator = np.random.default_rng(seed)
        self._reached = np.concatenate([[0.0], np.cumsum(self._table["chances"], dtype=np.float64)])

    def _find(self, observations: Observations, masks: Masks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the entries of these observations begin and end in the table."""
        keys, numbers = self._table["keys"], look_numbers(observations, masks)
        at = np.minimum(np.searchsorted(keys, numbers), len(keys) - 1)
        if not (keys[at] == numbers).all():
            raise OpponentFileError(f"{self.name} has no entry for a position: it was made by another version of the game")
        return self._table["first_slot"][at], self._table["first_slot"][at + 1]


def write_table(path: Path, tree: GameTree, policy: NDArray[np.float64], provenance: dict[str, Any]) -> None:
    """Write a policy float64[S] that depends on the observation alone as a file that ``TableAgent`` reads."""
    order = np.argsort(tree.look_key)
    rows, slots = tree.moves_of(tree.look_info[order])
    card = {"format": TABLE_FORMAT, **describe_game(tree.rules, 2), "provenance": provenance}
    arrays = {
        "keys": tree.look_key[order],
        "first_slot": np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(order)))]).astype(np.int64),
        "actions": tree.actions[slots],
        "chances": policy[slots].astype(np.float32),
        "card": np.frombuffer(json.dumps(card).encode(), np.uint8),
    }
    with atomic_writer(path, "wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def read_table(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return card and arrays of a table's file, which holds plain numbers only. Raises ``OpponentFileError``."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if sum(entry.file_size for entry in file.zip.infolist()) > MOST_BYTES:
                raise OpponentFileError(f"{path} is too large for the table of a solved game")
            arrays = {name: file[name] for name in TYPES}
        card = json.loads(arrays.pop("card").tobytes())
        sound = card["format"] == TABLE_FORMAT and _names_a_game(card) and _fits(arrays)
        card_rules(card, str(path))
    except AgentSpecError:
        raise
    except OSError as error:
        raise OpponentFileError(f"cannot read {path}: {error.strerror or 'it is no table of a solved game'}") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError, BadZipFile):
        raise OpponentFileError(f"{path} is no table of a solved game, as `tonk solve` writes it") from None
    if not sound:
        raise OpponentFileError(f"{path} is damaged: its arrays do not fit together")
    return card, arrays


def table_game(path: Path) -> tuple[RuleSet, int]:
    """Return the rules and the number of players that a table plays. Raises ``OpponentFileError``."""
    card = read_table(path)[0]
    return card_rules(card, str(path)), int(card["num_players"])


def _names_a_game(card: dict[str, Any]) -> bool:
    """Whether the parts of a card that say which game it is are of the kinds that ``check_card`` compares."""
    spaces = [card["spaces"][name] for name in ("observation", "action")]
    return type(card["num_players"]) is int and all(isinstance(space, dict) for space in spaces)


def _fits(arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether the arrays are what ``write_table`` writes: sorted keys, an entry for each, chances that add up to 1."""
    if any(array.ndim != 1 or array.dtype != TYPES[name] for name, array in arrays.items()):
        return False
    keys, first, chances = arrays["keys"], arrays["first_slot"], arrays["chances"]
    if not (len(keys) and len(first) == len(keys) + 1 and first[0] == 0 and (np.diff(first) > 0).all()):
        return False
    if not (first[-1] == len(arrays["actions"]) == len(chances) and (keys[1:] > keys[:-1]).all()):
        return False
    return bool((chances >= 0).all() and np.allclose(np.add.reduceat(chances, first[:-1]), 1, atol=1e-4))
