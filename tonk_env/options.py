"""What an option of the rules is: its default, clause, meaning and allowed values, and the check of one value."""

from __future__ import annotations

import difflib
import itertools
import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field
from typing import Any

import numpy as np

ALL_RANKS = "A23456789TJQK"
COURT_VALUES = ((10, 10, 10), (11, 12, 13))
MAX_COUNT = 127  # opening counts are kept in 128 bits; no hand of seven cards counts more than 91


class RuleSetError(ValueError):
    """A rule set, an option, a preset or a number of players that is refused; the message is one sentence."""


class _NotAllowed(Exception):
    """Raised inside a kind's `parse` for a value outside the allowed ones; never leaves this module."""


@dataclass(frozen=True)
class Kind:
    """One kind of option value: what is allowed in words, and the parser that returns the value in its normal form."""

    allowed: str
    parse: Callable[[object], Any]
    choices: tuple[Any, ...] | None = None
    range: tuple[float, float] | None = None


def option(default: Any, clause: str, doc: str, kind: Kind) -> Any:
    """Declare a dataclass field that is an option; its metadata has `clause`, `doc`, `allowed`, `choices`, `range`."""
    metadata = {
        "clause": clause,
        "doc": doc,
        "allowed": kind.allowed,
        "choices": kind.choices,
        "range": kind.range,
        "kind": kind,
    }
    return field(default=default, metadata=metadata)


def checked(spec: Field[Any], value: object) -> Any:
    """Return `value` in the normal form of the option `spec`; RuleSetError names option, value and what is allowed."""
    kind: Kind = spec.metadata["kind"]
    try:
        return kind.parse(value)
    except _NotAllowed:
        hint = nearest(value, kind.choices) if kind.choices and isinstance(value, str) else ""
        text = f"Option `{spec.name}` is {reprlib.repr(value)}, but must be {kind.allowed} ({spec.metadata['clause']})"
        raise RuleSetError(f"{text}{hint}.") from None


def nearest(name: object, known: Iterable[object]) -> str:
    """Return " (did you mean `x`?)" with the known name closest to `name`, or "" if none is close."""
    names = [str(k) for k in known]
    close = difflib.get_close_matches(str(name).lower(), names, n=1, cutoff=0.75)
    return f" (did you mean `{close[0]}`?)" if close else ""


def refuse_unknown(names: Iterable[object], known: Iterable[str], what: str) -> None:
    """Raise RuleSetError for the first of `names` that is not in `known`, with the nearest known name."""
    known = list(known)
    for name in names:
        if name not in known:
            hint = nearest(name, known) or f"; known are {', '.join(known)}"
            raise RuleSetError(f"There is no {what} `{name}`{hint}.")


def json_value(value: object) -> object:
    """Return an option value as JSON writes it: a tuple becomes a list, everything else stays."""
    return list(value) if isinstance(value, tuple) else value


def _whole_number(value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise _NotAllowed
    return int(value)


def _real_number(value: object, low: float, high: float) -> int | float:
    """Return a finite number in range; a whole one as int, so that 50 and 50.0 are one value and one fingerprint."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise _NotAllowed
    if not low <= value <= high or math.isnan(value):
        raise _NotAllowed
    return int(value) if value == int(value) else float(value)


def choice(*names: str) -> Kind:
    """One of the given words."""

    def parse(value: object) -> str:
        if not isinstance(value, str) or value not in names:
            raise _NotAllowed
        return str(value)

    return Kind(f"one of {', '.join(map(repr, names))}", parse, choices=names)


def flag() -> Kind:
    """True or false; numbers and words are refused."""

    def parse(value: object) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise _NotAllowed
        return bool(value)

    return Kind("true or false", parse, choices=(True, False))


def whole(low: int, high: int, zero: str = "") -> Kind:
    """A whole number from `low` to `high`, both allowed; `zero` says in words what 0 means."""
    words = f"a whole number from {low} to {high}" + (f" (0: {zero})" if zero else "")
    return Kind(words, lambda value: _whole_number(value, low, high), range=(low, high))


def whole_or_off(low: int, high: int) -> Kind:
    """A whole number from `low` to `high`, or None for off."""
    words = f"a whole number from {low} to {high}, or null for off"
    return Kind(words, lambda value: None if value is None else _whole_number(value, low, high), range=(low, high))


def positive(off: str = "") -> Kind:
    """A positive number up to 10^9; with `off`, also None, which those words explain."""
    low, high = 1e-9, 1e9

    def parse(value: object) -> int | float | None:
        return None if off and value is None else _real_number(value, low, high)

    return Kind("a positive number up to 1e9" + (f", or null ({off})" if off else ""), parse, range=(low, high))


def cap() -> Kind:
    """A number from 0 (no cap) to 10^9."""
    return Kind("a number from 0 (no cap) to 1e9", lambda value: _real_number(value, 0, 1e9), range=(0, 1e9))


def counts() -> Kind:
    """A set of hand counts, kept as a rising tuple; any list, tuple or set is read, None is the empty set."""

    def parse(value: object) -> tuple[int, ...]:
        if value is None:
            return ()
        if not isinstance(value, (list, tuple, set, frozenset)):
            raise _NotAllowed
        return tuple(sorted({_whole_number(count, 0, MAX_COUNT) for count in value}))

    return Kind(f"a list of whole numbers from 0 to {MAX_COUNT}, empty for off", parse, range=(0, MAX_COUNT))


def rank_string() -> Kind:
    """Ranks in use: characters of A23456789TJQK in that order, each once, at least one."""

    def parse(value: object) -> str:
        if not isinstance(value, str) or not value or any(rank not in ALL_RANKS for rank in value):
            raise _NotAllowed
        places = [ALL_RANKS.index(rank) for rank in value]
        if any(a >= b for a, b in itertools.pairwise(places)):
            raise _NotAllowed
        return str(value)

    return Kind(f"a quoted word of ranks out of '{ALL_RANKS}' in that order, each once, at least one", parse)


def courts() -> Kind:
    """The values of J, Q and K: (10, 10, 10) or (11, 12, 13)."""

    def parse(value: object) -> tuple[int, ...]:
        if not isinstance(value, (list, tuple)) or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
            raise _NotAllowed
        if tuple(value) not in COURT_VALUES:
            raise _NotAllowed
        return tuple(value)

    return Kind("[10, 10, 10] or [11, 12, 13]", parse, choices=COURT_VALUES)


def reachable_counts(values: Iterable[int], hand_size: int) -> int:
    """Return the counts that `hand_size` cards out of a deck of such values can have: bit c is set if c is possible."""
    sums = [1] + [0] * hand_size
    for value in values:
        for size in range(hand_size, 0, -1):
            sums[size] |= sums[size - 1] << value
    return sums[hand_size]


def option_specs(rule_set: type) -> Mapping[str, Field[Any]]:
    """Return the fields of a dataclass that were declared by `option`, by name, in order."""
    fields: dict[str, Field[Any]] = rule_set.__dataclass_fields__  # type: ignore[attr-defined]
    return {name: spec for name, spec in fields.items() if "kind" in spec.metadata}
