"""Golden hands: short hands as text, replayed line by line; every ending and every preset has one."""

import pytest
from golden_hands import FOLDER, golden_text, read_golden, views

from tonk_env.replay import Replay, check_hand
from tonk_env.rules import presets
from tonk_env.state import Ending, ending_name

FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_hand_replays_line_by_line(path):
    title, hand, seen = read_golden(path)
    replay = Replay(hand)
    for position in range(len(replay) + 1):
        if position in seen:
            assert views(replay, position) == seen[position], f"{path.name} after {position} moves: {title}"
        replay.go(position)
    check_hand(hand)
    assert golden_text(title, hand) == path.read_text(encoding="utf-8")


def test_every_ending_has_a_golden_hand():
    endings = {read_golden(path)[1].ending for path in FILES}
    missing = {ending_name(ending) for ending in Ending if ending >= 0} - endings
    assert not missing, f"no golden hand ends by {sorted(missing)}: add one with tests/record_golden.py"


def test_every_preset_has_a_golden_hand():
    found = {read_golden(path)[1].rules.preset for path in FILES}
    missing = set(presets()) - found
    assert not missing, f"no golden hand plays {sorted(missing)}: add one with tests/record_golden.py"


def test_golden_hands_stay_readable():
    for path in FILES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 110, f"{path.name} is too long to read"
