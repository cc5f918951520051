"""Finished hands as text: one JSON object a line, written whole, read back line by line with everything checked.

The format is that of section 13 of the rules. A line that is refused is named with its field. Whether a hand replays as
it says is checked in ``replay``.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from tonk_env.cards import CARD_NAMES
from tonk_env.files import atomic_writer
from tonk_env.rules import RuleSet, RuleSetError
from tonk_env.state import ending_name, parse_ending
from tonk_env.table import HandResult

RECORD_FORMAT = 1
RESULTS = ("scores", "payoffs")
FIELDS = tuple("record match hand rules players seats start totals deck moves ending counts".split())
MAX_LINE = 1_000_000  # bytes; the longest hands stay far below


class RecordError(ValueError):
    """A recorded hand that is not as it should be; the message names the place, the field and what is wrong."""

    def __init__(self, problem: str, field: str | None = None, where: str = "") -> None:
        self.problem, self.field, self.where = problem, field, where
        named = f"field `{field}`: {problem}" if field else problem
        super().__init__(f"{where}: {named}" if where else named)

    def at(self, where: str) -> RecordError:
        """Return the same error with the place it occurred in."""
        return RecordError(self.problem, self.field, where)


def format_record(hand: HandResult) -> str:
    """Return a finished hand as one line of text, without the line's end."""
    return json.dumps(hand.to_record(), ensure_ascii=False, allow_nan=False)


def write_records(path: str | os.PathLike[str], hands: Iterable[HandResult]) -> int:
    """Write hands to a file, one a line, and return their number; the file appears whole or not at all."""
    written = 0
    with atomic_writer(path) as stream:
        for hand in hands:
            stream.write(format_record(hand) + "\n")
            written += 1
    return written


def read_records(path: str | os.PathLike[str]) -> Iterator[tuple[int, HandResult]]:
    """Yield (line number from 1, hand) for each line of a file, one line in memory at a time.

    Raises ``RecordError`` for the first line that is no complete, consistent record, and ``OSError`` if there is no
    such file. Hands are not replayed.
    """
    with Path(path).open("rb") as stream:
        for number in _count_from_one():
            line = stream.readline(MAX_LINE + 1)
            if not line:
                return
            try:
                yield number, parse_record(_decode(line))
            except RecordError as error:
                raise error.at(f"{os.fspath(path)} line {number}") from None


def _count_from_one() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def _decode(line: bytes) -> str:
    if len(line) > MAX_LINE:
        raise RecordError(f"longer than {MAX_LINE:,} bytes; a hand takes a few thousand")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError(f"byte {error.start + 1} is not UTF-8 text") from None


def parse_record(text: str) -> HandResult:
    """Return the hand that a line describes. Raises ``RecordError`` that names the field at fault."""
    data = _load(text)
    rules = _check("rules", data, lambda value: _rules(json.dumps(value, sort_keys=True)))
    result = RESULTS[rules.settlement != "points"]
    _check_names(data, result)
    _check("record", data, _format)
    players = _check("players", data, lambda value: _players(value, rules))
    seats = _check("seats", data, lambda value: _seats(value, players, "the seats still in the match"))
    _check_seats(seats, rules, players)

    def numbers(value: Any) -> list[float | None]:
        return _numbers(value, players, seats)

    return HandResult(
        rules=rules,
        match=_check("match", data, _whole),
        hand=_check("hand", data, _whole),
        players=players,
        seats=seats,
        start=_check("start", data, lambda value: _one_of(value, seats)),
        totals=_check("totals", data, numbers),
        deck=_check("deck", data, lambda value: _deck(value, rules)),
        moves=_check("moves", data, lambda value: _moves(value, seats)),
        ending=_check("ending", data, _ending),
        counts=_check("counts", data, numbers),
        scores=_check(result, data, numbers),
        winners=_check("winners", data, lambda value: _seats(value, players, "the winners")),
    )


def _load(text: str) -> dict[str, Any]:
    """Return the object on a line; repeated names and numbers that are none are refused."""
    if not text.strip():
        raise RecordError("the line is empty; every line holds one hand")
    try:
        data = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        cut = "" if text.endswith("\n") else "; the line may have been cut off"
        raise RecordError(f"column {error.colno}: not valid JSON ({error.msg}){cut}") from None
    except RecordError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise RecordError(f"not a record: {error}") from None
    except RecursionError:
        raise RecordError("not a record: it is nested too deeply") from None
    if not isinstance(data, dict):
        raise RecordError(f"a record is an object in braces, not {_short(data)}")
    if "rules" not in data:
        raise RecordError("is missing", "rules")
    return data


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        raise RecordError("stands there twice", next(name for name in names if names.count(name) > 1))
    return data


def _no_constant(name: str) -> Any:
    raise RecordError(f"{name} is not a number that a record may hold")


