"""Many tables in one compiled loop: equal to single tables move for move, safe against bad input, one compiled code."""

from __future__ import annotations

import resource
import tracemalloc
from typing import Any

import numpy as np
import pytest
from wandering import RULE_SETS, seats_of, tables

from tonk_env.batch import DROP, EXTERNAL, GREEDY, RANDOM, Batch, choose_from_observations
from tonk_env.kernels.bits import COMPILED
from tonk_env.kernels.many import begin_rows, step_rows
from tonk_env.rules import RuleSetError, make_rules
from tonk_env.state import parse_ending
from tonk_env.table import HandResult, IllegalMoveError, Table

T = 3


class Singles:
    """As many single tables as a batch has, stepped beside it."""

    def __init__(self, batch: Batch, seed: int) -> None:
        self.batch = batch
        numbers = batch.tables["table_id"].tolist()
        self.tables = [Table(batch.rules, batch.num_players, seed=seed, table=number) for number in numbers]
        self.paid_on_the_deal = [self.reset(row) for row in range(len(self.tables))]

    def reset(self, row: int) -> np.ndarray:
        """Begin an episode. Returns rewards of hands settled on its deal, which a batch reports with the next move."""
        self.tables[row].reset()
        return self.tables[row].rewards

    def step(self, row: int, action: int) -> None:
        """Play a move and compare everything that the batch reports of it."""
        table, batch = self.tables[row], self.batch
        results = table.step(action)
        assert batch.rewards[row] == pytest.approx(table.rewards + self.paid_on_the_deal[row], abs=1e-6)
        assert batch.over[row] == table.over
        assert batch.truncated[row] == table.truncated
        self.paid_on_the_deal[row] = np.zeros(batch.num_players)
        self.compare_hand(row, results)
        if table.over and batch.autoreset:
            self.paid_on_the_deal[row] = self.reset(row)

    def compare_hand(self, row: int, results: list[HandResult]) -> None:
        """The last hand that ended is the one reported."""
        batch = self.batch
        if not results:
            assert (batch.endings[row], batch.dropper[row], batch.winners[row]) == (-1, -1, 0)
            return
        last = results[-1]
        assert batch.endings[row] == parse_ending(last.ending)
        assert [seat for seat in range(batch.num_players) if batch.winners[row] >> seat & 1] == last.winners
        for reported, expected in ((batch.hand_counts, last.counts), (batch.hand_scores, last.scores)):
            assert reported[row].tolist() == pytest.approx([value or 0 for value in expected])

    def compare(self) -> None:
        """Every table waits at the same decision and shows the same."""
        batch = self.batch
        for row, table in enumerate(self.tables):
            assert batch.seats[row] == table.seat
            assert (batch.action_masks[row] == table.action_mask).all()
            if not table.over:
                assert (batch.observations[row] == table.observation(table.seat)).all()
            assert (batch.live[row] == table.live).all()


@pytest.mark.parametrize("name, players", tables())
def test_a_batch_equals_single_tables(name: str, players: int) -> None:
    batch = Batch(RULE_SETS[name], players, T, seed=players)
    batch.reset()
    singles = Singles(batch, seed=players)
    for _ in range(60):
        singles.compare()
        actions = batch.choose_random()
        batch.step(actions)
        for row in range(T):
            singles.step(row, int(actions[row]))
    singles.compare()


def test_a_whole_match_equals_single_tables() -> None:
    rules = make_rules("points", elimination=50, match_reward="hands")
    batch = Batch(rules, 4, T, seed=3)
    batch.reset()
    singles, matches = Singles(batch, seed=3), 0
    while matches < 4:
        actions = batch.choose_random()
        batch.step(actions)
        for row in range(T):
            singles.step(row, int(actions[row]))
        matches += int(batch.over.sum())
        singles.compare()


def test_some_rows_are_stepped_and_the_others_wait() -> None:
    batch = Batch("rockets", 3, 4, seed=2)
    batch.reset()
    singles = Singles(batch, seed=2)
    generator = np.random.default_rng(1)
    for _ in range(120):
        rows = np.flatnonzero(generator.random(4) < 0.5)
        actions = batch.choose_random()[rows]
        batch.step(actions, rows)
        for row, action in zip(rows, actions, strict=True):
            singles.step(int(row), int(action))
        for row in set(range(4)) - set(rows.tolist()):
            assert not batch.over[row]
            assert not batch.rewards[row].any()
        singles.compare()


