"""The card of an exported opponent: which game it plays, where it comes from, how strong it was measured to be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from agents.base import AgentSpecError
from tonk_env.actions import ACTION_SPACE_VERSION, FAMILIES, num_actions
from tonk_env.observation import OBSERVATION_SPACE_VERSION, ObservationLayout
from tonk_env.rules import RuleSet, RuleSetError

CARD_FORMAT = 1
CARD_KEY = "tonk"  # of the ONNX metadata
REQUIRED: dict[str, tuple[type, str]] = {  # of a card and, after a dot, of its spaces; the words are for a sentence
    "rules": (dict, "an object"),
    "rules_fingerprint": (str, "a text"),
    "num_players": (int, "a whole number"),
    "spaces": (dict, "an object"),
    "fingerprint": (str, "a text"),
    "weights": (str, "a text"),
    "spaces.observation": (dict, "an object"),
    "spaces.action": (dict, "an object"),
}
MAX_DEPTH = 50  # of objects and lists inside each other; a card has about five


class OpponentFileError(AgentSpecError):
    """A file that is no opponent, is damaged, or plays another game; the message is one sentence."""


def make_card(
    rules: RuleSet, num_players: int, provenance: Mapping[str, Any], strength: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a card. ``provenance`` says how the opponent was made, ``strength`` what was measured, both plain data.

    What tells the weights apart, ``weights``, is added when the file is written.
    """
    game = describe_game(rules, num_players)
    return {
        "format": CARD_FORMAT,
        **game,
        "fingerprint": _digest(game),
        "provenance": dict(provenance),
        "strength": dict(strength or {}),
    }


def describe_game(rules: RuleSet, num_players: int) -> dict[str, Any]:
    """Return rules, players and spaces, each with what tells it from others."""
    layout = ObservationLayout(rules, num_players)
    actions = num_actions(rules)
    families = [(family.name, family.base, family.count) for family in FAMILIES.values() if family.end <= actions]
    return {
        "rules": rules.to_dict(),
        "rules_fingerprint": rules.fingerprint(),
        "num_players": num_players,
        "spaces": {
            "observation": {
                "version": OBSERVATION_SPACE_VERSION,
                "size": layout.size,
                "fingerprint": layout.fingerprint,
            },
            "action": {"version": ACTION_SPACE_VERSION, "size": actions, "fingerprint": _digest(families)},
        },
    }


def read_card(text: str, source: str) -> dict[str, Any]:
    """Return the card in a file's metadata. Raises ``OpponentFileError`` if it is none; ``source`` names the file."""
    card = _parsed(text, source)
    if not isinstance(card, dict):
        raise OpponentFileError(f"{source}: the card in its metadata is not an object")
    if card.get("format") != CARD_FORMAT:
        raise OpponentFileError(
            f"{source}: its card is of format {card.get('format')!r}; this version reads format {CARD_FORMAT}"
        )
    _check_parts(card, source)
    game = {key: card[key] for key in ("rules", "rules_fingerprint", "num_players", "spaces")}
    if _digest(game) != card["fingerprint"]:
        raise OpponentFileError(f"{source}: its card is damaged, the fingerprint does not match what it says")
    return card


def _parsed(text: str, source: str) -> Any:
    """The data in a card's text, nested no deeper than any reader of it can follow."""
    try:
        card = json.loads(text)
        level = [card]
        for _ in range(MAX_DEPTH):
            inside = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
            level = [inner for group in inside for inner in group]
        if level:
            raise RecursionError
    except (ValueError, RecursionError):
        raise OpponentFileError(f"{source}: the card in its metadata is damaged, it is not valid JSON") from None
    return card


def _check_parts(card: dict[str, Any], source: str) -> None:
    """Refuse a card that lacks a part, or has one of another type than it is written with."""
    for path, (wanted, words) in REQUIRED.items():
        *above, key = path.split(".")
        holder = card[above[0]] if above else card
        if key not in holder:
            raise OpponentFileError(f"{source}: its card lacks {path!r}")
        if type(holder[key]) is not wanted:
            raise OpponentFileError(f"{source}: its card is damaged, {path!r} is {holder[key]!r:.60} and not {words}")


def card_rules(card: Mapping[str, Any], source: str) -> RuleSet:
    """Return the rules that a card names. Raises ``OpponentFileError`` if this version does not know them."""
    try:
        return RuleSet.from_dict(card["rules"])
    except RuleSetError as error:
        raise OpponentFileError(f"{source}: its rules are not known here: {error}") from None


def check_card(card: Mapping[str, Any], rules: RuleSet, num_players: int, source: str) -> None:
    """Refuse a card of another game. Raises ``OpponentFileError`` that names the part that differs."""
    wanted = describe_game(rules, num_players)
    if card["num_players"] != num_players:
        raise OpponentFileError(f"{source} plays at tables of {card['num_players']}, not of {num_players}")
    if card["rules_fingerprint"] != wanted["rules_fingerprint"]:
        raise OpponentFileError(f"{source} plays by other rules: {rule_difference(card['rules'], rules)}")
    for name in ("observation", "action"):
        theirs, ours = card["spaces"][name], wanted["spaces"][name]
        for part in ours:
            if theirs.get(part) != ours[part]:
                raise OpponentFileError(
                    f"{source} was made for another {name} space: its {part} is {theirs.get(part)!r}, here it is {ours[part]!r}"
                )


def check_same_game(name: str, made_for: tuple[RuleSet, int], rules: RuleSet, num_players: int) -> None:
    """Raise ``AgentSpecError`` unless a player made for some rules and players is asked to play just these."""
    own_rules, own_players = made_for
    if num_players != own_players:
        raise AgentSpecError(f"agent {name!r} was made for tables of {own_players}, not of {num_players}")
    if rules != own_rules:
        raise AgentSpecError(f"agent {name!r} was made for other rules: {rule_difference(own_rules.to_dict(), rules)}")


def rule_difference(theirs: Any, rules: RuleSet) -> str:
    """Say which options differ, as `option` theirs (here ours)."""
    try:
        other = RuleSet.from_dict(theirs)
    except RuleSetError as error:
        return str(error)
    changed = [
        f"`{name}` {value!r} (here {getattr(rules, name)!r})"
        for name, value in other.options().items()
        if value != getattr(rules, name)
    ]
    return ", ".join(changed) if changed else "an option of another version of the rules"


def _digest(value: Any) -> str:
    """16 hex digits of plain data, the same in every process."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
