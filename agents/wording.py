"""Words for people that several places need: numbers with their nouns, rule sets in a line, short names of agents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from tonk_env.rules import RuleSet

OPPONENT_FILE = "opponent.onnx"  # of a run folder, which is named after the run


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 hand``, ``2,000 matches``."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return a regular English noun in the plural."""
    return noun + ("es" if noun.endswith(("ch", "s", "x")) else "s")


def rules_title(rules: RuleSet) -> str:
    """Return the preset with the options that differ from it: ``points (match=hands)``."""
    changed = ", ".join(f"{key}={value}" for key, value in rules.to_dict()["set"].items())
    return f"{rules.preset} ({changed})" if changed else rules.preset


def short_names(names: Sequence[str]) -> list[str]:
    """Return names with the folders left out that are not needed to tell them apart: ``runs/a/opponent.onnx`` is ``a``."""
    parts = [_parts(name) for name in names]
    shown = [1] * len(parts)
    while True:
        short = ["/".join(part[-count:]) for part, count in zip(parts, shown, strict=True)]
        longer = [
            min(len(part), count + 1) if short.count(name) > 1 else count
            for part, count, name in zip(parts, shown, short, strict=True)
        ]
        if longer == shown:
            return short if len(set(short)) == len(set(names)) else list(names)
        shown = longer


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a path, the file's name joined to its mode; a run's opponent stands for its folder."""
    parts = PurePath(name).parts or (name,)
    if len(parts) > 1 and parts[-1].startswith(OPPONENT_FILE):
        return (*parts[:-2], parts[-2] + parts[-1].removeprefix(OPPONENT_FILE))
    return parts
