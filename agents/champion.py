"""The trained opponents that come with the project: which there are, and which one plays a given game."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agents.base import Agent, AgentSpecError
from agents.card import card_rules, read_card
from agents.hand_by_hand import HandByHand, hand_differences, plays_hands_of
from agents.onnx_agent import OnnxAgent
from agents.onnx_file import read_opponent
from agents.wording import counted, rules_title
from tonk_env.rules import RuleSet

FOLDER = Path(__file__).parent / "champions"  # PRESET-PLAYERS.onnx
MAX_BYTES = 2_000_000  # of one file


@dataclass(frozen=True)
class Champion:
    """One file of ``FOLDER``, with its card, the game on it and its bytes."""

    path: Path
    card: Mapping[str, Any]
    rules: RuleSet
    num_players: int
    size: int

    @property
    def name(self) -> str:
        """What people call it, such as ``points-2``."""
        return self.path.stem

    @property
    def greedy(self) -> bool:
        """Whether it plays its likeliest action unless it is told otherwise: it plays as it was measured."""
        return bool(self.card.get("provenance", {}).get("play") == "greedy")

    @property
    def decisions(self) -> str:
        """Decisions that it was trained on, in digits; a dash where the card does not say."""
        decisions = self.card.get("provenance", {}).get("decisions")
        return "–" if decisions is None else f"{decisions:,}"

    @property
    def payoffs(self) -> list[str]:
        """What it was measured to earn, such as ``drop:20 +0.057 ± 0.010``, an opponent each, as the card says."""
        return [
            f"{opponent} {one['mean']:+.3f} ± {(one['high'] - one['low']) / 2:.3f}"
            for opponent, one in self.card.get("strength", {}).get("payoffs", {}).items()
        ]

    def agent(self, seed: int, mode: str, name: str) -> OnnxAgent:
        """Return the player for the game on its card; ``mode`` is ``greedy``, ``sample``, or empty for the card's own."""
        greedy = mode == "greedy" if mode else self.greedy
        return OnnxAgent(self.path, self.rules, self.num_players, seed, greedy=greedy, name=name)


def champions() -> list[Champion]:
    """Return all that come with the project, by name. Raises ``OpponentFileError`` for a file that is damaged."""
    return [_champion(path) for path in sorted(FOLDER.glob("*.onnx"))]


def make_champion(rules: RuleSet, num_players: int, seed: int = 0, mode: str = "", name: str = "champion") -> Agent:
    """Return the champion of a game: made for just these rules, or for single hands of a match with the same hands.

    Raises ``AgentSpecError`` if there is none, with those there are, and what to do.
    """
    one = _same_game(rules, num_players)
    if one is not None:
        return one.agent(seed, mode, name)
    hands = _same_hands(rules, num_players)
    if not hands:
        raise AgentSpecError(_none_for(rules, num_players, name))
    return HandByHand({n: one.agent(seed, mode, name) for n, one in hands.items()}, rules, num_players, name, seed)


def champion_files(rules: RuleSet, num_players: int) -> list[Path]:
    """Return the files that ``make_champion`` plays this game with. Raises ``AgentSpecError`` if there are none."""
    one = _same_game(rules, num_players)
    found = [one] if one is not None else list(_same_hands(rules, num_players).values())
    if not found:
        raise AgentSpecError(_none_for(rules, num_players, "champion"))
    return [one.path for one in found]


def _same_game(rules: RuleSet, num_players: int) -> Champion | None:
    """Return the champion whose card names just this game; the one of that name is looked at first."""
    own = FOLDER / f"{rules.preset}-{num_players}.onnx"
    files = sorted(FOLDER.glob(f"*-{num_players}.onnx"), key=lambda path: (path != own, path.name))
    return next((one for one in map(_champion, files) if (one.rules, one.num_players) == (rules, num_players)), None)


def _same_hands(rules: RuleSet, num_players: int) -> dict[int, Champion]:
    """Return by their players the champions that play the hands of a match; empty if none plays those of the whole table."""
    smaller = range(2, num_players) if rules.match == "elimination" else ()
    found: dict[int, Champion] = {}
    for players in (num_players, *smaller):
        for path in sorted(FOLDER.glob(f"*-{players}.onnx")):
            one = _champion(path)
            if one.num_players == players and plays_hands_of(one.rules, rules, players):
                found.setdefault(players, one)
        if num_players not in found:
            return {}
    return found


def _champion(path: Path) -> Champion:
    """Return a file's champion; it is read once as long as it does not change."""
    found = path.stat()
    return _read(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, size: int, changed: int) -> Champion:
    card = read_card(read_opponent(path)[1], str(path))
    return Champion(path, card, card_rules(card, str(path)), int(card["num_players"]), size)


def _none_for(rules: RuleSet, num_players: int, name: str) -> str:
    """Say that nobody plays this game, who comes nearest, and how to train one."""
    known = champions()
    there = f"there are {', '.join(one.name for one in known)}" if known else "none come with this installation"
    near = f"; the nearest, {_nearest(known, rules, num_players)}" if known else ""
    game = rules.replace(match="hands", hands=1).to_dict()
    options = f" 'game.options={json.dumps(game['set'])}'"
    return (
        f"agent {name!r}: there is none for {rules_title(rules)} with {num_players} players: {there}{near}; train one with "
        f"`python train.py configs/champions/champion.yaml game.rules={game['preset']}{options} "
        f"game.num_players={num_players}` and name its run folder, or take another player such as expert"
    )


def _nearest(known: list[Champion], rules: RuleSet, num_players: int) -> str:
    """Name the champion in which least differs, and what that is."""

    def distance(one: Champion) -> tuple[int, int]:
        return len(hand_differences(one.rules, rules)), abs(one.num_players - num_players)

    near = min(known, key=distance)
    parts = [
        f"`{name}` is {getattr(near.rules, name)!r} there and {getattr(rules, name)!r} here"
        for name in hand_differences(near.rules, rules)
    ]
    if near.num_players != num_players:
        parts.append(f"it is for {counted(near.num_players, 'player')}")
    return f"{near.name}, differs: {', '.join(parts) or f'it plays {rules_title(near.rules)}'}"
