"""Reads what several commands take: rule sets from the command line, numbers of players, the console to print on."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tonk_env.files import check_writable
from tonk_env.rules import OPTIONS, RuleSet, RuleSetError, make_rules

STDOUT = Path("-")  # as the name of a file to write
PIPE_WIDTH = 80  # columns where there is no terminal to ask and COLUMNS is not set


def rules_from(preset: str | RuleSet, settings: Sequence[str]) -> RuleSet:
    """Return the rules of a preset, or other rules, with KEY=VALUE settings on top. Raises RuleSetError."""
    options: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise RuleSetError(f"--set {setting!r} is not of the form KEY=VALUE, as in --set hand_size=7.")
        if key in options:
            raise RuleSetError(f"--set names the option `{key}` twice.")
        options[key] = option_value(key, text.strip())
    return make_rules(preset, **options)


def option_value(key: str, text: str) -> Any:
    """Return a setting's text as the kind of value that the option has; the rule set checks it.

    Options that are words take the text as it stands, lists may be written `49,50` or `[49, 50]`, `off` and `none` are
    null, numbers and `true`/`false` as usual. The text of an unknown option is returned as it is.
    """
    if key not in OPTIONS:
        return text
    default = OPTIONS[key].default
    if isinstance(default, str):
        return text.strip("'\"")
    if isinstance(default, tuple):
        inner = text.strip("[]() ")
        return [] if inner.lower() in ("", "none", "null", "off") else [_plain(part) for part in inner.split(",")]
    if text.lower() in ("none", "null", "off"):
        return False if isinstance(default, bool) else None
    if isinstance(default, bool) and text.lower() in ("yes", "on", "no"):
        return text.lower() != "no"
    return _plain(text)


def _plain(text: str) -> Any:
    """Return text as the JSON value it spells, in any case, or as it is."""
    try:
        return json.loads(text.strip().lower())
    except ValueError:
        return text


def game_from(
    preset: str | None, settings: Sequence[str], players: int | None, specs: Sequence[str], seats: int | None = None
) -> tuple[RuleSet, int]:
    """Return rules and number of players of a command that names agents.

    What is not said is taken from the card of the first exported opponent among the agents, as it plays only that game;
    without one the rules are `points` and the players ``seats`` or the least allowed. Raises RuleSetError.
    """
    card = _card_of(specs) if preset is None else None
    rules = rules_from(card[0] if card else "points" if preset is None else preset, settings)
    if players is None:
        players = seats if seats is not None else card[1] if card else None
    return rules, rules.check_players(players)


def _card_of(specs: Sequence[str]) -> tuple[RuleSet, int] | None:
    """Return the game on the card of the first exported opponent; None if there is none."""
    from agents.specs import parse_spec

    for spec in specs:
        parsed = parse_spec(spec)
        path = parsed.path
        if path is not None and parsed.kind == "cfr":
            from agents.table_agent import table_game

            return table_game(path)
        if path is not None:
            from agents.card import card_rules, read_card
            from agents.onnx_file import read_opponent

            card = read_card(read_opponent(path)[1], str(path))
            return card_rules(card, str(path)), int(card["num_players"])
    return None


def check_output(path: Path | None) -> None:
    """Refuse early what cannot be written; ``-`` is for the commands that say so. Raises OSError with a sentence."""
    if path == STDOUT:
        raise OSError("cannot write to -: only --json FILE may be -, which prints the result; give the name of a file")
    if path is not None:
        check_writable(path)


def console(stderr: bool = False) -> Any:
    """Return the rich console of this process, as wide as the terminal, or as COLUMNS or 80 where there is none."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else width(), highlight=False)


def amount(text: str) -> int:
    """Return a whole number written as ``20M``, ``500k``, ``2_000_000`` or plainly. Raises ValueError with a sentence."""
    digits = text.strip().lower().replace("_", "").replace(",", "")
    factor = {"k": 1_000, "m": 1_000_000}.get(digits[-1:], 1)
    try:
        value = float(digits[:-1] if factor > 1 else digits) * factor
    except ValueError:
        value = 0.0
    if not (1 <= value < 1e15 and value == int(value)):
        raise AmountError(f"{text!r} is not a whole number of at least 1, as in 500k, 20M or 2_000_000")
    return int(value)


class AmountError(ValueError):
    """A text that is no whole number; the message is one sentence."""


def width() -> int:
    """Return the columns to write in: COLUMNS, else those of a terminal at the output, else 80."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isascii() and columns.isdigit() and int(columns) else PIPE_WIDTH
