"""Draws a look at a table with pygame: offscreen as an array, or the same picture in a window."""

from __future__ import annotations

import math
import os
from functools import lru_cache

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from tonk_env.view import HIDDEN, SeatLook, SpreadLook, TableLook

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
try:
    import pygame
except ImportError as error:
    raise DependencyNotInstalled('pictures need pygame: run  pip install ".[render]"  in the project\'s folder') from error

Color = tuple[int, int, int]
Point = tuple[float, float]

WIDTH, HEIGHT = 1120, 760
MARGIN = 26
PANEL_HEIGHT = 262
CARD = (62, 88)  # in a hand, on the pile
SMALL = (42, 60)  # in a spread
SMALL_STEP = 20  # from one card of a spread to the next
SUPERSAMPLING = 4

FELT: Color = (24, 104, 66)
FELT_EDGE: Color = (9, 52, 33)
RAIL: Color = (74, 44, 26)
IVORY: Color = (250, 248, 240)
WILD: Color = (255, 232, 150)
BACK: Color = (138, 30, 44)
BACK_LIGHT: Color = (196, 92, 98)
BLACK: Color = (24, 26, 32)
RED: Color = (194, 28, 42)
GOLD: Color = (246, 200, 76)
WHITE: Color = (240, 244, 238)
PALE: Color = (176, 208, 188)
SHADE: Color = (14, 74, 46)


