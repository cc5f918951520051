"""Gymnasium door: one learner at a table of Tonk, the other players inside the environment.

    env = gymnasium.make("tonk_env/Tonk-v0", rules="rockets", num_players=3, opponents=["greedy", "drop:20"])

`TonkEnv` describes spaces, rewards and ends; ``vector.TonkVectorEnv`` is the same for many tables at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from tonk_env.arguments import check_illegal_reward, check_reset_options
from tonk_env.opponents import Given, Opponents
from tonk_env.render import RENDER_MODES, Renderer, check_render_mode, check_render_seat
from tonk_env.rules import make_rules
from tonk_env.spaces import Observation, action_space, observation_space, vector_space
from tonk_env.table import HandResult, Table
from tonk_env.view import public_result

Seen = Observation | NDArray[np.int8]

PATIENCE = 20  # deals in a row that may end before the learner has a move at a seat, before another seat is tried
MAX_SKIPPED = 1000  # such deals before giving up


class TonkEnv(gymnasium.Env[Any, Any]):
    """One learner at a table of Tonk.

    **Arguments**

    * ``rules``, ``options``: as in ``tonk_env.aec``: a preset, a RuleSet or a mapping, and options on top.
    * ``num_players``: seats at the table; None is the smallest table of the rule set.
    * ``opponents``: one spec or object for all other seats, or one for each, in order from the learner's left. Specs
      (``"random"``, ``"greedy"``, ``"drop:27"``, ``"file.onnx"``) are looked up among the installed agents; an object
      needs ``act(observations, masks, rows)`` and may have ``reset(rows)`` and ``seed(seed)``.
    * ``seat``: where the learner sits: a number, ``"random"`` for each episode anew, or ``"rotate"`` (also None): one
      seat further to the left each episode, from seat ``(seed + table) % num_players`` after ``reset(seed=...)``.
    * ``observation``: ``"dict"`` for ``Dict(action_mask, observation)``, or ``"vector"`` for the observation alone as
      a Box. The mask is in ``info["action_mask"]`` and ``action_masks()`` in either case.
    * ``illegal``: what an illegal action does. ``"lose"``: the episode ends at once, terminated, with the reward
      ``illegal_reward`` (-1) and ``info["illegal"]`` True. ``"raise"``: IllegalMoveError, and nothing changes. An
      action outside the space raises ValueError in either case.
    * ``table``: number of the series of deals of a seed; parallel environments with one seed may use 0, 1, 2, ...
    * ``render_mode``: ``"ansi"``, ``"rgb_array"``, ``"human"`` or None; ``render_seat``: whose view is drawn, None
      for the learner's, ``"all"`` for every hand.

    **Steps.** A step is one move of the learner, and all moves of the others up to its next one; while the learner's
    turn goes on, none. The mask belongs to the learner and is all 0 when the episode is over.

    **Rewards.** The learner's own (R40), whoever's move earned it. Hands of a match that are settled on the deal
    before its first move count with that move.

    **Ends.** Terminated when the match is over or the learner eliminated; truncated when a single hand reaches the
    turn limit (R19). An episode that the others end before the learner's first move is not begun: the next deal is
    played instead, and ``info["skipped_hands"]`` of ``reset()`` counts how often that happened. The seat stays the
    same for 20 such deals, so that seats stay evenly spread; then a rotating or random learner tries the next, and
    one at a fixed seat gets a RuntimeError after 1000.

    **Infos.** ``action_mask`` and ``seat`` always; ``skipped_hands`` after reset; ``hands`` when hands have ended
    since the last move, and ``opening_hands`` after reset when some were settled on its deal, as in ``tonk_env.aec``.

    **Reset.** ``reset(seed=s)`` deals the hands of ``Table(seed=s, table=table)`` and seeds the opponents;
    ``reset()`` goes on. With ``options={"deck": ...}`` the first deal is that deck.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 4}  # noqa: RUF012 (Gymnasium's interface)

    def __init__(
        self,
        rules: Any = "points",
        num_players: int | None = None,
        opponents: Given | Sequence[Given] = "random",
        seat: int | str | None = None,
        *,
        observation: str = "dict",
        illegal: str = "lose",
        illegal_reward: float = -1.0,
        table: int = 0,
        render_mode: str | None = None,
        render_seat: int | str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.table = Table(make_rules(rules, **options), num_players, table=table)
        self.rules, self.num_players, self.layout = self.table.rules, self.table.num_players, self.table.layout
        self.seating = check_seating(seat, self.num_players)
        self.flat = check_choice("observation", observation, ("dict", "vector")) == "vector"
        self.illegal_loses = check_choice("illegal", illegal, ("lose", "raise")) == "lose"
        self.illegal_reward = check_illegal_reward(illegal_reward)
        self.render_seat = check_render_seat(render_seat, self.num_players)
        self.opponents = Opponents(opponents, self.rules, self.num_players)
        self.observation_space = vector_space(self.layout) if self.flat else observation_space(self.layout)
        self.action_space = action_space(self.rules)
        self.seat = -1  # the learner's, from reset() on
        self._game = np.array([table], dtype=np.int64)  # this table's number for opponents that remember
        self._compiled = [getattr(player, "compiled", None) for player in self.opponents.players]
        self._lots = Random(0)  # for compiled opponents
        self._next_seat: int | None = None
        self._playing = False
        self._carried = 0.0  # reward earned before the learner's first move
        self._renderer = Renderer(self.metadata["render_fps"])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begin the next episode at the learner's first decision. Raises ValueError for options or a deck that do not fit."""
        deck = check_reset_options(options).get("deck")
        super().reset(seed=seed)
        if seed is not None or self._next_seat is None:
            self._seed(seed)
        skipped, hands = self._deal(seed, deck)
        info = self._info(hands)
        info["skipped_hands"] = skipped
        if self.table.opened:
            info["opening_hands"] = [public_result(hand) for hand in self.table.opened]
        if self.render_mode == "human":
            self.render()
        return self._observe(), info

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Play the learner's move and the others' moves up to its next one.

        Raises ResetNeeded outside an episode, ValueError for an action outside the space and, with ``illegal="raise"``,
        IllegalMoveError.
        """
        if not self._playing:
            raise ResetNeeded("tonk_env/Tonk-v0: no episode is being played: call reset() first")
        move = self._move(action)
        if self.illegal_loses and not self.table.allows(move):
            return self._forfeit()
        hands = self.table.step(move)
        reward = self._carried + (float(self.table.rewards[self.seat]) if hands else 0.0)
        self._carried = 0.0
        more_hands, more_reward = self._play_others()
        over = self._finished()
        self._playing = not over
        cut_short = over and bool(self.table.over and self.table.truncated)
        if self.render_mode == "human":
            self.render()
        return self._observe(), reward + more_reward, over and not cut_short, cut_short, self._info(hands + more_hands)

    def action_masks(self) -> NDArray[np.int8]:
        """The learner's legal actions, int8 [num_actions]: where MaskablePPO looks for them."""
        if not self._playing:
            return np.zeros(self.table.num_actions, dtype=np.int8)
        return self.table.mask(self.seat)

    def render(self) -> Any:
        """Text for ``"ansi"``, an array for ``"rgb_array"``; ``"human"`` draws the window and returns None."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() does nothing without a render mode: make it with render_mode="ansi"')
            return None
        if self.seat < 0:
            raise ResetNeeded("tonk_env/Tonk-v0: there is nothing to render yet: call reset() first")
        return self._renderer.render(
            self.table, self.seat if self.render_seat is None else self.render_seat, self.render_mode
        )

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def _seed(self, seed: int | None) -> None:
        """Seed opponents and seating."""
        if seed is None:
            seed = int(self.np_random.integers(2**31))
            self._next_seat = int(self.np_random.integers(self.num_players))
        else:
            self._next_seat = (seed + int(self._game[0])) % self.num_players
        self.opponents.seed(seed)
        self._lots = Random(seed)

    def _choose_seat(self) -> int:
        if self.seating == "random":
            return int(self.np_random.integers(self.num_players))
        if isinstance(self.seating, int):
            return self.seating
        assert self._next_seat is not None
        seat, self._next_seat = self._next_seat, (self._next_seat + 1) % self.num_players
        return seat

    def _deal(self, seed: int | None, deck: Any) -> tuple[int, list[HandResult]]:
        """Deal until the learner is to move: deals skipped, and hands of the match that ended before that."""
        if deck is not None:
            self.table.check_deck(deck)  # before anything has changed
        for skipped in range(MAX_SKIPPED):
            if skipped == 0 or (skipped % PATIENCE == 0 and not isinstance(self.seating, int)):
                self.seat = self._choose_seat()
            self.table.reset(seed=seed, deck=deck)
            seed = deck = None
            self.opponents.reset(self._game)
            reward = float(self.table.rewards[self.seat])
            hands, more_reward = self._play_others()
            if not self._finished():
                self._playing = True
                self._carried = reward + more_reward
                return skipped, hands
        raise RuntimeError(never_moves(self.seat))

    def _play_others(self) -> tuple[list[HandResult], float]:
        """Let the opponents move until the learner is on turn or finished: hands that ended, the learner's reward."""
        hands: list[HandResult] = []
        reward = 0.0
        out = not self.table.is_live(self.seat)
        while (seat := self.table.seat) not in (-1, self.seat) and not out:
            ended = self.table.step(self._opponents_move(seat))
            if ended:
                hands += ended
                reward += float(self.table.rewards[self.seat])
                out = not self.table.is_live(self.seat)
        return hands, reward

    def _opponents_move(self, seat: int) -> int:
        """Move of the opponent on turn. Compiled ones are asked at the table itself: the same choice, many times faster."""
        compiled = self._compiled[(seat - self.seat - 1) % self.num_players]
        if compiled is not None:
            kind, param = compiled
            return self.table.choose(kind, param, self._lots.getrandbits(63))
        observation, mask = self.table.observation(seat), self.table.mask(seat)
        actions = self.opponents.act(observation[None], mask[None], self._game, np.array([seat]), np.array([self.seat]))
        return int(actions[0])

    def _finished(self) -> bool:
        return self.table.over or not self.table.is_live(self.seat)

    def _forfeit(self) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        self._playing = False
        info = self._info([])
        info["illegal"] = True
        return self._observe(), self.illegal_reward, True, False, info

    def _move(self, action: Any) -> int:
        return check_action(action, self.table.num_actions)

    def _observe(self) -> Seen:
        vector = self.table.observation(self.seat)
        return vector if self.flat else {"action_mask": self.action_masks(), "observation": vector}

    def _info(self, hands: list[HandResult]) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self.action_masks(), "seat": self.seat}
        if hands:
            info["hands"] = [public_result(hand) for hand in hands]
        return info


