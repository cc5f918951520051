"""Counts of move sequences from fixed deals: both engines and the files of tests/perft agree, number by number."""

from pathlib import Path

import perft
import pytest

FILES = sorted(perft.FOLDER.glob("*.txt"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def position(request: pytest.FixtureRequest) -> perft.Position:
    path: Path = request.param
    return perft.read(path)


def test_counts_are_those_of_the_file_on_both_engines(position: perft.Position) -> None:
    fault = perft.compare(position)
    assert not fault, fault


def test_a_file_says_where_it_comes_from_and_holds_all_counts(position: perft.Position) -> None:
    assert position.origin
    assert len(position.counts) == len(position.ended) > 0
    if position.depth == perft.MANY:
        assert position.ended[-1] == position.counts[-1], "a game played to the end has no sequence that goes on"
    else:
        assert len(position.counts) == position.depth


@pytest.mark.slow
def test_counts_agree_one_move_deeper(position: perft.Position) -> None:
    fault = perft.compare(position, position.depth + 1)
    assert not fault, fault


def test_tiny_games_are_played_out_and_the_great_rule_systems_are_there() -> None:
    positions = [perft.read(path) for path in FILES]
    played_out = {p.rules.preset for p in positions if p.depth == perft.MANY}
    assert {"micro", "mini"} <= played_out
    assert {"points", "deadwood", "speno", "rockets", "tunk", "wild_jokers", "strict"} <= {p.rules.preset for p in positions}


def test_counts_by_hand() -> None:
    # Seat 0 may drop, draw or take. Drawing empties the stock, so each of the three discards after it ends the hand (R24);
    # after a take the three discards leave seat 1 the same three choices.
    micro = perft.read(perft.FOLDER / "micro_a.txt")
    assert (micro.counts[:3], micro.ended[:3]) == ([3, 6, 9], [1, 3, 3])


class Forgetful(perft.Plain):
    """A second engine with a fault: it does not know that the ace of clubs may be discarded."""

    def legal(self) -> list[str]:
        return [words for words in super().legal() if words != "discard AC"]

    def after(self, move: str) -> perft.Plain:
        return Forgetful(super().after(move).hand)


def test_the_first_mismatch_is_shown_move_by_move(monkeypatch: pytest.MonkeyPatch) -> None:
    position = perft.read(perft.FOLDER / "micro_a.txt")
    right = perft.plain
    monkeypatch.setattr(perft, "plain", lambda position: Forgetful(right(position).hand))
    fault = perft.compare(position)
    assert fault.startswith("micro_a.txt, depth 2: ")
    rows = [line.split() for line in fault.splitlines()]
    assert ["draw", "3", "2", "<--", "differs"] in rows
    assert ["discard", "AC", "1", "-", "<--", "differs"] in rows


def test_a_wrong_file_is_told_with_the_counts_below_each_move() -> None:
    position = perft.read(perft.FOLDER / "micro_a.txt")
    wrong = perft.Position(**{**vars(position), "counts": [3, 6, 10, *position.counts[3:]]})
    assert "depth 3" in perft.compare(wrong)


def test_counts_are_written_in_their_place(tmp_path: Path) -> None:
    source = perft.FOLDER / "micro_a.txt"
    copied = tmp_path / source.name
    copied.write_text(source.read_text(encoding="utf-8").replace("ended: 1", "ended: 7"), encoding="utf-8")
    position = perft.read(copied)
    perft.write(position, *perft.perft(perft.plain(position), perft.MANY))
    assert copied.read_text(encoding="utf-8") == source.read_text(encoding="utf-8")
