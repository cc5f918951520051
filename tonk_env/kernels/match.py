"""Matches: booking a finished hand, going out, places, rewards, and dealing the next hand (sections 8 and 9)."""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.apply import start_hand
from tonk_env.kernels.bits import kernel, lowest
from tonk_env.kernels.deal import left_of, size_of
from tonk_env.kernels.settle import CLASH, OVER, POINTS, VOID, sits

HANDS, ELIMINATION, TARGET = 0, 1, 2
FIRST = np.int64(1)
SAME = 1e-6  # totals closer than this are equal (section 13)
MAX_DEALS = 10_000  # deals in a row that are settled at once, before giving up


@kernel
def single_hand(rule):
    """Whether a match is one hand, which pays as a hand (R40)."""
    return rule.match == HANDS and rule.hands == 1


@kernel
def start_match(rule, t):
    """Clear the match: everybody in, nothing scored, seat 0 first (R10)."""
    t.live = (1 << t.num_players) - 1
    t.next_start = 0
    t.hands_played = t.hands_dealt = 0
    t.match_over = False
    for seat in range(6):
        t.totals[seat] = t.places[seat] = t.rewards[seat] = 0.0


@kernel
def deal_next(rule, t):
    """Deal the next hand of the match."""
    t.start = t.next_start
    t.hands_dealt += 1
    start_hand(rule, t)
    t.deal += 1
    t.stacked = False


@kernel
def counts_as_played(rule, t):
    """Cancelled and void hands do not (R9, R29, R35)."""
    return t.ending != VOID and not (t.ending == CLASH and rule.opening_clash == 0)


@kernel
def hand_reward(rule, t, seat):
    """Reward of one seat for one hand, before scaling (R40)."""
    if rule.settlement != POINTS:
        return t.scores[seat]
    others, players = 0.0, 0
    for other in range(t.num_players):
        if other != seat and sits(t, other):
            others += t.scores[other]
            players += 1
    return others / players - t.scores[seat]


@kernel
def pay_hand(rule, t):
    """Add the rewards of a hand, where hands pay (R40)."""
    if rule.place_reward and not single_hand(rule):
        return
    for seat in range(t.num_players):
        if sits(t, seat):
            t.rewards[seat] += hand_reward(rule, t, seat) / rule.scale


@kernel
def pay_place(rule, t, seat, place, sharers):
    """Place a seat; sharers get the mean reward of the places they fill (R37, R40)."""
    t.places[seat] = place
    if rule.place_reward and not single_hand(rule):
        mean_place = place + (sharers - 1) / 2.0
        t.rewards[seat] += 1.0 - 2.0 * (mean_place - 1.0) / (t.num_players - 1)


@kernel
def place_seats(rule, t, seats, first_place):
    """Give places from ``first_place`` on to some seats, best total first; equal totals share (R37)."""
    high_wins = rule.settlement != POINTS
    for seat in range(t.num_players):
        if not (seats >> seat) & 1:
            continue
        better, equal = np.int64(0), np.int64(0)
        for other in range(t.num_players):
            if not (seats >> other) & 1:
                continue
            gap = t.totals[other] - t.totals[seat]
            if abs(gap) <= SAME:
                equal += 1
            elif (gap > 0) == high_wins:
                better += 1
        pay_place(rule, t, seat, first_place + better, equal)


@kernel
def put_out(rule, t):
    """Seats at or over the limit leave the match; the last one left wins (R36)."""
    out, stay = np.int64(0), np.int64(0)
    for seat in range(t.num_players):
        if (t.live >> seat) & 1:
            if t.totals[seat] >= rule.limit - SAME:
                out |= 1 << seat
            else:
                stay |= 1 << seat
    left = size_of(stay)
    if out:
        place_seats(rule, t, out, left + 1)
    t.live = stay
    if left <= 1:
        place_seats(rule, t, stay, FIRST)
        t.match_over = True


@kernel
def reached_target(rule, t):
    """Whether some total has reached the target (R35)."""
    for seat in range(t.num_players):
        if t.totals[seat] >= rule.limit - SAME:
            return True
    return False


@kernel
def book_hand(rule, t):
    """Book a finished hand: totals, rewards, who is out, who starts next, whether the match is over."""
    played = counts_as_played(rule, t)
    if played:
        t.hands_played += 1
        for seat in range(t.num_players):
            t.totals[seat] += t.scores[seat]
    pay_hand(rule, t)
    if played:
        if rule.match == ELIMINATION:
            put_out(rule, t)
        elif (rule.match == TARGET and reached_target(rule, t)) or (
            rule.match == HANDS and t.hands_played >= rule.hands
        ):
            place_seats(rule, t, np.int64(t.live), FIRST)
            t.match_over = True
    elif single_hand(rule) and t.ending == CLASH:
        t.match_over = True  # a single hand settled on the deal is a match of its own (section 13)
    if t.live:
        set_next_start(rule, t)


@kernel
def set_next_start(rule, t):
    """Who plays first in the next hand (R10)."""
    winners = np.int64(t.winners)
    if rule.next_start == 1 and size_of(winners) == 1 and winners & np.int64(t.live):
        t.next_start = lowest(np.uint64(winners))
    else:
        t.next_start = left_of(t, np.int64(t.start), np.int64(t.live))


@kernel
def continue_match(rule, t):
    """After a move: book finished hands and deal on until somebody has a decision or the match is over."""
    for _ in range(MAX_DEALS):
        if t.phase != OVER or t.match_over:
            return True
        book_hand(rule, t)
        if not t.match_over:
            deal_next(rule, t)
    return False


@kernel
def begin_episode(rule, t):
    """Start matches until one begins with a decision. Returns False when the rules settle every hand on the deal."""
    for _ in range(MAX_DEALS):
        start_match(rule, t)
        deal_next(rule, t)
        if not continue_match(rule, t):
            return False
        if not t.match_over:
            return True
    return False
