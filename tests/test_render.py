"""Text and pictures: what they show, what they hide, and every render mode."""

import copy
import pickle
from itertools import islice
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from tests.test_aec import deck
from tonk_env import tonk_v0
from tonk_env.render import render_text
from tonk_env.rules import make_rules
from tonk_env.single import TonkEnv
from tonk_env.table import Table
from tonk_env.view import HIDDEN, look, text

pytest.importorskip("pygame")


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def table(players: int = 2, rules: str = "deadwood") -> Table:
    """A hand in which seat 0 has laid 6H 7H 8H 9H and seat 1 has taken the discard."""
    hands = ["7H 8H 9H KS 4C", "2C 3D 5C 9S JD", "2H 3H 5D TS JC"][:players]
    made = Table(rules, players)
    made.reset(deck=deck(*hands, upcard="QD", stock="6H", rules=rules))
    for words in ("draw", "spread 6H 7H 8H 9H", "discard KS", "take"):
        made.step(words)
    return made


def random_positions(rules: str, players: int, seed: int) -> Any:
    generator = np.random.default_rng(seed)
    made = Table(rules, players, seed=seed)
    made.reset()
    while not made.over:
        yield made
        made.step(int(generator.choice(made.legal_actions())))
    yield made


def test_text_of_a_seat() -> None:
    lines = text(look(table(), 1)).splitlines()
    assert lines[0] == "deadwood · 2 players · hand 1 · turn 2 · player_1 to lay, hit or discard"
    assert lines[1] == "stock 40 · pile QD"
    assert lines[2] == "  player_0  ?? | run 6H 7H 8H 9H"
    assert lines[3] == "> player_1  2C 5C 3D JD 9S KS | count 39"
    assert lines[4] == "moves: " + " · ".join(sorted(f"discard {card}" for card in "2C 5C 3D JD 9S KS".split()))
    assert len(lines) == 5


@pytest.mark.parametrize("seat", [2, -1, 0.5, True, "none"])
def test_who_is_not_at_the_table_sees_nothing(seat: Any) -> None:
    with pytest.raises(ValueError, match="is not at this table: seats are 0 to 1"):
        table().render(seat)


def test_text_follows_the_rules_being_played() -> None:
    words = {"points": "to drop, draw or take", "tunk": "to draw or take"}
    for rules, phrase in words.items():
        made = Table(rules, 2)
        made.reset(seed=0)
        assert render_text(made, 0).splitlines()[0].endswith(f"player_{made.seat} {phrase}")
        made.step("draw")
    assert "to tunk or discard" in render_text(made)


def test_a_card_taken_from_the_pile_stays_known() -> None:
    view = look(table(), 0)
    assert view.seats[1].cards == ("KS", *[HIDDEN] * 5)
    assert view.seats[0].count == "4"
    assert view.seats[1].count == ""
    assert view.moves == ()


def test_everything_is_shown_on_request_only() -> None:
    made = table()
    assert HIDDEN not in render_text(made)
    assert HIDDEN in render_text(made, 0)
    assert look(made, "all").moves == look(made, 1).moves


@pytest.mark.parametrize("rules, players", [("points", 3), ("rockets", 6), ("tunk", 4), ("wild_jokers", 4)])
def test_no_view_depends_on_what_its_seat_cannot_know(rules: str, players: int) -> None:
    for made in islice(random_positions(rules, players, 5), 60):
        if made.over:
            continue
        for seat in range(players):
            view = look(made, seat)
            shown = {card for other in view.seats if other.name != f"player_{seat}" for card in other.cards} - {HIDDEN}
            facts = made.layout.decode(made.observation(seat)).as_dict()
            assert shown <= {card for known in facts["known"][1:] for card in known}
            assert set(view.seats[seat].cards) == set(facts["hand"])
            assert all(not other.count for other in view.seats if other.name != f"player_{seat}")


@pytest.mark.parametrize("rules, players", [("points", 4), ("navy", 5), ("jokers", 6), ("tunk", 3), ("mini", 2)])
def test_every_position_can_be_written_and_drawn(rules: str, players: int) -> None:
    env = tonk_v0.raw_env(rules, players, render_mode="rgb_array", render_seat="all", match="hands")
    generator = np.random.default_rng(0)
    env.reset(seed=3)
    last = env.render()
    for step in range(20):
        assert (last.shape, last.dtype) == ((760, 1120, 3), np.uint8)
        assert render_text(env.table)
        if not env.agents:
            break
        before = look(env.table, "all")
        env.step(None if env.table.over else int(generator.choice(env.table.legal_actions())))
        frame = env.render()
        assert np.array_equal(frame, last) == (look(env.table, "all") == before), step
        last = frame


def test_pictures_of_hidden_hands_are_the_same() -> None:
    frames = []
    for hand in ("2C 3D 5C 9S JD", "2S 3S 6C TS JC"):
        env = tonk_v0.raw_env("deadwood", 2, render_mode="rgb_array", render_seat=0)
        env.reset(options={"deck": deck("7H 8H 9H KS 4C", hand, upcard="QD", rules="deadwood")})
        frames.append(env.render())
    assert np.array_equal(*frames)
    assert len(np.unique(frames[0].reshape(-1, 3), axis=0)) > 100


