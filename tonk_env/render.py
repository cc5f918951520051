"""Render modes: a table as text, as an array or in a window, from a seat's view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tonk_env.view import ALL, look, text

if TYPE_CHECKING:
    from tonk_env.picture import Screen
    from tonk_env.table import Table

RENDER_MODES = ["human", "ansi", "rgb_array"]


def check_render_mode(mode: str | None) -> str | None:
    """The mode itself. Raises ValueError for one that is not offered."""
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode {mode!r} is not offered: use {', '.join(map(repr, RENDER_MODES))} or None")
    return mode


def check_render_seat(seat: int | str | None, num_players: int) -> int | Literal["all"] | None:
    """The seat itself. Raises ValueError for one that is not at the table."""
    if seat is None or (isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < num_players):
        return seat
    if seat == ALL:
        return ALL
    allowed = f"0 to {num_players - 1}, 'all' for every hand, or None"
    raise ValueError(f"render_seat {seat!r} is not at this table: use {allowed}")


def render_text(table: Table, seat: int | None = None) -> str:
    """A table as text: from a seat's view, or with every hand open."""
    return text(look(table, ALL if seat is None else seat))


class Renderer:
    """Draws a table in any mode. It opens nothing before the first picture, and survives copying without its window."""

    def __init__(self, frames_per_second: int) -> None:
        self._frames_per_second = frames_per_second
        self._screen: Screen | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_frames_per_second": self._frames_per_second, "_screen": None}

    def render(self, table: Table, viewer: int | Literal["all"], mode: str) -> str | NDArray[np.uint8] | None:
        """Text, picture uint8 [height, width, 3], or None after drawing the window."""
        view = look(table, viewer)
        if mode == "ansi":
            return text(view)
        if self._screen is None:
            from tonk_env.picture import Screen

            self._screen = Screen(self._frames_per_second)
        if mode == "rgb_array":
            return self._screen.pixels(view)
        self._screen.show(view)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._screen is not None:
            self._screen.close()
