"""Many tables in one compiled loop: step, play compiled seats, begin episodes, write what the next decision sees."""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.apply import apply
from tonk_env.kernels.bits import ZERO, draw, jit, keep, kernel, mix, row_of, small
from tonk_env.kernels.match import MAX_DEALS, begin_episode, book_hand, deal_next, single_hand
from tonk_env.kernels.observe import clear_row, is_legal, read_mask, read_view, view_of, write_mask, write_view
from tonk_env.kernels.players import EXTERNAL, RANDOM, choose, choose_random
from tonk_env.kernels.settle import OVER
from tonk_env.state import TABLE_DTYPE, VIEW_DTYPE

SKIP = np.bool_(True)
DONE, FIRST_ILLEGAL = np.array([-1, -2])  # what step_rows returns


@kernel
def next_random(t):
    """Next random word of the stream from which a table's compiled players draw (splitmix64)."""
    t.choice += np.uint64(0x9E3779B97F4A7C15)
    return mix(t.choice)


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
def left_alone(t, players):
    """Whether every external seat is out of the match, so that nobody outside waits for its end."""
    external, live = 0, 0
    for seat in range(t.num_players):
        if players.kind[seat] == EXTERNAL:
            external += 1
            live += (t.live >> seat) & 1
    return external > 0 and live == 0


@kernel
def advance(rule, layout, t, players, view, out):
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
        kind = players.kind[t.turn]
        if kind == EXTERNAL:
            return True
        if deals > 0 and left_alone(t, players):
            t.match_over = True  # given up: what the compiled seats still play for is nobody's business
            return True
        deals = 0
        if kind != RANDOM:
            view_of(rule, layout, t, np.int64(t.turn), view)
        apply(rule, t, choose(rule, kind, players.param[t.turn], view, t, next_random(t)))


@kernel
def begin(rule, layout, t, players, view, out, skip):
    """Begin an episode and play to its first external decision.

    With ``skip``, episodes that end before one are passed over. Returns how many were, or -1 when the rules settle every
    hand on the deal.
    """
    if t.choice == ZERO:
        t.choice = mix(mix(t.seed ^ np.uint64(0x5851F42D4C957F2D)) ^ np.uint64(t.table_id))
    skipped = 0
    for _ in range(MAX_DEALS):
        if not begin_episode(rule, t) or not advance(rule, layout, t, players, view, out):
            return -1
        if not t.match_over or not skip:
            return skipped
        skipped += 1
    return -1


@kernel
def show(rule, layout, t, view, observation, mask):
    """Write what the seat on turn sees into two rows (see ``row_of``); zeros when the match is over.

    Returns the seat, -1 when over.
    """
    if t.match_over:
        clear_row(observation, layout.total)
        clear_row(mask, layout.actions)
        return -1
    view_of(rule, layout, t, np.int64(t.turn), view)
    write_view(layout, view, observation)
    write_mask(t, mask, layout.actions)
    return t.turn


@small
def report(rule, t, rewards, row, out):
    """Hand out the rewards since the last report."""
    for seat in range(rewards.shape[1]):
        rewards[row, seat] = t.rewards[seat]
        out.returns[seat] += t.rewards[seat]
        t.rewards[seat] = 0.0
    out.over = t.match_over
    out.truncated = t.match_over and t.cut_short and single_hand(rule)


@small
def clear_out(out):
    """Nothing has ended."""
    out.over = out.truncated = False
    out.ending = out.dropper = -1
    out.winners = 0


@small
def first_illegal(tables, rows, actions, num_actions):
    """Index of the first action that is out of range, illegal or at a finished table; -1 when all may be played."""
    for i in range(rows.shape[0]):
        t = tables[rows[i]]
        if t.match_over or actions[i] < 0 or actions[i] >= num_actions or not is_legal(t, actions[i]):
            return i
    return -1


@jit
def step_rows(rules, layouts, tables, outs, players, rows, actions, some, autoreset, observations, masks, seats, rewards):
    """Play one move at some tables and go on to their next external decision; ``rules`` and ``layouts`` hold one record.

    With ``some``, rows are not all tables: what the last step told of the others is taken back.

    Returns DONE, or a table that cannot deal, or FIRST_ILLEGAL less the index of an action that may not be played: then
    nothing has changed.
    """
    rule, layout = rules[0], layouts[0]
    wrong = first_illegal(tables, rows, actions, layout.actions)
    if wrong >= 0:
        return FIRST_ILLEGAL - wrong
    if some:
        rewards[:] = 0.0
        for row in range(tables.shape[0]):
            clear_out(outs[row])
    views = np.zeros(1, VIEW_DTYPE)
    view = views[0]
    spare = outs[outs.shape[0] - 1]
    for i in range(rows.shape[0]):
        row = rows[i]
        t, out = tables[row], outs[row]
        clear_out(out)
        apply(rule, t, actions[i])
        if not advance(rule, layout, t, players[row], view, out):
            return row
        report(rule, t, rewards, row, out)
        if t.match_over and autoreset:
            skipped = begin(rule, layout, t, players[row], view, spare, SKIP)
            if skipped < 0:
                return row
            out.skipped += skipped
        seats[row] = show(rule, layout, t, view, row_of(observations, row), row_of(masks, row))
    keep(views)
    return DONE


@jit
def begin_rows(rules, layouts, tables, outs, players, rows, autoreset, observations, masks, seats, rewards):
    """Begin new episodes at some tables. Returns DONE, or a table that cannot deal."""
    rule, layout = rules[0], layouts[0]
    views = np.zeros(1, VIEW_DTYPE)
    view = views[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        t, out = tables[row], outs[row]
        clear_out(out)
        for seat in range(6):
            out.returns[seat] = 0.0
        skipped = begin(rule, layout, t, players[row], view, out, autoreset)
        if skipped < 0:
            return row
        out.skipped += skipped
        if t.match_over:
            report(rule, t, rewards, row, out)
        else:
            clear_out(out)
        seats[row] = show(rule, layout, t, view, row_of(observations, row), row_of(masks, row))
    keep(views)
    return DONE


@jit
def choose_random_rows(tables, actions):
    """A random legal action for every table; -1 where the match is over."""
    for row in range(actions.shape[0]):
        t = tables[row]
        actions[row] = -1 if t.match_over else choose_random(t, next_random(t))


@jit
def choose_rows(rules, layouts, kind, param, observations, masks, key, counter, actions):
    """Actions of a compiled player from observations and masks alone; ``rules`` and ``layouts`` hold one record."""
    rule, layout = rules[0], layouts[0]
    views, tables = np.zeros(1, VIEW_DTYPE), np.zeros(1, TABLE_DTYPE)
    view, t = views[0], tables[0]
    for row in range(observations.shape[0]):
        read_mask(row_of(masks, row), layout.actions, t)
        if kind != RANDOM:
            read_view(layout, row_of(observations, row), view)
        actions[row] = choose(rule, kind, param, view, t, draw(key, counter + row))
    keep(views)
    keep(tables)
