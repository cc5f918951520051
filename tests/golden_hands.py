"""Golden hands as text a person can read: heading, deck, what each seat sees at the deal and before the end, moves, result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tonk_env.records import RESULTS, parse_record
from tonk_env.replay import Replay
from tonk_env.table import HandResult

FOLDER = Path(__file__).parent / "golden"
FACTS = ("hand", "players", "seats", "start", "totals")
VIEW = "    "


def golden_text(title: str, hand: HandResult) -> str:
    """Return a hand as a golden file."""
    record = hand.to_record()
    lines = [f"# {title}", f"preset: {record['rules']['preset']}"]
    if record["rules"]["set"]:
        lines.append(f"set: {json.dumps(record['rules']['set'])}")
    lines += [f"{name}: {_words(record[name])}" for name in FACTS]
    lines += [f"deck: {record['deck']}"]
    lines += [""] if hand.moves else []
    replay = Replay(hand)
    for position in range(len(replay) + 1):
        if position in (0, len(replay) - 1) and len(replay):
            lines += views(replay, position)
        if position < len(replay):
            lines.append(hand.moves[position])
    result = RESULTS[hand.rules.settlement != "points"]
    lines += ["", *(f"{name}: {_words(record[name])}" for name in ("ending", "counts", result, "winners"))]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def views(replay: Replay, position: int) -> list[str]:
    """Return what each seat sees at the deal, later what the seat on turn sees, as indented lines."""
    table = replay.go(position)
    lines: list[str] = []
    for seat in replay.hand.seats if position == 0 else [table.seat]:
        lines.append(f"{VIEW}player_{seat} sees")
        lines += [f"{VIEW}{VIEW}{line}".rstrip() for line in table.render(seat).splitlines()]
    return lines


def read_golden(path: Path) -> tuple[str, HandResult, dict[int, list[str]]]:
    """Return title, hand, and the lines of the views by the number of moves before them."""
    facts: dict[str, Any] = {}
    moves: list[str] = []
    seen: dict[int, list[str]] = {}
    title, *lines = path.read_text(encoding="utf-8").splitlines()
    for line in lines:
        name, colon, value = line.partition(": ")
        if line.startswith(VIEW):
            seen.setdefault(len(moves), []).append(line)
        elif colon and not line[0].isdigit():
            facts[name] = value
        elif line:
            moves.append(line)
    return title.removeprefix("# "), parse_record(json.dumps(_record(facts, moves))), seen


def _record(facts: dict[str, Any], moves: list[str]) -> dict[str, Any]:
    """Return the facts of a golden file as a record of section 13."""
    lists = {name: _read(value) for name, value in facts.items() if name in ("seats", "totals", "counts", *RESULTS, "winners")}
    return {
        "record": 1,
        "match": 0,
        "hand": int(facts["hand"]),
        "rules": {"preset": facts["preset"], "set": json.loads(facts.get("set", "{}"))},
        "players": int(facts["players"]),
        "start": int(facts["start"]),
        "deck": facts["deck"],
        "moves": moves,
        "ending": facts["ending"],
        **lists,
    }


def _words(value: Any) -> str:
    if isinstance(value, list):
        return " ".join("out" if entry is None else str(entry) for entry in value) or "nobody"
    return str(value)


def _read(text: str) -> list[Any]:
    if text == "nobody":
        return []
    return [None if entry == "out" else json.loads(entry) for entry in text.split()]
