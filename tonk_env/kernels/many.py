"""Many tables in one compiled loop: step, play compiled seats, begin episodes, write what the next decision sees."""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import draw, jit, kernel, mix
from tonk_env.kernels.match import MAX_DEALS, begin_episode, book_hand, deal_next, single_hand
from tonk_env.kernels.observe import is_legal, read_mask, read_view, view_of, write_mask, write_view
from tonk_env.kernels.players import EXTERNAL, RANDOM, choose, choose_random
from tonk_env.kernels.settle import OVER
from tonk_env.state import TABLE_DTYPE, VIEW_DTYPE

SKIP = np.bool_(True)


@kernel
def next_random(t):
    """Next random word of the stream from which a table's compiled players draw."""
    t.choice += np.uint64(1)
    return draw(mix(t.seed ^ np.uint64(t.table_id) ^ np.uint64(0x5851F42D4C957F2D)), t.choice)


@kernel
def note_hand(t, out):
    """Copy the result of a finished hand to the outputs of a step."""
    out.ending = t.ending
    out.winners = t.winners
    out.dropper = t.dropper
    for seat in range(6):
        out.counts[seat] = t.counts[seat]
        out.scores[seat] = t.scores[seat]


@kernel
def left_alone(t, kinds):
    """Whether every external seat is out of the match, so that nobody outside waits for its end."""
    external, live = 0, 0
    for seat in range(t.num_players):
        if kinds[seat] == EXTERNAL:
            external += 1
            live += (t.live >> seat) & 1
    return external > 0 and live == 0


@kernel
def advance(rule, layout, t, kinds, params, view, out):
    """Let compiled seats play until an external seat is on turn or the match is over. Returns False if it cannot."""
    deals = 0
    while True:
        if t.phase == OVER:
            if t.match_over:
                return True
            note_hand(t, out)
            book_hand(rule, t)
            if not t.match_over:
                deal_next(rule, t)
                deals += 1
                if deals > MAX_DEALS and t.phase == OVER:
                    return False
            continue
        kind = kinds[t.turn]
        if kind == EXTERNAL:
            return True
        if deals > 0 and left_alone(t, kinds):
            t.match_over = True  # given up: what the compiled seats still play for is nobody's business
            return True
        deals = 0
        if kind != RANDOM:
            view_of(rule, layout, t, np.int64(t.turn), view)
        apply(rule, t, choose(rule, kind, params[t.turn], view, t.legal, next_random(t)))


@kernel
def begin(rule, layout, t, kinds, params, view, out, skip):
    """Begin an episode and play to its first external decision.

    With ``skip``, episodes that end before one are passed over. Returns how many were, or -1 when the rules settle every
    hand on the deal.
    """
    skipped = 0
    for _ in range(MAX_DEALS):
        if not begin_episode(rule, t) or not advance(rule, layout, t, kinds, params, view, out):
            return -1
        if not t.match_over or not skip:
            return skipped
        skipped += 1
    return -1


@kernel
def show(rule, layout, t, view, observation, mask):
    """Write what the seat on turn sees; zeros when the match is over. Returns the seat, -1 when over."""
    if t.match_over:
        observation[:] = 0
        mask[:] = 0
        return -1
    view_of(rule, layout, t, np.int64(t.turn), view)
    write_view(layout, view, observation)
    write_mask(t.legal, mask)
    return t.turn


@kernel
def report(rule, t, reward, out):
    """Hand out the rewards since the last report."""
    for seat in range(reward.shape[0]):
        reward[seat] = t.rewards[seat]
        out.returns[seat] += t.rewards[seat]
        t.rewards[seat] = 0.0
    out.over = t.match_over
    out.truncated = t.match_over and single_hand(rule) and t.cut_short


@kernel
def clear_out(out):
    """Nothing has ended."""
    out.over = out.truncated = False
    out.ending = out.dropper = -1
    out.winners = 0


@jit
def first_illegal(tables, rows, actions, num_actions):
    """Index of the first action that is out of range, illegal or at a finished table; -1 when all may be played."""
    for i in range(rows.shape[0]):
        t = tables[rows[i]]
        if t.match_over or actions[i] < 0 or actions[i] >= num_actions or not is_legal(t, actions[i]):
            return i
    return -1


@jit
def step_rows(rule, layout, tables, outs, rows, actions, kinds, params, autoreset, observations, masks, seats, rewards):
    """Play one move at some tables and go on to their next external decision. Returns -1, or a table that cannot deal."""
    view = np.zeros(1, VIEW_DTYPE)[0]
    spare = outs[outs.shape[0] - 1]
    for i in range(rows.shape[0]):
        row = rows[i]
        t, out = tables[row], outs[row]
        clear_out(out)
        apply(rule, t, actions[i])
        if not advance(rule, layout, t, kinds[row], params[row], view, out):
            return row
        report(rule, t, rewards[row], out)
        if t.match_over and autoreset:
            skipped = begin(rule, layout, t, kinds[row], params[row], view, spare, SKIP)
            if skipped < 0:
                return row
            out.skipped += skipped
        seats[row] = show(rule, layout, t, view, observations[row], masks[row])
    return -1


@jit
def begin_rows(rule, layout, tables, outs, rows, kinds, params, autoreset, observations, masks, seats, rewards):
    """Begin new episodes at some tables. Returns -1, or a table that cannot deal."""
    view = np.zeros(1, VIEW_DTYPE)[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        t, out = tables[row], outs[row]
        clear_out(out)
        for seat in range(6):
            out.returns[seat] = 0.0
        skipped = begin(rule, layout, t, kinds[row], params[row], view, out, autoreset)
        if skipped < 0:
            return row
        out.skipped += skipped
        if t.match_over:
            report(rule, t, rewards[row], out)
        else:
            clear_out(out)
        seats[row] = show(rule, layout, t, view, observations[row], masks[row])
    return -1


@jit
def choose_random_rows(tables, actions):
    """A random legal action for every table; -1 where the match is over."""
    for row in range(actions.shape[0]):
        t = tables[row]
        actions[row] = -1 if t.match_over else choose_random(t.legal, next_random(t))


@jit
def choose_rows(rule, layout, kind, param, observations, masks, key, counter, actions):
    """Actions of a compiled player from observations and masks alone."""
    view = np.zeros(1, VIEW_DTYPE)[0]
    words = np.zeros(1, TABLE_DTYPE)[0].legal
    for row in range(observations.shape[0]):
        read_mask(masks[row], words)
        if kind != RANDOM:
            read_view(layout, observations[row], view)
        actions[row] = choose(rule, kind, param, view, words, draw(key, counter + row))
