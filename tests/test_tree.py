"""The game tree of small rule sets: complete, in agreement with the tables that are played, and with perfect recall."""

import numpy as np
import pytest

from agents.solving import uniform_policy, value_of
from tonk_env.batch import RANDOM, Batch
from tonk_env.rules import RuleSetError, make_rules
from tonk_env.table import Table
from tonk_env.tree import TreeError, build_tree, look_numbers

SMALL = {"micro": {}, "speno": {"ranks": "A23", "suits": 2, "hand_size": 2, "max_turns": 3, "opening_at_most": 3}}


@pytest.fixture(scope="module")
def micro():
    return build_tree("micro")


@pytest.fixture(scope="module", params=SMALL)
def tree(request):
    return build_tree(make_rules(request.param, **SMALL[request.param]))


def owners(tree):
    """The node of every edge."""
    return np.repeat(np.arange(tree.levels[-1]), np.diff(tree.first_edge))


def test_every_deal_of_micro_is_a_root(micro):
    assert micro.levels[1] == 15 * 6 * 2, "two hands of two out of six cards, and an upcard"
    assert micro.levels[-1] == len(micro.info) == 7020
    assert micro.num_infos == 4380


def test_deals_that_are_settled_at_once_are_left_out():
    everything = build_tree(make_rules("speno", **{**SMALL["speno"], "opening_at_most": None, "opening_at_least": None}))
    some = build_tree(make_rules("speno", **SMALL["speno"]))
    assert 0 < some.levels[1] < everything.levels[1] == 15 * 6


def test_the_chances_of_a_move_add_up_to_one(tree):
    node, inner = owners(tree), tree.target >= 0
    sums = np.zeros((tree.levels[-1], np.diff(tree.first_slot).max()))
    np.add.at(sums, (node[inner], tree.slot[inner]), tree.weight[inner])
    whole = np.zeros_like(sums, dtype=bool)  # moves after which the hand goes on whatever card comes
    whole[node[inner], tree.slot[inner]] = True
    whole[node[~inner], tree.slot[~inner]] = False
    assert np.allclose(sums[whole], 1)
    place = tree.first_slot[tree.info[node]] + tree.slot
    assert (np.unique(place) == np.arange(len(tree.actions))).all(), "every move of every set is an edge"


def test_levels_hold_all_nodes_in_order(tree):
    inner = tree.target[tree.target >= 0]
    assert (inner == np.arange(tree.levels[1], tree.levels[-1])).all(), "each node but the deals is reached once"


def test_a_seat_recalls_everything(tree):
    """All nodes of an information set were reached by the same own moves: the set before and the move chosen there."""
    node, inner = owners(tree), tree.target >= 0
    before = np.full((2, tree.levels[-1]), -1)
    for first, last in zip(tree.levels[:-1], tree.levels[1:], strict=True):
        edges = np.flatnonzero((node >= first) & (node < last) & inner)
        place = tree.first_slot[tree.info[node[edges]]] + tree.slot[edges]
        for seat in range(2):
            mine = tree.turn[tree.info[node[edges]]] == seat
            before[seat, tree.target[edges]] = np.where(mine, place, before[seat, node[edges]])
    seen = {}
    for at in range(tree.levels[-1]):
        info = tree.info[at]
        assert seen.setdefault(info, before[tree.turn[info], at]) == before[tree.turn[info], at]


def test_random_hands_at_tables_run_along_the_tree(micro):
    """A hand played at a table: every observation and mask is in the tree, and the reward is that of the end reached."""
    generator = np.random.default_rng(0)
    places = {number: place for place, number in enumerate(micro.look_key)}
    for _ in range(150):
        table = Table("micro", 2)
        table.reset(seed=int(generator.integers(1 << 30)))
        nodes = np.arange(micro.levels[1])
        while True:
            observation, mask = table.observation(table.seat)[None], table.action_mask[None]
            look = places[look_numbers(observation, mask)[0]]
            shown, masks = micro.looks(look, look + 1)
            assert (shown == observation).all()
            assert (masks == mask).all()
            nodes = nodes[micro.look[micro.info[nodes]] == look]
            assert nodes.size
            action = int(generator.choice(table.legal_actions()))
            table.step(action)
            edges = np.concatenate([np.arange(micro.first_edge[n], micro.first_edge[n + 1]) for n in nodes])
            taken = micro.actions[micro.first_slot[micro.info[owners(micro)[edges]]] + micro.slot[edges]] == action
            edges = edges[taken]
            if table.over:
                break
            nodes = micro.target[edges]
            nodes = nodes[nodes >= 0]
        ends = np.round(micro.weight[edges[micro.target[edges] < 0]], 9)
        reward = table.rewards[0]
        assert any(np.isclose(ends, reward / cards).any() for cards in (1, 2, 3)), (reward, ends)


@pytest.mark.parametrize("preset", SMALL)
def test_the_value_of_random_play_is_that_of_many_random_hands(preset):
    rules = make_rules(preset, **SMALL[preset])
    tree = build_tree(rules)
    batch = Batch(rules, 2, 200_000, seed=4, autoreset=False)
    batch.set_players(np.full((200_000, 2), RANDOM, np.int8))
    batch.run()
    error = batch.returns[:, 0].std() / np.sqrt(200_000)
    uniform = uniform_policy(tree)
    assert value_of(tree, uniform, uniform) == pytest.approx(batch.returns[:, 0].mean(), abs=4 * error)


@pytest.mark.parametrize(
    "rules, options, words",
    [
        ("points", {}, "played as a match"),
        ("rockets", {}, "deals"),
        ("tunk", {"ranks": "A234", "suits": 2, "hand_size": 2, "match": "hands"}, "void and is dealt again"),
    ],
)
def test_games_without_a_tree_are_refused(rules, options, words):
    with pytest.raises(TreeError, match=words):
        build_tree(make_rules(rules, **options))


def test_a_tree_that_is_too_large_is_given_up():
    with pytest.raises(TreeError, match="more moves than fit"):
        build_tree("micro", max_edges=1000)
    with pytest.raises(RuleSetError):
        build_tree("no such rules")
