"""One table for Python: each call plays or deals, and writes what Python wants to read next into plain arrays.

Python hands over addresses, not arrays: checking and unpacking arrays for compiled code costs more than a move. What
stands where is told in the number that comes back.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from tonk_env.actions import ACTION_AT
from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import COMPILED, ZERO, jit, kernel, lowest, row_of, without_lowest
from tonk_env.kernels.deal import stock_size
from tonk_env.kernels.held import spread_cards, spread_places
from tonk_env.kernels.lay import hit_card
from tonk_env.kernels.many import show
from tonk_env.kernels.match import book_hand, deal_next, start_match
from tonk_env.kernels.observe import is_legal, view_of, write_view
from tonk_env.kernels.players import choose
from tonk_env.kernels.settle import OVER
from tonk_env.state import LAYOUT_DTYPE, RULE_DTYPE, TABLE_DTYPE, VIEW_DTYPE

ONLY = np.int64(0)  # an array of one dimension is one row
DEAL, NEXT, BOOK, START, BEGIN, TELL = np.array([-1, -2, -3, -4, -5, -6])  # what to do; an action from 0 is played
RULE, LAYOUT, TABLE, VIEW, SEEN, LEGAL, CHOICES, HELD = np.arange(8)  # entries of a table's handles
REFUSED = np.int64(-1)  # told of an action that is not legal

# The number that is told, lowest bits first: seat on turn (3 bits), phase (3), whether the match is over (1), live seats
# (6), cards left in the stock (6), number of legal actions (the rest).
PHASE_AT, OVER_AT, LIVE_AT, STOCK_AT, CHOICES_AT = 3, 6, 7, 13, 19

if COMPILED:

    def _at(dtype: np.dtype[Any]) -> Any:
        """A function that turns an address into a record."""
        record = numba.from_dtype(dtype)

        @intrinsic
        def record_at(typingctx: Any, address: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.inttoptr(args[0], context.get_value_type(record))

            return record(types.int64), codegen

        return record_at

    rule_at, layout_at, table_at, view_at = _at(RULE_DTYPE), _at(LAYOUT_DTYPE), _at(TABLE_DTYPE), _at(VIEW_DTYPE)

    @intrinsic
    def put_number(typingctx: Any, numbers: Any, index: Any, value: Any) -> Any:
        """Write an entry of an int64 array, given its address."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = builder.inttoptr(args[0], args[2].type.as_pointer())
            builder.store(args[2], builder.gep(start, [args[1]]))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), codegen

    @intrinsic
    def get_number(typingctx: Any, numbers: Any, index: Any) -> Any:
        """Read an entry of an int64 array, given its address."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = builder.inttoptr(args[0], args[1].type.as_pointer())
            return builder.load(builder.gep(start, [args[1]]))

        return types.int64(types.int64, types.int64), codegen

    def handles_of(*arrays: np.ndarray) -> tuple[Any, Any]:
        """Handles of the arrays RULE to CHOICES, of one record or row each, which must live as long: int64 ``(8,)``.

        The second is what kernels take: a number, the address of the first.
        """
        handles = np.array([*(array.ctypes.data for array in arrays), 0], dtype=np.int64)
        return handles, int(handles.ctypes.data)

else:

    def rule_at(record: Any) -> Any:
        """The record itself."""
        return record

    layout_at = table_at = view_at = rule_at

    def put_number(numbers: Any, index: Any, value: Any) -> None:
        """Write an entry of an array."""
        numbers[index] = value

    def get_number(numbers: Any, index: Any) -> Any:
        """Read an entry of an array."""
        return numbers[index]

    def handles_of(*arrays: np.ndarray) -> tuple[Any, Any]:
        """Handles of the arrays RULE to CHOICES: records and rows themselves. The second is what kernels take: the same."""
        handles = [*(array[0] if array.dtype.names else array for array in arrays), 0]
        return handles, handles


@kernel
def write_choices(t, choices):
    """Write the legal action numbers, rising. Returns how many there are."""
    count, words = 0, np.int64(t.words)
    while words != 0:
        word = lowest(np.uint64(words))
        left = t.legal[word]
        while left != ZERO:
            action, at = np.int64(ACTION_AT[word, lowest(left)]), count
            while at > 0 and get_number(choices, at - 1) > action:  # rare: words and their bits mostly rise by action
                put_number(choices, at, get_number(choices, at - 1))
                at -= 1
            put_number(choices, at, action)
            count += 1
            left = without_lowest(left)
        words &= words - 1
    return count


@jit
def do(handles, what):
    """Play action ``what``, or deal, book, begin or only look. Returns what is to be told, or REFUSED: nothing was done."""
    rule, layout = rule_at(get_number(handles, RULE)), layout_at(get_number(handles, LAYOUT))
    t = table_at(get_number(handles, TABLE))
    if what >= 0:
        if t.match_over or t.phase == OVER or what >= layout.actions or not is_legal(t, what):
            return REFUSED
        for seat in range(6):
            t.rewards[seat] = 0.0
        put_number(handles, HELD, np.int64(t.hand[t.turn]))
        apply(rule, t, what)
    if what in (START, BEGIN):
        start_match(rule, t)
    if what in (BOOK, NEXT):
        book_hand(rule, t)
    if what == NEXT:
        t.stacked = False
    if what in (DEAL, BEGIN) or (what == NEXT and not t.match_over):
        deal_next(rule, t)
    count = np.int64(0)
    if t.phase != OVER or t.match_over:
        seen, legal = get_number(handles, SEEN), get_number(handles, LEGAL)
        show(rule, layout, t, view_at(get_number(handles, VIEW)), seen, legal)
        count = 0 if t.match_over else write_choices(t, get_number(handles, CHOICES))
    told = np.int64(t.turn) | (np.int64(t.phase) << PHASE_AT) | (np.int64(t.match_over) << OVER_AT)
    return told | (np.int64(t.live) << LIVE_AT) | (stock_size(rule, t) << STOCK_AT) | (count << CHOICES_AT)


@jit
def choose_one(handles, kind, param, random):
    """Action of a compiled player for the seat on turn, whose view lies ready since the last ``do``.

    ``random`` has 63 bits, which Python passes as a plain number.
    """
    word = np.uint64(random) << np.uint64(1)
    rule, v, t = rule_at(get_number(handles, RULE)), view_at(get_number(handles, VIEW)), table_at(get_number(handles, TABLE))
    return choose(rule, kind, param, v, t, word)


@jit
def places_of(rules, word, index):
    """Places of the spread that a bit of a word of legal moves stands for, as a card set."""
    return spread_places(rules[0], word, index)


@jit
def cards_of_spread(rules, held, word, index):
    """(places, natural cards, wilds) of a spread laid from a hand, as card sets."""
    return spread_cards(rules[0], held, word, index)


@jit
def card_of_hit(rules, held, word, index):
    """Card with which a hit is made from a hand, as a set."""
    return hit_card(rules[0], held, word, index)


@jit
def observe_seat(rules, layouts, tables, seat, observation):
    """Write what any seat may know now."""
    views = np.zeros(1, VIEW_DTYPE)
    view_of(rules[0], layouts[0], tables[0], seat, views[0])
    write_view(layouts[0], views[0], row_of(observation, ONLY))
