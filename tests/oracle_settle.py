"""The second engine's settlement: who pays or scores what at each ending (R8, R21, R25, R28, R30-R34)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Counts = dict[int, int]
"""Seat to count after the hand, for the seats still in the match."""
Result = tuple[dict[int, float], list[int]]
"""Seat to score or payoff, and the winners."""


def nothing(counts: Counts) -> Result:
    """Nobody scores, nobody wins."""
    return dict.fromkeys(counts, 0.0), []


def pay(scores: dict[int, float], payer: int, receivers: list[int], amount: float) -> None:
    """Move an amount from one seat to others in equal parts."""
    scores[payer] -= amount
    for seat in receivers:
        scores[seat] += amount / len(receivers)


def gap(rules: Any, high: int, low: int) -> int:
    """Return a difference of counts, capped (R32)."""
    return min(high - low, rules.difference_cap) if rules.difference_cap > 0 else high - low


def unit(rules: Any, high: int, low: int) -> int:
    """Return what is paid before the multiplier: 1 in stakes, the gap of the counts in difference (R31, R32)."""
    return gap(rules, high, low) if rules.settlement == "difference" else 1


def lowest(counts: Counts, seats: Iterable[int]) -> list[int]:
    """Return those of some seats that hold their lowest count, rising."""
    among = sorted(seats)
    least = min(counts[seat] for seat in among)
    return [seat for seat in among if counts[seat] == least]


def shared_win(rules: Any, counts: Counts, winners: list[int], multiplier: int, winning_count: int) -> Result:
    """Let every other player score or pay `multiplier` times to the winners (R30-R32)."""
    scores = dict.fromkeys(counts, 0.0)
    for seat in counts:
        if seat in winners:
            continue
        if rules.settlement == "points":
            scores[seat] = float(multiplier * counts[seat])
        else:
            pay(scores, seat, winners, multiplier * unit(rules, counts[seat], winning_count))
    return scores, winners


def out(rules: Any, counts: Counts, winner: int, multiplier: int) -> Result:
    """Settle an emptied hand or an opening tonk: the winner's count is 0 (R8, R32)."""
    return shared_win(rules, counts, [winner], multiplier, 0)


def stock(rules: Any, counts: Counts) -> Result:
    """Settle a hand that ran out of stock or of turns (R25)."""
    winners = lowest(counts, counts)
    if rules.stock_result == "dead" or (len(winners) > 1 and rules.stock_tie == "dead"):
        return nothing(counts)
    return shared_win(rules, counts, winners, 1, counts[winners[0]])


def is_caught(rules: Any, counts: Counts, dropper: int, seat: int) -> bool:
    """Say whether a seat's count catches the dropper (R21)."""
    return counts[seat] < counts[dropper] or (rules.drop_tie == "caught" and counts[seat] == counts[dropper])


def drop(rules: Any, counts: Counts, dropper: int) -> tuple[str, Result]:
    """Settle a drop: the ending and the result (R21)."""
    catchers = [seat for seat in counts if seat != dropper and is_caught(rules, counts, dropper, seat)]
    if not catchers:
        return "drop", shared_win(rules, counts, [dropper], 1, counts[dropper])
    return "caught", caught(rules, counts, dropper, catchers)


def caught(rules: Any, counts: Counts, dropper: int, catchers: list[int]) -> Result:
    """Settle a caught drop by the option `caught_pays` (R33)."""
    others = [seat for seat in counts if seat != dropper]
    low = lowest(counts, others)
    scores = dict.fromkeys(counts, 0.0)
    times, way = rules.caught_multiplier, rules.caught_pays

    def dropper_pays(receivers: list[int]) -> None:
        for seat in receivers:
            pay(scores, dropper, [seat], times * unit(rules, counts[dropper], counts[seat]))

    def dropper_pays_low() -> None:
        pay(scores, dropper, low, times * unit(rules, counts[dropper], counts[low[0]]))

    def low_collects() -> None:
        for seat in others:
            if seat not in low:
                pay(scores, seat, low, 1)

    if way == "own_count":
        scores[dropper] = float(times * counts[dropper])
    elif way == "low_hand":
        dropper_pays_low()
    elif way == "each_catcher":
        dropper_pays(catchers)
    elif way == "each_lower":
        dropper_pays([seat for seat in others if counts[seat] < counts[dropper]])
    elif way == "every_player":
        dropper_pays(others)
    elif way == "low_collects":
        dropper_pays_low()
        low_collects()
    elif way == "catchers_and_low_collects":
        dropper_pays(catchers)
        low_collects()
    else:
        raise AssertionError(way)
    return scores, low


def tunk(rules: Any, counts: Counts, tunker: int) -> tuple[str, Result]:
    """Settle a tunk after the last turns: the ending and the result (R28)."""
    winners = lowest(counts, counts)
    beaten = tunker not in winners
    scores = {seat: float(count) for seat, count in counts.items()}
    if beaten:
        scores[tunker] *= rules.caught_multiplier
    return ("tunk_caught", (scores, winners)) if beaten else ("tunk", (scores, [tunker]))
