"""OpenSpiel: solves a tiny Tonk with counterfactual regret minimisation, then searches in the full game with ISMCTS."""

from __future__ import annotations

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

import tonk_env.open_spiel_game  # noqa: F401 (registers python_tonk)


def solve(iterations: int = 20) -> None:
    """Print how far play is from an equilibrium, before and while it is solved."""
    game = pyspiel.load_game("cached_tree(game=python_tonk(rules=micro))")  # the tree is built once, in C++
    print(f"uniform play: NashConv {pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game), False):.4f}")
    solver = pyspiel.CFRPlusSolver(game)
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration % 10 == 0:
            print(f"CFR+ {iteration}: NashConv {pyspiel.nash_conv(game, solver.average_policy(), False):.4f}")


def search(hands: int = 4, simulations: int = 100) -> None:
    """Let a searcher, which deals the cards it cannot see again and again, play against random moves."""
    game, random_state = pyspiel.load_game("python_tonk(rules=points,players=2)"), np.random.RandomState(0)
    evaluator = mcts.RandomRolloutEvaluator(1, random_state)
    bot = ismcts.ISMCTSBot(game, evaluator, uct_c=2.0, max_simulations=simulations, random_state=random_state)
    for hand in range(hands):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                cards, chances = zip(*state.chance_outcomes(), strict=True)
                action = random_state.choice(cards, p=chances)
            elif state.current_player() == hand % 2:
                action = bot.step(state)
            else:
                action = random_state.choice(state.legal_actions())
            state.apply_action(int(action))
        print(f"hand {hand}: the searcher earns {state.returns()[hand % 2]:+.2f}; {state}")


if __name__ == "__main__":
    solve()
    search()
