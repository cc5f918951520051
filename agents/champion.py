"""The trained opponents that come with the project: which there are, and which one plays a given game."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agents.base import Agent, AgentSpecError
from agents.card import OpponentFileError, card_rules, read_card
from agents.hand_by_hand import HandByHand, hand_differences, plays_hands_of
from agents.onnx_agent import OnnxAgent
from agents.onnx_file import read_opponent
from agents.wording import counted, rules_title
from tonk_env.rules import RuleSet, make_rules

FOLDER = Path(__file__).parent / "champions"  # PRESET-PLAYERS.onnx
MAX_BYTES = 2_000_000  # of one file
RECIPES = Path("configs") / "champions"  # PRESET-PLAYERS.yaml, and champion.yaml for all other games
MOST_NEAR, MOST_OPTIONS = 3, 3  # champions, and options in which one differs, that a sentence names


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
    """Return all that come with the project, by name, without those that cannot be read: ``damaged`` says which."""
    return [one for one in map(_read_or_error, sorted(FOLDER.glob("*.onnx"))) if isinstance(one, Champion)]


def damaged() -> list[str]:
    """Return a sentence for every file that should be a champion and cannot be read."""
    return [str(one) for one in map(_read_or_error, sorted(FOLDER.glob("*.onnx"))) if isinstance(one, OpponentFileError)]


def make_champion(rules: RuleSet, num_players: int, seed: int = 0, mode: str = "", name: str = "champion") -> Agent:
    """Return the champion of a game: made for just these rules, or for single hands of a match with the same hands.

    Raises ``AgentSpecError`` if there is none, with the nearest, and what to do; ``OpponentFileError`` if the file that bears
    the game's name is damaged; ``RuleSetError`` if so many do not play this game.
    """
    one = _same_game(rules, rules.check_players(num_players))
    if one is not None:
        return one.agent(seed, mode, name)
    hands = _same_hands(rules, num_players)
    if not hands:
        raise AgentSpecError(_none_for(rules, num_players, name))
    return HandByHand({n: one.agent(seed, mode, name) for n, one in hands.items()}, rules, num_players, name, seed)


def champion_files(rules: RuleSet, num_players: int) -> list[Path]:
    """Return the files that ``make_champion`` plays this game with. Raises what it raises."""
    one = _same_game(rules, rules.check_players(num_players))
    found = [one] if one is not None else list(_same_hands(rules, num_players).values())
    if not found:
        raise AgentSpecError(_none_for(rules, num_players, "champion"))
    return [one.path for one in found]


def champion_file(name: str) -> Path | None:
    """Return the file of the champion called so, such as ``points-2``; None if there is none."""
    return next((path for path in FOLDER.glob("*.onnx") if path.stem == name), None)


def _same_game(rules: RuleSet, num_players: int) -> Champion | None:
    """Return the champion whose card names just this game; the one of that name is looked at first."""
    found = _candidates(rules, num_players)
    return next((one for one in found if (one.rules, one.num_players) == (rules, num_players)), None)


def _same_hands(rules: RuleSet, num_players: int) -> dict[int, Champion]:
    """Return by their players the champions that play the hands of a match; empty if none plays those of the whole table."""
    smaller = range(2, num_players) if rules.match == "elimination" else ()
    found: dict[int, Champion] = {}
    for players in (num_players, *smaller):
        for one in _candidates(rules, players):
            if one.num_players == players and plays_hands_of(one.rules, rules, players):
                found[players] = one
                break
        if num_players not in found:
            return {}
    return found


def _candidates(rules: RuleSet, num_players: int) -> Iterator[Champion]:
    """Yield who might play a game, those first whose file's name says so: it is the card that decides.

    A damaged file is passed over, so that it spoils no other game, unless it is the one that bears this game's name.
    """
    own = FOLDER / f"{rules.preset}-{num_players}.onnx"
    ending = f"-{num_players}"
    for path in sorted(FOLDER.glob("*.onnx"), key=lambda path: (path != own, not path.stem.endswith(ending), path.name)):
        one = _read_or_error(path)
        if isinstance(one, Champion):
            yield one
        elif path == own:
            raise one


def _read_or_error(path: Path) -> Champion | OpponentFileError:
    """Return a file's champion, or why there is none and what to do; it is read once as long as it does not change."""
    try:
        found = path.stat()
        return _read(path, found.st_size, found.st_mtime_ns)
    except (OpponentFileError, OSError) as error:
        reason = f"cannot read {path}: {error.strerror or error}" if isinstance(error, OSError) else error
        recipe = RECIPES / f"{path.stem}.yaml"
        again = f", or train it anew with `python train.py {recipe.as_posix()}`" if _is_there(recipe) else ""
        return OpponentFileError(f"{reason}; put the file back that came with the project{again}")


@lru_cache(maxsize=64)
def _read(path: Path, size: int, changed: int) -> Champion:
    card = read_card(read_opponent(path)[1], str(path))
    return Champion(path, card, card_rules(card, str(path)), int(card["num_players"]), size)


def _is_there(recipe: Path) -> bool:
    """Whether a checkout of the project is used that has this recipe; an installed package has none."""
    return (Path(__file__).parents[1] / recipe).is_file()


def _none_for(rules: RuleSet, num_players: int, name: str) -> str:
    """Say that nobody plays this game, who comes nearest, and how to train one."""
    known, broken = champions(), damaged()
    near = _nearest(known, rules, num_players) if known else "none come with this installation"
    faults = f"; {counted(len(broken), 'file')} cannot be read, `tonk champions` says which" if broken else ""
    return (
        f"agent {name!r}: there is none for {rules_title(rules)} with {counted(num_players, 'player')}: {near}{faults}; train "
        f"one with `{_training(rules, num_players)}` and name its run folder, or take another player such as expert"
    )


def _training(rules: RuleSet, num_players: int) -> str:
    """Return the command that trains a champion of a game: by its own recipe, if it has one, else by that of all."""
    own = RECIPES / f"{rules.preset}-{num_players}.yaml"
    if _is_there(own) and not hand_differences(make_rules(rules.preset), rules):
        return f"python train.py {own.as_posix()}"
    game = rules.replace(match="hands", hands=1).to_dict()
    return (
        f"python train.py {(RECIPES / 'champion.yaml').as_posix()} game.rules={game['preset']} "
        f"'game.options={json.dumps(game['set'])}' game.num_players={num_players}"
    )


def _nearest(known: list[Champion], rules: RuleSet, num_players: int) -> str:
    """Name the champion in which least differs, what that is, and a few that come next."""

    def distance(one: Champion) -> tuple[int, int]:
        return len(hand_differences(one.rules, rules)), abs(one.num_players - num_players)

    near, *others = sorted(known, key=distance)
    options = hand_differences(near.rules, rules)
    parts = [f"it is for {counted(near.num_players, 'player')}"] if near.num_players != num_players else []
    parts += [
        f"`{name}` is {getattr(near.rules, name)!r} there and {getattr(rules, name)!r} here" for name in options[:MOST_OPTIONS]
    ]
    if len(options) > MOST_OPTIONS:
        parts.append(f"and {counted(len(options) - MOST_OPTIONS, 'option')} more")
    words = f"the nearest, {near.name}, differs: {', '.join(parts) or f'it plays {rules_title(near.rules)}'}"
    if not others:
        return words
    after = ", ".join(one.name for one in others[: MOST_NEAR - 1])
    more = f" (`tonk champions` lists all {len(known)})" if len(known) > MOST_NEAR else ""
    return f"{words}; next come {after}{more}"
