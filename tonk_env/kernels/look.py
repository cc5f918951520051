"""Observations of any chosen seat at many tables, the finished ones too."""

from __future__ import annotations

import numpy as np

from tonk_env.kernels.bits import jit
from tonk_env.kernels.observe import view_of, write_view
from tonk_env.state import VIEW_DTYPE


@jit
def observe_rows(rule, layout, tables, rows, seats, observations):
    """Write what ``seats[i]`` may know at table ``rows[i]`` to ``observations[i]``."""
    view = np.zeros(1, VIEW_DTYPE)[0]
    for i in range(rows.shape[0]):
        view_of(rule, layout, tables[rows[i]], np.int64(seats[i]), view)
        write_view(layout, view, observations[i])