class Screen:
    """Draws looks at a table. The window opens at the first `show` and stays closed once its user has closed it."""

    def __init__(self, frames_per_second: int) -> None:
        pygame.font.init()
        self._frames_per_second = frames_per_second
        self._window: pygame.Surface | None = None
        self._clock: pygame.time.Clock | None = None
        self._dismissed = False

    def pixels(self, view: TableLook) -> NDArray[np.uint8]:
        """The picture as uint8 [height, width, 3]."""
        return np.ascontiguousarray(pygame.surfarray.array3d(draw(view)).swapaxes(0, 1))

    def show(self, view: TableLook) -> None:
        """Draw the window and wait one frame. Raises RuntimeError where no window can be opened."""
        if self._dismissed:
            return
        window = self._window or self._open()
        window.blit(draw(view), (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self._dismissed = True
            self.close()
        elif self._clock is not None:
            self._clock.tick(self._frames_per_second)

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._window is not None:
            self._window = None
            pygame.display.quit()

    def _open(self) -> pygame.Surface:
        try:
            pygame.display.init()
            self._window = pygame.display.set_mode((WIDTH, HEIGHT))
        except pygame.error as error:
            raise RuntimeError(f'no window can be opened here ({error}): use render_mode="rgb_array"') from error
        pygame.display.set_caption("Tonk")
        self._clock = pygame.time.Clock()
        return self._window


def draw(view: TableLook) -> pygame.Surface:
    """The whole picture."""
    surface = _felt().copy()
    rules, players, *where = view.title.split(" · ")
    _write(surface, f"{rules} · {players}", 18, PALE, (MARGIN + 8, HEIGHT / 2 - 12), "midleft")
    _write(surface, " · ".join(where), 18, PALE, (MARGIN + 8, HEIGHT / 2 + 12), "midleft")
    _write(surface, view.status, 18, WHITE, (WIDTH - MARGIN - 8, HEIGHT / 2), "midright")
    _draw_center(surface, view)
    for seat, (left, top, width) in zip(view.seats, _places(len(view.seats)), strict=True):
        _draw_seat(surface, seat, pygame.Rect(left, top, width, PANEL_HEIGHT))
    return surface


def _places(count: int) -> list[tuple[int, int, int]]:
    """Left, top and width of each seat's panel: clockwise, the first seat below in the middle or on the left."""
    below = count // 2
    rows = ((below, HEIGHT - MARGIN - PANEL_HEIGHT), (count - below, MARGIN))
    spots = [
        [(MARGIN + (WIDTH - 2 * MARGIN) * i // n, top, (WIDTH - 2 * MARGIN) // n) for i in range(n)] for n, top in rows
    ]
    bottom, upper = spots
    return [bottom[0], *upper, *reversed(bottom[1:])]


def _draw_center(surface: pygame.Surface, view: TableLook) -> None:
    middle = HEIGHT // 2
    stock = pygame.Rect(0, 0, *CARD)
    stock.center = (WIDTH // 2 - 48, middle - 6)
    pile = stock.move(96, 0)
    for box in (stock, pile):
        pygame.draw.rect(surface, SHADE, box, border_radius=7)
    for depth in range(min(3, (view.stock + 11) // 12)):
        surface.blit(_card(HIDDEN, CARD), stock.move(-2 * depth, -2 * depth))
    for depth, (card, _) in enumerate(view.pile[-3:]):
        surface.blit(_card(card, CARD), pile.move(2 * depth, -2 * depth))
    _write(surface, f"stock {view.stock}", 16, PALE, (stock.centerx, stock.bottom + 12), "center")
    thrower = view.pile[-1][1] if view.pile else ""
    label = f"pile {len(view.pile)}" + (f" · {thrower}" if thrower else "")
    _write(surface, label, 16, PALE, (pile.left, pile.bottom + 12), "midleft")


def _draw_seat(surface: pygame.Surface, seat: SeatLook, panel: pygame.Rect) -> None:
    """Name and hand at the edge of the table, spreads towards its middle."""
    below = panel.top > HEIGHT // 2
    inner = panel.inflate(-14, -6)
    hand_top = inner.bottom - CARD[1] - 6 if below else inner.top + 6
    name_y = hand_top - 20 if below else hand_top + CARD[1] + 20
    spreads_top = inner.top + 8 if below else name_y + 18
    if seat.on_turn:
        pygame.draw.rect(surface, GOLD, inner, width=3, border_radius=14)
    name = pygame.Rect(inner.left + 10, name_y - 13, inner.width - 20, 26)
    pygame.draw.rect(surface, GOLD if seat.on_turn else SHADE, name, border_radius=13)
    color = BLACK if seat.on_turn else WHITE
    _write(surface, seat.name, 18, color, (name.left + 14, name.centery), "midleft")
    _write(surface, _facts(seat), 16, color, (name.right - 14, name.centery), "midright")
    _draw_hand(surface, seat.cards, pygame.Rect(inner.left + 14, hand_top, inner.width - 28, CARD[1]))
    _draw_spreads(surface, seat.spreads, pygame.Rect(inner.left + 14, spreads_top, inner.width - 28, 2 * SMALL[1] + 4))


def _facts(seat: SeatLook) -> str:
    if seat.out:
        return " · ".join(filter(None, ("out", seat.total and f"total {seat.total}")))
    facts = (
        seat.count and f"count {seat.count}",
        seat.total and f"total {seat.total}",
        f"no drop ×{seat.barred}" if seat.barred else "",
    )
    return " · ".join(filter(None, facts))


def _draw_hand(surface: pygame.Surface, cards: tuple[str, ...], box: pygame.Rect) -> None:
    if not cards:
        return
    step = min(CARD[0] + 6, (box.width - CARD[0]) // max(1, len(cards) - 1))
    left = box.centerx - (CARD[0] + step * (len(cards) - 1)) // 2
    for i, card in enumerate(cards):
        surface.blit(_card(card, CARD), (left + i * step, box.top))


def _draw_spreads(surface: pygame.Surface, spreads: tuple[SpreadLook, ...], box: pygame.Rect) -> None:
    """Two rows of spreads; cards move closer together until they fit."""
    step = next((s for s in range(SMALL_STEP, 8, -2) if len(_lines(spreads, s, box.width)) <= 2), 8)
    for row, line in enumerate(_lines(spreads, step, box.width)):
        left = box.centerx - (sum(_width(spread, step) for spread in line) + 12 * (len(line) - 1)) // 2
        for spread in line:
            for i, card in enumerate(spread.cards):
                surface.blit(_card(card, SMALL), (left + i * step, box.top + row * (SMALL[1] + 4)))
            left += _width(spread, step) + 12


def _width(spread: SpreadLook, step: int) -> int:
    return SMALL[0] + step * (len(spread.cards) - 1)


def _lines(spreads: tuple[SpreadLook, ...], step: int, width: int) -> list[list[SpreadLook]]:
    """Spreads in rows no wider than ``width`` pixels."""
    lines: list[list[SpreadLook]] = []
    used = width
    for spread in spreads:
        if used + 12 + _width(spread, step) > width:
            lines.append([])
            used = -12
        lines[-1].append(spread)
        used += 12 + _width(spread, step)
    return lines


@lru_cache(maxsize=1)
def _felt() -> pygame.Surface:
    """The empty table: green cloth, darker towards a wooden rail."""
    x = np.linspace(-1, 1, WIDTH)[:, None]
    y = np.linspace(-1, 1, HEIGHT)[None, :]
    dark = np.clip((x**2 + y**2) / 1.7, 0, 1)[..., None]
    cloth = np.array(FELT) * (1 - dark) + np.array(FELT_EDGE) * dark
    surface = pygame.Surface((WIDTH, HEIGHT))
    pygame.surfarray.blit_array(surface, cloth.astype(np.uint8))
    pygame.draw.rect(surface, RAIL, surface.get_rect(), width=14, border_radius=18)
    pygame.draw.rect(surface, FELT_EDGE, surface.get_rect().inflate(-26, -26), width=2, border_radius=12)
    return surface


@lru_cache(maxsize=512)
def _card(text: str, size: tuple[int, int]) -> pygame.Surface:
    """One card: ``7H``, ``??`` for its back, ``2S=7H`` for a wild in the place of 7H."""
    width, height = size[0] * SUPERSAMPLING, size[1] * SUPERSAMPLING
    card = pygame.Surface((width, height), pygame.SRCALPHA)
    face = card.get_rect()
    ground = BACK if text == HIDDEN else WILD if "=" in text else IVORY
    pygame.draw.rect(card, ground, face, border_radius=width // 9)
    pygame.draw.rect(card, BLACK, face, width=SUPERSAMPLING, border_radius=width // 9)
    if text == HIDDEN:
        _draw_back(card, face)
    else:
        wild, _, place = text.partition("=")
        _draw_face(card, place or wild, wild if place else "")
    return pygame.transform.smoothscale(card, size)


def _draw_back(card: pygame.Surface, face: pygame.Rect) -> None:
    inside = face.inflate(-face.width // 6, -face.width // 6)
    pygame.draw.rect(card, BACK_LIGHT, inside, width=SUPERSAMPLING, border_radius=face.width // 14)
    cell = inside.width / 4
    for column in range(4):
        for row in range(int(inside.height // cell)):
            down = (row + 0.5) * inside.height / (inside.height // cell)
            _draw_suit(card, "D", (inside.left + (column + 0.5) * cell, inside.top + down), cell * 0.36, BACK_LIGHT)


def _draw_face(card: pygame.Surface, name: str, wild: str) -> None:
    """Index in the corner, the suit in the middle; a wild's own name at the foot."""
    width, height = card.get_size()
    rank, suit = name[0], name[1]
    color = RED if suit in "DH" else BLACK
    corner = width * 0.23
    index, size = ("10", 0.33) if rank == "T" else (rank, 0.40)
    _write(card, index, int(width * size), color, (corner, height * 0.17), "center")
    if rank == "X":
        _draw_suit(card, "*", (width * 0.5, height * 0.6), width * 0.3, RED if suit == "1" else BLACK)
        return
    _draw_suit(card, suit, (corner, height * 0.38), width * 0.14, color)
    if wild:
        _write(card, wild, int(width * 0.30), BLACK, (corner * 1.1, height * 0.85), "center")
    else:
        _draw_suit(card, suit, (width * 0.62, height * 0.66), width * 0.25, color)


def _draw_suit(card: pygame.Surface, suit: str, center: Point, radius: float, color: Color) -> None:
    """A suit's sign, or a star for ``*``, about two radii high."""
    if suit == "D":
        _polygon(card, color, center, radius, [(0, -1.15), (0.8, 0), (0, 1.15), (-0.8, 0)])
    elif suit == "H":
        _draw_heart(card, center, radius, color, 1)
    elif suit == "S":
        _draw_heart(card, center, radius, color, -1)
        _polygon(card, color, center, radius, [(0, 0.2), (0.42, 1.15), (-0.42, 1.15)])
    elif suit == "C":
        for x, y in ((0, -0.5), (-0.54, 0.28), (0.54, 0.28)):
            pygame.draw.circle(card, color, (center[0] + x * radius, center[1] + y * radius), radius * 0.5)
        _polygon(card, color, center, radius, [(0, -0.3), (0.42, 1.15), (-0.42, 1.15)])
    else:
        turn = [(math.pi / 5 * i, 1.0 if i % 2 == 0 else 0.42) for i in range(10)]
        _polygon(card, color, center, radius, [(math.sin(a) * r, -math.cos(a) * r) for a, r in turn])


def _draw_heart(card: pygame.Surface, center: Point, radius: float, color: Color, up: int) -> None:
    """A heart, upside down for ``up`` = -1."""
    angles = np.linspace(0, 2 * math.pi, 60)
    xs = np.sin(angles) ** 3
    ys = -(13 * np.cos(angles) - 5 * np.cos(2 * angles) - 2 * np.cos(3 * angles) - np.cos(4 * angles)) / 15
    _polygon(card, color, center, radius, [(float(x), float(up * y)) for x, y in zip(xs, ys, strict=True)])


def _polygon(card: pygame.Surface, color: Color, center: Point, radius: float, points: list[Point]) -> None:
    pygame.draw.polygon(card, color, [(center[0] + x * radius, center[1] + y * radius) for x, y in points])


@lru_cache(maxsize=64)
def _font(size: int) -> pygame.font.Font:
    return pygame.font.Font(None, size)


def _write(surface: pygame.Surface, text: str, size: int, color: Color, at: Point, anchor: str) -> None:
    """Text whose ``anchor`` ("midleft", "center", ...) lies at a point."""
    image = _font(round(size * 1.3)).render(text, True, color)
    box = image.get_rect()
    setattr(box, anchor, (round(at[0]), round(at[1])))
    surface.blit(image, box)