def test_without_autoreset_a_finished_table_waits() -> None:
    batch = Batch("rockets", 2, 4, seed=2, autoreset=False)
    batch.reset()
    batch.step(np.array([0, 1, 0, 1]))  # two drop, two draw
    assert batch.over.tolist() == [True, False, True, False]
    assert batch.seats.tolist() == [-1, 0, -1, 0]
    assert not batch.observations[[0, 2]].any()
    assert not batch.action_masks[[0, 2]].any()
    assert batch.choose_random()[[0, 2]].tolist() == [-1, -1]
    with pytest.raises(IllegalMoveError, match="table 2: the episode is over"):
        batch.step(np.array([1]), np.array([2]))
    batch.restart(np.array([0]))
    assert batch.seats.tolist()[::2] == [0, -1]


def test_restart_gives_up_what_was_in_play() -> None:
    batch = Batch("rockets", 2, 3, seed=2)
    batch.reset()
    batch.step(np.array([1, 1, 1]))
    before = batch.observations.copy()
    batch.restart(np.array([1]))
    assert (batch.observations[[0, 2]] == before[[0, 2]]).all()
    assert batch.tables["deal"].tolist()[1] == batch.tables["deal"].tolist()[0] + 1
    assert batch.action_masks[1, :3].all()  # at the start of a turn again


def test_equal_table_numbers_get_equal_decks() -> None:
    batch = Batch("rockets", 2, 4, seed=2, table_ids=np.array([7, 7, 8, 7]))
    for _ in range(3):
        batch.reset() if batch.seats[0] == -1 else batch.restart(np.arange(4))
        hands = batch.tables["hand"].tolist()
        assert hands[0] == hands[1] == hands[3] != hands[2]


@pytest.mark.parametrize("name, players", tables())
def test_compiled_players_need_the_observation_alone(name: str, players: int) -> None:
    """Seats played inside the loop choose what `choose_from_observations` chooses from bytes and mask."""
    rules, count = RULE_SETS[name], 4
    kinds = [(GREEDY, 0), (DROP, 18), (DROP, 5), (GREEDY, 0), (DROP, 30), (GREEDY, 0)][:players]
    inside = Batch(rules, players, count, seed=9, autoreset=False)
    inside.set_players(
        np.tile([kind for kind, _ in kinds], (count, 1)), np.tile([param for _, param in kinds], (count, 1))
    )
    inside.run()
    outside = Batch(rules, players, count, seed=9, autoreset=False)
    outside.reset()
    for _ in range(20_000):
        waiting = np.flatnonzero(outside.seats >= 0)
        if not len(waiting):
            break
        actions = np.empty(len(waiting), np.int64)
        for at, row in enumerate(waiting):
            seen = outside.observations[row : row + 1], outside.action_masks[row : row + 1]
            actions[at] = choose_from_observations(outside.layout, *kinds[outside.seats[row]], *seen)[0]
        outside.step(actions, waiting)
    assert (outside.seats == -1).all()
    assert inside.returns == pytest.approx(outside.returns)
    for field in ("hand", "pile", "totals", "scores", "turns", "deal"):
        assert (inside.tables[field] == outside.tables[field]).all()


def test_random_players_choose_every_legal_move_equally_often() -> None:
    table = Table("rockets", 2, seed=1)
    table.reset()
    table.step("draw")
    seen = np.tile(table.observation(0), (6000, 1)), np.tile(table.action_mask, (6000, 1))
    actions = choose_from_observations(table.layout, RANDOM, 0, *seen, key=5)
    legal, times = np.unique(actions, return_counts=True)
    assert legal.tolist() == table.legal_actions().tolist()
    assert times.min() > 0.85 * 6000 / len(legal)
    again = choose_from_observations(table.layout, RANDOM, 0, *seen, key=5)
    later = choose_from_observations(table.layout, RANDOM, 0, seen[0][1:], seen[1][1:], key=5, counter=1)
    assert (again == actions).all()
    assert (later == actions[1:]).all()
    assert (choose_from_observations(table.layout, RANDOM, 0, *seen, key=6) != actions).any()


def test_a_drop_player_drops_at_its_count() -> None:
    for count in (0, 15, 60):
        batch = Batch("rockets", 2, 40, seed=3, autoreset=False)
        batch.set_players(np.tile([DROP, EXTERNAL], (40, 1)), np.full((40, 2), count))
        batch.reset()
        dropped = batch.over & (batch.dropper == 0)
        first = Batch("rockets", 2, 40, seed=3)
        first.reset()
        counts = np.array([first.layout.decode(row).as_dict()["count"] for row in first.observations])
        assert (dropped == (counts <= count)).all()


