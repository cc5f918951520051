"""OpenSpiel door: Tonk as ``python_tonk``, with every dealt and drawn card a chance node. Importing this registers it.

    import pyspiel
    import tonk_env.open_spiel_game
    game = pyspiel.load_game("python_tonk(rules=deadwood,players=3)")

Parameters of the game:

* ``rules``: a preset. The game is always a single hand of it, so that it ends and chance nodes are few.
* ``players``: seats; 0 is the smallest table of the rule set.
* ``options``: rule options on top, written ``name:value`` with ``;`` between them and ``+`` between the parts of a list:
  ``python_tonk(rules=rockets,options=hand_size:4;opening_exact:38+39)``.

Actions have the numbers of every other door; outcomes of chance nodes are card numbers. A hand that is settled on the deal
(R7 to R9) ends there with its payoffs, and a void one (R29) with zeros, where the other doors deal again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tonk_env.actions import num_actions
from tonk_env.cards import NUM_CARDS, card_name, cards_of, names_of
from tonk_env.chance import CHANCE, Event, OpenHand
from tonk_env.notation import action_name
from tonk_env.rules import RuleSet, RuleSetError, make_rules

try:
    import pyspiel
except ImportError as error:
    raise ImportError("tonk_env.open_spiel_game needs OpenSpiel: pip install open_spiel") from error

SHORT_NAME = "python_tonk"
PRIVATE = ("hand", "count")  # blocks of the observation that only their seat may see
CODE_BITS = 11 + 6 + 6  # of an event: action, card drawn, wild cards used
WILDS = ("X1", "X2", "2C", "2D", "2H", "2S")

GAME_TYPE = pyspiel.GameType(
    short_name=SHORT_NAME,
    long_name="Tonk",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=6,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification={"rules": "points", "players": 0, "options": ""},
)


def read_options(text: str) -> dict[str, Any]:
    """Rule options from ``name:value;name:value``. Raises RuleSetError for anything else."""
    options = {}
    for part in filter(None, text.split(";")):
        name, colon, value = part.partition(":")
        if not colon:
            raise RuleSetError(f"options are written name:value with ; between them, not {part!r}")
        options[name.strip()] = _value(value.strip())
    return options


def _value(text: str) -> Any:
    """A number, truth value, null, list (parts joined by +) or word."""
    if "+" in text:
        return [_value(part) for part in text.split("+") if part]
    try:
        return json.loads(text)
    except ValueError:
        return text


def longest_hand(rules: RuleSet, num_players: int) -> int:
    """Moves that a hand can have at most: two a turn and one for every card that is laid, last turns included (R19, R27)."""
    return 2 * (rules.max_turns + num_players + 1) + rules.deck_size


def largest_payoff(rules: RuleSet, num_players: int) -> float:
    """What no reward of a hand exceeds either way (R30 to R33, R40)."""
    times = max(
        rules.opening_multiplier, rules.tonk_out_multiplier, rules.run_out_multiplier, rules.caught_multiplier
    )
    count = max(rules.rank_values) * (rules.hand_size + 1)
    if rules.settlement == "points":
        return times * count / rules.scale
    if rules.settlement == "difference":
        gap = min(count, rules.difference_cap) if rules.difference_cap else count
        return (num_players - 1) * times * gap / rules.scale
    return (num_players - 1) * times / rules.scale


class TonkGame(pyspiel.Game):
    """One rule set at one number of seats. Raises RuleSetError for rules, options or seats that are not allowed."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {"rules": "points", "players": 0, "options": "", **(params or {})}
        self.rules = make_rules(given["rules"], **{**read_options(given["options"]), "match": "hands", "hands": 1})
        self.seats = self.rules.check_players(given["players"] or None)
        largest = largest_payoff(self.rules, self.seats)
        info = pyspiel.GameInfo(
            num_distinct_actions=num_actions(self.rules),
            max_chance_outcomes=NUM_CARDS,
            num_players=self.seats,
            min_utility=-largest,
            max_utility=largest,
            utility_sum=0.0,
            max_game_length=longest_hand(self.rules, self.seats),
        )
        super().__init__(GAME_TYPE, info, dict(given))

    def new_initial_state(self) -> TonkState:
        """A hand before its first card."""
        return TonkState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Cards that can come up."""
        return self.rules.deck_size

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> TonkObserver:
        """What a player sees, as tensors and as text."""
        if params:
            raise ValueError(f"the observer of {SHORT_NAME} has no parameters, not {dict(params)}")
        return TonkObserver(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class TonkState(pyspiel.State):
    """A moment of a hand. ``hand`` is what the kernels play."""

    def __init__(self, game: TonkGame) -> None:
        super().__init__(game)
        self.hand = OpenHand(game.rules, game.seats)

    def current_player(self) -> int:
        """Seat on turn, or chance, or nobody at the end."""
        if self.hand.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.hand.waits_for_card else self.hand.seat

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.hand.over

    def returns(self) -> list[float]:
        """What each seat is paid (R40); zeros while the hand lasts."""
        return [float(reward) for reward in self.hand.rewards]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every card that has not come up, each as likely as the others."""
        cards = self.hand.unseen()
        return [(card, 1.0 / len(cards)) for card in cards]

    def resample_from_infostate(self, player: int, sampler: Any) -> TonkState:
        """A state that ``player`` cannot tell from this one, every deal of the cards it has not seen being as likely.

        What the others' choices suggest about their cards is not weighed. ``sampler()`` gives numbers from 0 to 1.
        """
        generator = np.random.default_rng([int(sampler() * 2**32), int(sampler() * 2**32)])
        other: TonkState = self.get_game().new_initial_state()
        for _, choice, _ in self.hand.redealt(player, generator).events:
            other.apply_action(choice)
        return other

    def _legal_actions(self, player: int) -> list[int]:
        return self.hand.legal_actions()

    def _apply_action(self, action: int) -> None:
        self.hand.choose(int(action))

    def _action_to_string(self, player: int, action: int) -> str:
        return card_name(action) if player == pyspiel.PlayerId.CHANCE else self.hand.words(action)

    def __str__(self) -> str:
        return history(self.hand, None, everything=True)