def test_picture_is_upright_and_shows_cards_where_they_lie() -> None:
    env = tonk_v0.raw_env("deadwood", 2, render_mode="rgb_array")
    env.reset(options={"deck": deck("7H 8H 9H KS 4C", "2C 3D 5C 9S JD", upcard="QD", rules="deadwood")})
    frame = env.render().astype(int)
    white = (frame > 235).all(axis=2)
    red = (frame[..., 0] > 110) & (frame[..., 1] < 60)
    assert white[520:].sum() > 5 * white[:250].sum()  # the hand of seat 0, open, below
    assert red[:250].sum() > 2 * red[520:].sum()  # the backs of seat 1's, above


@pytest.mark.parametrize("make", [lambda **kw: tonk_v0.env("points", 3, **kw), lambda **kw: TonkEnv("points", 3, **kw)])
def test_modes(make: Any) -> None:
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray), ("human", type(None))):
        env = make(render_mode=mode)
        assert env.render_mode == mode
        with pytest.raises((AssertionError, ResetNeeded), match="reset"):
            env.render()
        env.reset(seed=0)
        assert isinstance(env.render(), kind)
        env.close()
        env.close()
    with pytest.raises(ValueError, match="'rgb' is not offered"):
        make(render_mode="rgb")
    with pytest.raises(ValueError, match="render_seat 3 is not at this table"):
        make(render_seat=3)


@pytest.mark.parametrize("make", [lambda: tonk_v0.env("points", 3), lambda: TonkEnv("points", 3)])
def test_rendering_without_a_mode_gives_one_hint(make: Any) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render mode"):
        assert env.render() is None


def test_default_views() -> None:
    env = tonk_v0.env("deadwood", 2, render_mode="ansi")
    env.reset(options={"deck": deck("7H 8H 9H KS 4C", "2C 3D 5C 9S JD", upcard="QD", rules="deadwood")})
    assert "> player_0  4C 7H 8H 9H KS" in env.render()
    env.step(1)
    env.step(env.unwrapped.table.parse("discard KS"))
    assert "> player_1  2C 5C 3D JD 9S" in env.render()
    learner = TonkEnv("points", 2, seat=1, render_mode="ansi")
    learner.reset(seed=1)
    assert HIDDEN in learner.render().splitlines()[2]
    assert HIDDEN not in learner.render().splitlines()[3]


def test_closing_the_window_ends_rendering_and_not_the_game() -> None:
    import pygame

    env = tonk_v0.env("points", 2, render_mode="human")
    env.reset(seed=0)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.render()
    assert not pygame.display.get_init()
    env.step(1)
    assert not pygame.display.get_init()
    env.close()


def test_window_is_not_copied() -> None:
    env = TonkEnv("points", 2, render_mode="human")
    env.reset(seed=0)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin.close()
        assert twin.render_mode == "human"
    env.close()


def test_frames_for_video() -> None:
    env = gymnasium.wrappers.RenderCollection(TonkEnv("points", 2, render_mode="rgb_array"))
    env.reset(seed=0)
    env.step(1)
    frames = env.render()
    assert len(frames) == 2
    assert env.metadata["render_fps"] > 0


def test_the_end_of_a_hand_says_how_and_shows_what_was_compared() -> None:
    made = Table("rockets", 2)
    made.reset(deck=deck("2H 3D 4S 7C 9H", "KH KD 4C 6S 9S", upcard="2C", rules="rockets"))
    made.step("drop")
    lines = render_text(made, 0).splitlines()
    assert lines[0].endswith(" · over: drop, won by player_0")
    assert lines[2:] == ["  player_0  7C 3D 2H 9H 4S | count 25", "  player_1  4C KD KH 6S 9S | count 39"]
    assert render_text(made, 0) == render_text(made, 1) == render_text(made)


def test_a_hand_that_ended_without_a_comparison_stays_hidden() -> None:
    made = Table("rockets", 2)
    made.reset(deck=deck("2H 3H 4H 5H 9S", "KH KD 4C 6S 8S", upcard="2C", stock="6H", rules="rockets"))
    for words in ("draw", "spread 2H 3H 4H 5H 6H", "discard 9S"):
        made.step(words)
    lines = render_text(made, 0).splitlines()
    assert lines[0].endswith("won by player_0")
    assert lines[3] == "  player_1  ?? ?? ?? ?? ?? | count 38"


def test_the_title_names_the_changed_options() -> None:
    made = Table(make_rules("points", match="hands"), 2)
    made.reset(seed=0)
    assert render_text(made, 0).startswith("points (match=hands) · 2 players")
    many = Table(make_rules("rockets", hand_size=4, opening_exact=(), upcard=False, drop_tie="safe"), 2)
    many.reset(seed=0)
    assert render_text(many, 0).startswith("rockets (4 options changed) · 2 players")