def test_a_batch_waits_at_external_seats_only() -> None:
    batch = Batch("seven_card", 4, 32, seed=3)
    kinds = np.tile([GREEDY, EXTERNAL, RANDOM, EXTERNAL], (32, 1))
    batch.set_players(kinds)
    batch.reset()
    for _ in range(100):
        assert set(batch.seats.tolist()) <= {1, 3}
        batch.step(batch.choose_random())


def test_episodes_without_an_external_decision_are_skipped_and_counted() -> None:
    # Seat 0 drops a count of 40 or less before seat 1 can act; seven_card deals every hand to a decision.
    batch = Batch("seven_card", 2, 50, seed=3)
    batch.set_players(np.tile([DROP, EXTERNAL], (50, 1)), np.full((50, 2), 40))
    batch.reset()
    assert (batch.tables["deal"] == batch.skipped + 1).all()
    assert batch.skipped.sum() > 10
    for _ in range(30):
        before, over = batch.tables["deal"] - batch.skipped, batch.over.copy()
        batch.step(batch.choose_random())
        over = batch.over
        assert (batch.tables["deal"] - batch.skipped == before + over).all()


def test_when_nobody_external_can_ever_act_it_is_said() -> None:
    batch = Batch("seven_card", 2, 2, seed=3)
    batch.set_players(np.tile([DROP, EXTERNAL], (2, 1)), np.full((2, 2), 100))
    with pytest.raises(RuleSetError, match="no decision can be reached"):
        batch.reset()


def test_players_may_differ_from_table_to_table() -> None:
    batch = Batch("rockets", 2, 4, seed=3)
    batch.set_players(np.array([[EXTERNAL, GREEDY], [GREEDY, EXTERNAL]]), rows=np.array([1, 3]))
    batch.reset()
    for _ in range(40):
        assert batch.seats[1] == 0
        assert batch.seats[3] == 1
        batch.step(batch.choose_random())


def test_run_needs_compiled_players_and_no_autoreset() -> None:
    with pytest.raises(ValueError, match="autoreset=False"):
        Batch("rockets", 2, 2, seed=1).run()
    with pytest.raises(ValueError, match="a compiled player at every seat"):
        Batch("rockets", 2, 2, seed=1, autoreset=False).run()


@pytest.mark.parametrize("name", ["rockets", "wild_jokers", "tunk"])
def test_an_illegal_action_raises_and_changes_nothing(name: str) -> None:
    batch = Batch(name, 2, 3, seed=1)
    with pytest.raises(IllegalMoveError, match="no hand has been dealt"):
        batch.step(np.zeros(3, np.int64))
    batch.reset()
    for _ in range(60):
        good = batch.choose_random()
        outside = np.flatnonzero(batch.action_masks[2] == 0)
        before = [part.tobytes() for part in parts(batch)]
        for bad, message in (
            (-1, "out of range"),
            (batch.num_actions, "out of range"),
            (int(outside[-1]), "not legal"),
        ):
            with pytest.raises(IllegalMoveError, match=f"table 2: .*{message}"):
                batch.step(np.array([good[0], good[1], bad]))
        assert [part.tobytes() for part in parts(batch)] == before
        batch.step(good)


def parts(batch: Batch) -> list[Any]:
    """Everything that a step may change."""
    return [batch.tables, batch.observations, batch.action_masks, batch.seats, batch.rewards, batch.over, batch.endings]


@pytest.mark.parametrize("actions, rows", [(np.zeros(2, np.int64), None), (np.zeros((3, 1), np.int64), None),
                                           (np.zeros(3, np.int64), np.array([0]))])  # fmt: skip
def test_actions_of_another_shape_are_refused(actions: np.ndarray, rows: np.ndarray | None) -> None:
    batch = Batch("rockets", 2, 3, seed=1)
    batch.reset()
    with pytest.raises(IllegalMoveError, match="need actions of shape"):
        batch.step(actions, rows)


@pytest.mark.parametrize("count", [0, -1])
def test_a_batch_has_a_table(count: int) -> None:
    with pytest.raises(ValueError, match="num_tables is a whole number from 1"):
        Batch("rockets", 2, count)