class TonkObserver:
    """What a player sees: named tensors, and text.

    Tensors are the blocks of the environment's observation (their seats are relative), after ``player``, one-hot; with
    perfect recall ``history`` follows, every event in ``CODE_BITS`` binary digits: the action (plus one), the card drawn
    (plus one, the player's own draws only), the wild cards used. Without private information the view is that of a guest
    behind seat 0 who sees no hand.
    """

    def __init__(self, game: TonkGame, kind: Any) -> None:
        self.layout, self.rules, self.seats = game.new_initial_state().hand.layout, game.rules, game.seats
        self.private = kind.private_info != pyspiel.PrivateInfoType.NONE
        self.public, self.recall = kind.public_info, kind.perfect_recall
        self.blocks = [
            block for block in self.layout.blocks if (self.private if block.name in PRIVATE else self.public)
        ]
        shapes: dict[str, tuple[int, ...]] = {"player": (game.seats,)} if self.private else {}
        shapes |= {block.name: block.shape for block in self.blocks}
        if self.recall:
            shapes["history"] = (longest_hand(self.rules, self.seats), CODE_BITS)
        self.tensor = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
        parts = np.split(self.tensor, ends[:-1])
        self.dict = {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}

    def set_from(self, state: TonkState, player: int) -> None:
        """Write ``tensor`` and its named parts ``dict`` for a player."""
        self.tensor.fill(0)
        seen = state.hand.observation(self._viewer(player))
        for block in self.blocks:
            self.dict[block.name][...] = block.of(seen)
        if self.private:
            self.dict["player"][player] = 1
        if self.recall:
            moves = told(state.hand.events[state.hand.to_deal :], player if self.private else None)
            for at, move in enumerate(moves):
                self.dict["history"][at] = code(*move)

    def string_from(self, state: TonkState, player: int) -> str:
        """The same in words."""
        parts = [f"p{player}"] if self.private else []
        if self.recall:
            parts.append(history(state.hand, player if self.private else None))
            if self.rules.drop != "after_draw":  # a tunk also lays spreads, which no move names (R26)
                return " | ".join(parts)
        if state.hand.dealt:
            parts += self._view(state.hand.observation(self._viewer(player)))
        elif self.private and not self.recall:
            parts.append(f"hand {names_of(state.hand.dealt_to(player))}")
        return " | ".join(parts)

    def _viewer(self, player: int) -> int:
        return player if self.private else 0

    def _view(self, seen: NDArray[np.int8]) -> list[str]:
        facts = self.layout.decode(seen).as_dict()
        return [f"{block.name} {_plain(facts[block.name])}" for block in self.blocks]


def _plain(fact: Any) -> str:
    """A fact of an observation on one line: lists within lists in brackets."""
    if not isinstance(fact, list):
        return str(fact)
    return " ".join(f"[{_plain(item)}]" if isinstance(item, list) else str(item) for item in fact)


def told(events: list[Event], player: int | None) -> list[tuple[int, int, int]]:
    """Moves after the deal as a player knows them: action, card drawn or -1, cards that left the hand as a set."""
    moves: list[tuple[int, int, int]] = []
    drawer = CHANCE
    for seat, choice, left in events:
        if seat != CHANCE:
            moves.append((choice, -1, left))
            drawer = seat
        elif drawer == player:
            moves[-1] = (moves[-1][0], choice, 0)
    return moves


def code(action: int, card: int, left: int) -> NDArray[np.float32]:
    """A move in binary digits, lowest first: float32 [CODE_BITS]."""
    wilds = {card_name(gone) for gone in cards_of(left)}
    digits = [action + 1 >> i & 1 for i in range(11)] + [card + 1 >> i & 1 for i in range(6)]
    return np.array(digits + [wild in wilds for wild in WILDS], np.float32)


def history(hand: OpenHand, player: int | None, *, everything: bool = False) -> str:
    """The hand so far in words, as a player knows it (None: a guest who sees no hand), or with every card shown."""
    shown = range(hand.num_players) if everything else [] if player is None else [player]
    parts = [f"{seat} dealt {names_of(hand.dealt_to(seat))}" for seat in shown]
    upcard = hand.upcard()
    if upcard is not None:
        parts.append(f"upcard {card_name(upcard)}")
    drawer = CHANCE
    for seat, choice, left in hand.events[hand.to_deal :]:
        if seat == CHANCE:
            parts[-1] += f" {card_name(choice)}" if everything or drawer == player else ""
            continue
        drawer = seat
        gone = f" with {names_of(cards_of(left))}" if left and "*" in action_name(choice, hand.rules) else ""
        parts.append(f"{seat} {action_name(choice, hand.rules)}{gone}")
    return ", ".join(parts)


pyspiel.register_game(GAME_TYPE, TonkGame)