def check_seating(seat: int | str | None, num_players: int) -> int | str:
    """The seating itself, None as ``"rotate"``. Raises ValueError for one that is not offered."""
    if seat in (None, "rotate", "random"):
        return seat or "rotate"
    if isinstance(seat, int | np.integer) and not isinstance(seat, bool) and 0 <= seat < num_players:
        return int(seat)
    raise ValueError(f"seat {seat!r} is not at this table: use 0 to {num_players - 1}, 'rotate' or 'random'")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """The value itself. Raises ValueError for one that is not offered."""
    if value not in choices:
        raise ValueError(f"{name} {value!r} is not offered: use {' or '.join(map(repr, choices))}")
    return value


def check_action(action: Any, num_actions: int) -> int:
    """The action as a plain number. Raises ValueError for anything outside the action space."""
    given = action.item() if isinstance(action, np.ndarray) and action.size == 1 else action
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    move = int(given) if whole else -1
    if not 0 <= move < num_actions:
        raise ValueError(f"{action!r} is not an action: give a whole number from 0 to {num_actions - 1}")
    return move


def never_moves(seat: int) -> str:
    """Why an episode cannot begin, in one sentence."""
    return (
        f"tonk_env/Tonk-v0: the opponents ended {MAX_SKIPPED} deals in a row before seat {seat} had a move: "
        "use other opponents, rules or seats"
    )
