"""What a table looks like from a seat: as data, and as text.

`look` is the only place where somebody's hidden cards are left out. The text here and the drawing in ``picture`` show
what it returned and never see the table, so that no picture can show more than the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tonk_env.cards import card_name
from tonk_env.state import Ending, Phase, parse_ending

if TYPE_CHECKING:
    from tonk_env.table import HandResult, Spread, Table

HIDDEN = "??"
SHOWING = (Ending.DROP, Ending.CAUGHT, Ending.TUNK, Ending.TUNK_CAUGHT)
LONGEST_CHANGES = 40  # characters of changed options in the title
ALL: Literal["all"] = "all"  # a viewer who sees every hand

PHASE_WORDS = {
    Phase.START: "to draw or take",
    Phase.PLAY: "to lay, hit or discard",
    Phase.TUNK: "said tunk, to discard",
    Phase.LAST_START: "last turn: to draw, take or pass",
    Phase.LAST_PLAY: "last turn: to hit or discard",
    Phase.PASSED: "last turn: to hit or pass",
}


@dataclass(frozen=True)
class SpreadLook:
    """A spread on the table: cards by name, each with the place it fills where that is another (a wild)."""

    kind: str  # "book" or "run"
    cards: tuple[str, ...]  # "7H", or "2S=7H" for a wild that stands for 7H


@dataclass(frozen=True)
class SeatLook:
    """One seat as somebody sees it."""

    name: str
    cards: tuple[str, ...]  # "??" for a card that the viewer does not know
    count: str  # of the hand where the viewer knows all of it, else ""
    total: str  # in the match, "" in a single hand
    on_turn: bool
    out: bool  # no longer in the match
    barred: int  # own turns at which it may not drop yet (R22, R23)
    spreads: tuple[SpreadLook, ...]  # that it owns


@dataclass(frozen=True)
class TableLook:
    """A table as somebody sees it."""

    title: str  # rule set, hand and turn
    status: str  # who is to do what, or that it is over
    stock: int
    pile: tuple[tuple[str, str], ...]  # card and thrower, top last
    seats: tuple[SeatLook, ...]
    moves: tuple[str, ...]  # legal moves of the viewer, when on turn


def public_result(result: HandResult) -> dict[str, Any]:
    """What all players have seen of a hand that ended, under the names of the records; no deck and no hands."""
    return result.to_public()


def look(table: Table, viewer: int | Literal["all"]) -> TableLook:
    """The table as one seat sees it (R39), or with every hand open for ``"all"``. Raises ValueError for anybody else."""
    if viewer != ALL and (isinstance(viewer, bool) or viewer not in range(table.num_players)):
        raise ValueError(f"seat {viewer!r} is not at this table: seats are 0 to {table.num_players - 1}, or 'all'")
    pile = tuple((card_name(card), _thrower(by)) for card, by in table.pile)
    mine = viewer in (ALL, table.seat) and not table.over
    return TableLook(
        title=_title(table),
        status=_status(table),
        stock=int(table.stock_size),
        pile=pile,
        seats=tuple(_look_at(table, seat, viewer) for seat in range(table.num_players)),
        moves=tuple(table.legal_words()) if mine else (),
    )


def _look_at(table: Table, seat: int, viewer: int | Literal["all"]) -> SeatLook:
    facts = table.layout.decode(table.observation(seat)).as_dict()  # the seat's own view: row 0 is itself
    open_hand = viewer in (ALL, seat) or hands_were_shown(table)
    names = [card_name(card) for card in table.hand(seat)]
    cards = [name for name in names if open_hand or name in facts["known"][0]]
    return SeatLook(
        name=f"player_{seat}",
        cards=(*cards, *[HIDDEN] * (len(names) - len(cards))),
        count=_count(table, seat) or (str(facts["count"]) if open_hand else ""),
        total="" if table.rules.single_hand else f"{table.totals[seat]:g}",
        on_turn=not table.over and seat == table.seat,
        out=not table.live[seat],
        barred=max(facts.get("waiting", [0])[0], facts.get("frozen", [0])[0]),
        spreads=tuple(_look_at_spread(spread) for spread in table.spreads() if spread.owner == seat),
    )


def _look_at_spread(spread: Spread) -> SpreadLook:
    cards = tuple(
        card_name(card) if card == place else f"{card_name(card)}={card_name(place)}" for card, place in spread.cards
    )
    return SpreadLook(kind=spread.kind, cards=cards)


def _thrower(seat: int | None) -> str:
    return "" if seat is None else f"player_{seat}"


def _title(table: Table) -> str:
    return f"{_rules(table)} · {table.num_players} players · hand {table.hand_number + 1} · turn {int(table.record.turns) + 1}"


def _rules(table: Table) -> str:
    """The preset with its changed options; only how many they are where they would fill the line."""
    changed = [f"{name}={value}" for name, value in table.rules.to_dict()["set"].items()]
    words = ", ".join(changed)
    if len(words) > LONGEST_CHANGES:
        words = f"{len(changed)} options changed"
    return f"{table.rules.preset} ({words})" if changed else table.rules.preset


def hands_were_shown(table: Table) -> bool:
    """Whether the hand on the table is over and ended by comparing all hands, which lays them open (R21, R24, R28)."""
    if not table.over or table.last_hand is None:
        return False
    ending = parse_ending(table.last_hand.ending)
    if ending in (Ending.STOCK, Ending.TURN_LIMIT):
        return table.rules.drop != "after_draw" and table.rules.stock_result != "dead"
    return ending in SHOWING


def _count(table: Table, seat: int) -> str:
    """What everybody knows of a seat's count when the hand is over: the count it was settled by."""
    count = table.last_hand.counts[seat] if table.over and table.last_hand is not None else None
    return "" if count is None else f"{count:g}"