@pytest.mark.parametrize("rows", [[10**5], [4], [-1], [0, 0], [2.5], [True, False], [[0]], ["0"]])
def test_rows_are_tables_of_the_batch_each_once(rows: list[Any]) -> None:
    """A number outside would write past the arrays, one given twice would play a move that is no longer legal."""
    batch = Batch("points", 2, 4, seed=1)
    batch.reset()
    before = [part.tobytes() for part in parts(batch)]
    for call in (
        lambda: batch.step(np.ones(len(rows), np.int64), np.array(rows)),
        lambda: batch.restart(np.array(rows)),
        lambda: batch.set_players(np.zeros((len(rows), 2), np.int8), rows=np.array(rows)),
    ):
        with pytest.raises(IndexError, match=r"rows"):
            call()
    assert [part.tobytes() for part in parts(batch)] == before


@pytest.mark.parametrize("actions", [[1.7, 1.0], [True, True], ["1", "1"], [None, None]])
def test_actions_are_whole_numbers(actions: list[Any]) -> None:
    batch = Batch("points", 2, 2, seed=1)
    batch.reset()
    with pytest.raises(IllegalMoveError, match="whole numbers"):
        batch.step(np.array(actions))


@pytest.mark.parametrize("kinds", [[5, 5], [-2, 0], [0.5, 0]])
def test_players_are_of_a_known_kind(kinds: list[float]) -> None:
    with pytest.raises(ValueError, match="kinds are whole numbers from -1 to 3"):
        Batch("points", 2, 2, seed=1).set_players(np.array([kinds, kinds]))


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (1, 2, 2)])
def test_players_come_in_a_row_for_each_table(shape: tuple[int, ...]) -> None:
    batch = Batch("points", 2, 2, seed=1)
    with pytest.raises(ValueError, match=r"kinds are of shape \(2, 2\)"):
        batch.set_players(np.full(shape, GREEDY))
    with pytest.raises(ValueError, match=r"params are of shape \(2, 2\)"):
        batch.set_players(np.full((2, 2), GREEDY), np.zeros(shape, np.int16))


def test_a_batch_that_deals_anew_needs_an_external_seat() -> None:
    batch = Batch("points", 2, 2, seed=1)
    batch.set_players(np.full((2, 2), GREEDY))
    with pytest.raises(ValueError, match="without an external seat"):
        batch.reset()


def test_an_episode_ends_with_the_last_external_seat() -> None:
    """R36: what compiled seats would still play for among themselves is not waited for, nor is it the episode's."""
    batch = Batch(make_rules("points", elimination=30), 4, 16, seed=5, autoreset=False)
    batch.set_players(np.tile([EXTERNAL, GREEDY, GREEDY, GREEDY], (16, 1)))
    batch.reset()
    gone = np.zeros(16, bool)
    while (batch.seats >= 0).any():
        rows = np.flatnonzero(batch.seats >= 0)
        batch.step(batch.choose_random()[rows], rows)
        gone |= (batch.seats < 0) & ~batch.live[:, 0] & (batch.live.sum(axis=1) > 1)
    assert gone.any()
    assert (batch.returns[gone, 0] < 0).all()


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_one_compiled_code_serves_all_rule_sets() -> None:
    for name, rules in RULE_SETS.items():
        for players in seats_of(rules)[:1]:
            batch = Batch(rules, players, 2, seed=1)
            batch.set_players(np.tile([EXTERNAL] + [GREEDY] * (players - 1), (2, 1)))
            batch.reset()
            batch.step(batch.choose_random())
            batch.step(batch.choose_random()[:1], np.array([0]))
        assert len(step_rows.signatures) == 1, name
        assert len(begin_rows.signatures) == 1, name


def test_stepping_allocates_nothing_that_stays() -> None:
    batch = Batch("points", 4, 256, seed=1)
    batch.reset()
    for _ in range(50):
        batch.step(batch.choose_random())
    tracemalloc.start()
    at_first, most = tracemalloc.get_traced_memory()[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(400):
        batch.step(batch.choose_random())
    grown = tracemalloc.get_traced_memory()[0] - at_first
    tracemalloc.stop()
    assert grown < 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 20_000  # kilobytes


def test_totals_and_returns_add_up() -> None:
    batch = Batch(make_rules("rockets", hands=3, match_reward="hands"), 3, 8, seed=1, autoreset=False)
    batch.reset()
    paid = np.zeros((8, 3))
    while (batch.seats >= 0).any():
        rows = np.flatnonzero(batch.seats >= 0)
        batch.step(batch.choose_random()[rows], rows)
        paid += batch.rewards
    assert batch.returns == pytest.approx(paid)
    assert batch.tables["totals"][:, :3] == pytest.approx(paid)
    assert (batch.tables["hands_played"] == 3).all()
