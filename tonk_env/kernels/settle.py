"""Who wins a hand and who pays whom (sections 4 to 7 of the rules). A payoff is positive for the seat that gets it."""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.bits import kernel, lowest
from tonk_env.kernels.deal import size_of
from tonk_env.kernels.held import count_of
from tonk_env.kernels.legal import clear_legal
from tonk_env.state import Phase

OVER = np.int64(Phase.OVER)
OPENING, CLASH, DROP, CAUGHT, TONK_OUT, RUN_OUT, STOCK, TURN_LIMIT, TUNK, TUNK_CAUGHT, VOID = np.arange(11)  # Ending
NOT_ONE = np.int64(-1)  # no seat left aside
POINTS, STAKES, DIFFERENCE = 0, 1, 2
OWN_COUNT, LOW_HAND, EACH_CATCHER, EACH_LOWER, EVERY_PLAYER, LOW_COLLECTS, CATCHERS_AND_LOW = 0, 1, 2, 3, 4, 5, 6


@kernel
def sits(t, seat):
    """Whether a seat was dealt into this hand."""
    return (t.in_hand >> seat) & 1 != 0


@kernel
def close_hand(rule, t, ending):
    """End the hand: count every hand (R6) and clear scores, winners and legal moves."""
    t.phase = OVER
    t.ending = ending
    t.winners = 0
    t.cut_short = False
    t.dropper = -1
    clear_legal(t)
    for seat in range(6):
        t.scores[seat] = 0.0
        t.counts[seat] = count_of(rule, t.hand[seat]) if sits(t, seat) else 0.0


@kernel
def lowest_count(t, without):
    """Least count of the hand, one seat left aside (-1 for none)."""
    least = 1e9
    for seat in range(t.num_players):
        if sits(t, seat) and seat != without and t.counts[seat] < least:
            least = t.counts[seat]
    return least


@kernel
def low_seats(t, without):
    """Seats with the least count as bits, one seat left aside."""
    least, seats = lowest_count(t, without), np.int64(0)
    for seat in range(t.num_players):
        if sits(t, seat) and seat != without and t.counts[seat] == least:
            seats |= 1 << seat
    return seats


@kernel
def capped_gap(rule, high, low):
    """Count gap of R32, at most the cap."""
    gap = high - low
    return min(gap, rule.difference_cap) if rule.difference_cap > 0 else gap


@kernel
def pay(t, payer, seats, amount):
    """One seat pays an amount, split equally among some seats."""
    share = amount / size_of(seats)
    t.scores[payer] -= amount
    for seat in range(t.num_players):
        if (seats >> seat) & 1:
            t.scores[seat] += share


@kernel
def settle_win(rule, t, winners, multiplier, winner_count):
    """Every other player scores or pays (R30 to R32); several winners split what is paid (R25)."""
    t.winners = winners
    for seat in range(t.num_players):
        if not sits(t, seat) or (winners >> seat) & 1:
            continue
        if rule.settlement == POINTS:
            t.scores[seat] = multiplier * t.counts[seat]
        elif rule.settlement == STAKES:
            pay(t, seat, winners, multiplier)
        else:
            pay(t, seat, winners, multiplier * capped_gap(rule, t.counts[seat], winner_count))


@kernel
def settle_opening(rule, t, openers):
    """Opening tonks on the deal (R8, R9)."""
    if size_of(openers) > 1:
        close_hand(rule, t, CLASH)
        return
    close_hand(rule, t, OPENING)
    settle_win(rule, t, openers, rule.opening_multiplier, 0.0)


@kernel
def settle_drop(rule, t, dropper):
    """All hands are compared by count (R21)."""
    close_hand(rule, t, DROP)
    t.dropper = dropper
    own, least = t.counts[dropper], lowest_count(t, dropper)
    if least < own or (least == own and not rule.drop_tie_safe):
        t.ending = CAUGHT
        settle_caught(rule, t, dropper)
    else:
        settle_win(rule, t, np.int64(1) << dropper, 1.0, own)


@kernel
def caught_amount(rule, t, dropper, seat):
    """What a caught dropper pays one seat: the multiplier, or that many times the gap (R33)."""
    if rule.settlement == DIFFERENCE:
        return rule.caught_multiplier * capped_gap(rule, t.counts[dropper], t.counts[seat])
    return rule.caught_multiplier


@kernel
def settle_caught(rule, t, dropper):
    """A caught drop (R33)."""
    low = low_seats(t, dropper)
    t.winners = low
    low_seat = lowest(np.uint64(low))
    how = rule.caught_pays
    if how == OWN_COUNT:
        t.scores[dropper] = rule.caught_multiplier * t.counts[dropper]
    elif how in (LOW_HAND, LOW_COLLECTS):
        pay(t, dropper, low, caught_amount(rule, t, dropper, low_seat))
    else:
        pay_catchers(rule, t, dropper, how)
    if how in (LOW_COLLECTS, CATCHERS_AND_LOW):
        for seat in range(t.num_players):
            if sits(t, seat) and seat != dropper and not (low >> seat) & 1:
                pay(t, seat, low, 1.0)


@kernel
def pay_catchers(rule, t, dropper, how):
    """The dropper pays each catcher, each lower player, or every player (R33)."""
    own = t.counts[dropper]
    for seat in range(t.num_players):
        if not sits(t, seat) or seat == dropper:
            continue
        lower, equal = t.counts[seat] < own, t.counts[seat] == own
        catcher = lower or (equal and not rule.drop_tie_safe)
        if how == EVERY_PLAYER or lower or (catcher and how != EACH_LOWER):
            pay(t, dropper, np.int64(1) << seat, caught_amount(rule, t, dropper, seat))


@kernel
def settle_out(rule, t, seat, ending):
    """A seat emptied its hand by a spread or hit (R18) or by its discard (R17)."""
    close_hand(rule, t, ending)
    multiplier = rule.tonk_out_multiplier if ending == TONK_OUT else rule.run_out_multiplier
    settle_win(rule, t, np.int64(1) << seat, multiplier, 0.0)


@kernel
def settle_stock(rule, t, ending):
    """The stock ran out (R24, R25) or the turn limit was reached (R19)."""
    close_hand(rule, t, ending)
    t.cut_short = ending == TURN_LIMIT
    if rule.stock_dead or rule.drop == 1:
        return
    low = low_seats(t, NOT_ONE)
    if size_of(low) > 1 and rule.stock_tie_dead:
        return
    settle_win(rule, t, low, 1.0, lowest_count(t, NOT_ONE))


@kernel
def settle_void(rule, t):
    """The stock ran out with no tunk (R29)."""
    close_hand(rule, t, VOID)


@kernel
def settle_tunk(rule, t):
    """After the last turns of seven-card Tunk every hand scores what is left over (R28)."""
    tunker = np.int64(t.tunker)
    close_hand(rule, t, TUNK)
    t.dropper = tunker
    for seat in range(t.num_players):
        if sits(t, seat):
            t.scores[seat] = t.counts[seat]
    low = low_seats(t, NOT_ONE)
    if (low >> tunker) & 1:
        t.winners = 1 << tunker
        return
    t.winners = low
    t.ending = TUNK_CAUGHT
    t.scores[tunker] = rule.caught_multiplier * t.counts[tunker]