def _status(table: Table) -> str:
    if table.over:
        ended = "cut short" if table.truncated else "over"
        result = table.last_hand
        if result is None:
            return ended
        winners = ", ".join(f"player_{seat}" for seat in result.winners) or "nobody"
        return f"{ended}: {result.ending.replace('_', ' ')}, won by {winners}"
    return f"player_{table.seat} {_phase_words(table)}"


def _phase_words(table: Table) -> str:
    """What the seat on turn is to do, in the words of the rules being played."""
    if table.phase is Phase.START and table.rules.drop == "before_draw":
        return "to drop, draw or take"
    if table.phase is Phase.PLAY and table.rules.drop == "after_draw":
        return "to tunk or discard"
    return PHASE_WORDS[table.phase]


def text(view: TableLook) -> str:
    """The view in lines of plain text, in the words of the records."""
    pile = view.pile[-1][0] + (f" from {view.pile[-1][1]}" if view.pile[-1][1] else "") if view.pile else "empty"
    below = f", {len(view.pile) - 1} below" if len(view.pile) > 1 else ""
    lines = [f"{view.title} · {view.status}", f"stock {view.stock} · pile {pile}{below}"]
    lines += [_seat_line(seat) for seat in view.seats]
    if view.moves:
        lines.append("moves: " + " · ".join(view.moves))
    return "\n".join(lines)


def _seat_line(seat: SeatLook) -> str:
    return f"{'>' if seat.on_turn else ' '} {seat.name}  {seat_words(seat)}"


def seat_words(seat: SeatLook) -> str:
    """What is seen of a seat, in one line: cards, count, total, spreads."""
    facts = [
        "out" if seat.out else " ".join(seat.cards) or "no cards",
        f"count {seat.count}" if seat.count and not seat.out else "",
        f"total {seat.total}" if seat.total else "",
        f"no drop for {seat.barred} of its turns" if seat.barred else "",
        *(f"{spread.kind} {' '.join(spread.cards)}" for spread in seat.spreads),
    ]
    return " | ".join(fact for fact in facts if fact)