def _check_names(data: dict[str, Any], result: str) -> None:
    """Refuse missing fields and fields that no record has."""
    wanted = (*FIELDS, result, "winners")
    for name in wanted:
        if name not in data:
            other = RESULTS[1 - RESULTS.index(result)]
            why = f"; under these rules the result is `{result}`, not `{other}`" if other in data else ""
            raise RecordError("is missing" + why * (name == result), name)
    for name in data:
        if name not in wanted:
            raise RecordError(f"no record has it; the fields are {', '.join(wanted)}", name)


def _check(name: str, data: dict[str, Any], read: Callable[[Any], Any]) -> Any:
    """Return a field as read; a fault is raised with the field's name."""
    try:
        return read(data[name])
    except (RuleSetError, RecordError) as error:
        raise RecordError(str(error), name) from None


@lru_cache(maxsize=64)
def _rules(text: str) -> RuleSet:
    """Return a rule set from its JSON text; the lines of a file mostly share one."""
    return RuleSet.from_dict(json.loads(text))


@lru_cache(maxsize=64)
def _cards(rules: RuleSet) -> dict[str, int]:
    """Return the cards of a rule set's deck, name to number."""
    return {CARD_NAMES[card]: int(card) for card in rules.record().deck[: rules.deck_size]}


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _format(value: Any) -> int:
    if value != RECORD_FORMAT or not _is_whole(value):
        raise RecordError(f"is {_short(value)}; this version reads records of format {RECORD_FORMAT}")
    return RECORD_FORMAT


def _whole(value: Any) -> int:
    if not _is_whole(value) or not 0 <= value < 2**31 - 1:
        raise RecordError(f"is {_short(value)}; a whole number from 0 is needed")
    return int(value)


def _players(value: Any, rules: RuleSet) -> int:
    if not _is_whole(value):
        raise RecordError(f"is {_short(value)}; a whole number is needed")
    return rules.check_players(value)


def _one_of(value: Any, seats: list[int]) -> int:
    if not _is_whole(value) or value not in seats:
        raise RecordError(f"is {_short(value)}; it is one of the seats {seats}")
    return int(value)


def _seats(value: Any, players: int, what: str) -> list[int]:
    """Return a rising list of seats."""
    good = isinstance(value, list) and all(_is_whole(seat) and 0 <= seat < players for seat in value)
    if not good or value != sorted(set(value)):
        raise RecordError(f"is {_short(value)}; {what} are a rising list of numbers from 0 to {players - 1}")
    return list(value)


def _check_seats(seats: list[int], rules: RuleSet, players: int) -> None:
    if len(seats) < 2:
        raise RecordError(f"is {seats}; a hand is played by at least two", "seats")
    if rules.match != "elimination" and len(seats) < players:
        raise RecordError(f"is {seats}; nobody leaves a match of `{rules.match}`: all {players} seats are in", "seats")


def _numbers(value: Any, players: int, seats: list[int]) -> list[float | None]:
    """Return one number for each seat in the match and None for each other seat."""
    if not isinstance(value, list) or len(value) != players:
        raise RecordError(f"is {_short(value)}; one entry for each of {players} seats is needed")
    for seat, number in enumerate(value):
        if seat not in seats:
            if number is not None:
                raise RecordError(f"entry {seat} is {_short(number)}; that seat is not in the match, so null is needed")
        elif isinstance(number, bool) or not isinstance(number, int | float) or not _fits(number):
            raise RecordError(f"entry {seat} is {_short(number)}; a number is needed")
    return [None if number is None else float(number) for number in value]


def _fits(number: float) -> bool:
    """Return whether a number is finite and small enough to be one."""
    return abs(number) < 1e300 and math.isfinite(number)


def _deck(value: Any, rules: RuleSet) -> list[int]:
    if not isinstance(value, str):
        raise RecordError(f"is {_short(value)}; the cards in dealing order, with blanks between, are needed")
    cards, names = _cards(rules), value.split(" ")
    for position, name in enumerate(names, start=1):
        if name not in cards:
            raise RecordError(f"card {position} is {_short(name)}, which is not in the deck of these rules")
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise RecordError(f"{twice} is there twice")
    if len(names) < len(cards):
        missing = [name for name in cards if name not in names]
        raise RecordError(f"{len(missing)} of {len(cards)} cards are missing: {' '.join(missing[:5])}")
    return [cards[name] for name in names]


def _moves(value: Any, seats: list[int]) -> list[str]:
    if not isinstance(value, list):
        raise RecordError(f"is {_short(value)}; a list of moves is needed")
    starts = tuple(f"{seat} " for seat in seats)
    for number, move in enumerate(value, start=1):
        if not isinstance(move, str) or not move.startswith(starts):
            raise RecordError(f"move {number} is {_short(move)}; a seat of {seats}, a blank and its words are needed")
    return list(value)


def _ending(value: Any) -> str:
    try:
        return ending_name(parse_ending(value))
    except ValueError:
        raise RecordError(f"is {_short(value)}; {_endings()}") from None


def _endings() -> str:
    try:
        parse_ending("")
    except ValueError as error:
        return str(error).partition(": ")[2] + " are the endings"
    raise AssertionError("the empty name is no ending")
