"""Observations of any chosen seat at many tables, the finished ones too."""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.bits import jit, keep, row_of
from tonk_env.kernels.observe import read_view, view_of, write_view
from tonk_env.state import VIEW_DTYPE

ONLY = np.int64(0)  # an array of one dimension is one row


@jit
def observe_rows(rules, layouts, tables, rows, seats, observations):
    """Write what ``seats[i]`` may know at table ``rows[i]`` to ``observations[i]``.

    ``rules`` and ``layouts`` hold one record each.
    """
    views = np.zeros(1, VIEW_DTYPE)
    view = views[0]
    for i in range(rows.shape[0]):
        view_of(rules[0], layouts[0], tables[rows[i]], np.int64(seats[i]), view)
        write_view(layouts[0], view, row_of(observations, i))
    keep(views)


@jit
def read_row(layouts, observation, views):
    """Read one observation, int8 of one dimension, back into a view record; ``layouts`` and ``views`` hold one record."""
    read_view(layouts[0], row_of(observation, ONLY), views[0])
