"""Recorded hands: text and back without loss, replay that is exact, and every damage named by line and field."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

from tonk_env.records import RecordError, format_record, parse_record, read_records, write_records
from tonk_env.replay import Checker, Replay, check_file, check_hand
from tonk_env.rules import PRESETS, make_rules
from tonk_env.table import Table

SHEET_EXAMPLE = {
    "record": 1,
    "match": 0,
    "hand": 0,
    "rules": {"preset": "points", "set": {"elimination": 50}},
    "players": 3,
    "seats": [0, 1, 2],
    "start": 0,
    "totals": [0, 0, 0],
    # dealt round the table: AS 2H 3C 2D 4S (12), 5C 2C AC AD TC (19), 4H 4C TH TD 6D (34)
    "deck": "AS 5C 4H 2H 2C 4C 3C AC TH 2D AD TD 4S TC 6D",
    "moves": ["0 drop"],
    "ending": "drop",
    "counts": [12, 19, 34],
    "scores": [0, 19, 34],
    "winners": [0],
}


def random_hands(rules, players, count, seed=0):
    """Hands of random play, those settled on the deal too."""
    table, random, hands = Table(rules, players, seed=seed), np.random.default_rng(seed), []
    while len(hands) < count:
        if table.over:
            table.reset()
            hands += table.opened
            continue
        hands += table.step(int(random.choice(table.legal_actions())))
    return hands[:count]


def every_table():
    return [(name, n) for name, rules in PRESETS.items() for n in range(rules.min_players, rules.max_players + 1)]


def example(**changes):
    """The hand of the rule sheet, its deck filled up with the cards that are not in play."""
    record = SHEET_EXAMPLE | changes
    if "deck" not in changes:
        named = record["deck"].split()
        names = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
        record["deck"] = " ".join(named + [name for name in names if name not in named])
    return record


def line_of(record):
    return json.dumps(record, ensure_ascii=False)


@pytest.fixture(scope="module")
def match_hands():
    """Hands of elimination matches for three, in which seats go out."""
    return random_hands(make_rules("points", elimination=50), 3, 40)


@pytest.mark.parametrize("preset, players", every_table())
def test_every_preset_and_table_round_trips_and_replays(preset, players):
    checker = Checker()
    for hand in random_hands(PRESETS[preset], players, 12):
        text = format_record(hand)
        again = parse_record(text)
        assert again == dataclasses.replace(hand, totals=again.totals, counts=again.counts, scores=again.scores)
        assert format_record(again) == text
        checker.check(again)


@pytest.mark.parametrize("preset", ["rockets", "tunk", "wild_jokers"])
def test_compiled_check_and_words_agree(preset):
    for hand in random_hands(make_rules(preset, match="hands"), 2, 20):
        replay = Replay(hand)
        replay.go(len(replay))
        assert replay.table.result().to_record() == hand.to_record()
        check_hand(hand)


def test_section_13_example_is_accepted_and_written_as_it_stands():
    text = line_of(example())
    hand = parse_record(text)
    check_hand(hand)
    assert format_record(hand) == text


def test_split_pots_stay_decimals(tmp_path):
    hand = dataclasses.replace(parse_record(line_of(example())), scores=[0.0, 1 / 3, 2.5])
    again = parse_record(format_record(hand))
    assert again.scores == pytest.approx([0, 1 / 3, 2.5], abs=1e-9)
    assert format_record(again) == format_record(hand)


def test_eliminated_seats_are_null(match_hands):
    short = [hand for hand in match_hands if len(hand.seats) == 2]
    assert short, "no seat went out in 40 hands"
    record = short[0].to_record()
    gone = ({0, 1, 2} - set(record["seats"])).pop()
    assert [record[name][gone] for name in ("totals", "counts", "scores")] == [None] * 3


def test_a_file_is_read_line_by_line_and_checked(tmp_path, match_hands):
    path = tmp_path / "hands.jsonl"
    assert write_records(path, match_hands) == len(match_hands)
    stream = read_records(path)
    assert next(stream)[0] == 1
    assert next(stream)[1].to_record() == match_hands[1].to_record()
    assert check_file(path) == len(match_hands)


def test_a_part_of_a_file_can_be_checked_alone(tmp_path, match_hands):
    path = tmp_path / "hands.jsonl"
    write_records(path, match_hands[3:7])
    assert check_file(path) == 4


def test_unseeded_hands_replay_in_a_fresh_process(tmp_path):
    table, hands = Table("rockets", 3), []
    while len(hands) < 5:
        if table.over:
            table.reset()
        hands += table.step(int(table.legal_actions()[-1]))
    write_records(tmp_path / "r.jsonl", hands)
    code = f"from tonk_env.replay import check_file; print(check_file({str(tmp_path / 'r.jsonl')!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(len(hands)), done.stderr


def test_replay_steps_forward_and_back(match_hands):
    hand = max(match_hands, key=lambda hand: len(hand.moves))
    replay = Replay(hand)
    seen = [replay.table.render()] + [table.render() for _, table in replay]
    for position in (len(hand.moves), 2, 3, 0, len(hand.moves) - 1):
        assert replay.go(position).render() == seen[position]
        assert replay.position == position
    with pytest.raises(IndexError, match=f"0 to {len(hand.moves)}"):
        replay.go(len(hand.moves) + 1)
    with pytest.raises(TypeError):
        replay.go(2.5)


def test_replay_equals_the_live_table_at_every_move():
    rules = make_rules("rockets")
    table, random = Table(rules, 2, seed=4), np.random.default_rng(4)
    table.reset()
    live = [table.observation(0).tolist()]
    hands = []
    while not hands:
        hands = table.step(int(random.choice(table.legal_actions())))
        live.append(table.observation(0).tolist())
    replay = Replay(hands[0])
    again = [replay.table.observation(0).tolist()] + [played.observation(0).tolist() for _, played in replay]
    assert again[:-1] == live[:-1]  # at the end the live table may be elsewhere


BAD_LINES = [
    ("record", 2, "is 2; this version reads records of format 1"),
    ("record", True, "is true"),
    ("match", -1, "is -1; a whole number from 0 is needed"),
    ("match", 1.5, "is 1.5"),
    ("hand", "0", 'is "0"'),
    ("rules", {"preset": "ponts", "set": {}}, "did you mean `points`"),
    ("rules", {"preset": "points", "set": {"hand_sise": 5}}, "hand_size"),
    ("rules", [], "mapping"),
    ("players", 7, "2 to 4"),
    ("players", True, "is true"),
    ("seats", [0, 2, 1], "rising list"),
    ("seats", [0], "at least two"),
    ("start", 3, "is 3; it is one of the seats [0, 1, 2]"),
    ("totals", [0, 0], "one entry for each of 3 seats"),
    ("totals", [0, None, 0], "entry 1 is null"),
    ("totals", [0, 1e999, 0], "Infinity is not a number|entry 1"),
    ("deck", "AS 5C", "50 of 52 cards are missing"),
    ("deck", 3, "cards in dealing order"),
    ("moves", ["drop"], "move 1 is \"drop\""),
    ("moves", "0 drop", "a list of moves"),
    ("ending", "won", "are the endings"),
    ("ending", None, "are the endings"),
    ("counts", [12, "19", 34], "entry 1"),
    ("scores", [True, 19, 34], "entry 0"),
    ("winners", [3], "rising list"),
]


@pytest.mark.parametrize("field, value, words", BAD_LINES)
def test_a_bad_field_is_named(field, value, words):
    with pytest.raises(RecordError, match=f"field `{field}`: |is not a number") as caught:
        parse_record(line_of(example(**{field: value})))
    assert any(word in str(caught.value) for word in words.split("|"))


@pytest.mark.parametrize("field", list(SHEET_EXAMPLE))
def test_a_missing_field_is_named(field):
    record = example()
    del record[field]
    with pytest.raises(RecordError, match=f"field `{field}`: is missing"):
        parse_record(line_of(record))


def test_the_wrong_result_field_is_explained():
    record = example()
    record["payoffs"] = record.pop("scores")
    with pytest.raises(RecordError, match="under these rules the result is `scores`, not `payoffs`"):
        parse_record(line_of(record))


def test_cards_twice_missing_or_foreign_are_named():
    deck = example()["deck"]
    for changed, words in (
        (deck.replace("AS", "5C", 1), "5C is there twice"),
        (deck.replace("AS", "X1", 1), 'card 1 is "X1", which is not in the deck'),
        (deck.replace("AS", "as", 1), 'card 1 is "as"'),
    ):
        with pytest.raises(RecordError, match=words):
            parse_record(line_of(example(deck=changed)))


def test_text_that_is_no_record():
    for text, words in (
        ("", "the line is empty"),
        ("[]", "an object in braces"),
        ("{", "not valid JSON"),
        (line_of(example())[:-30], "may have been cut off"),
        ('{"rules": 1, "rules": 2}', "field `rules`: stands there twice"),
        ('{"rules": NaN}', "NaN is not a number"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        (line_of(example(note="hi")), "field `note`: no record has it"),
    ):
        with pytest.raises(RecordError) as caught:
            parse_record(text)
        assert any(word in str(caught.value) for word in words.split("|")), text[:40]


WRONG_HANDS = [
    ({"ending": "stock"}, "field `ending`: is 'stock', but the moves end in 'drop'"),
    ({"counts": [12, 19, 35]}, "field `counts`: entry 2 is 35, but it comes to 34"),
    ({"scores": [0, 20, 34]}, "field `scores`: entry 1 is 20, but it comes to 19"),
    ({"winners": [1]}, "field `winners`: is \\[1\\], but the winners are \\[0\\]"),
    ({"moves": ["1 drop"]}, "field `moves`: move 1 is '1 drop', but seat 0 is on turn"),
    ({"moves": ["0 drop", "1 draw"]}, "move 2 is '1 draw', but the hand is over after move 1"),
    ({"moves": ["0 pass"]}, "move 1 is '0 pass': .* not legal"),
    ({"moves": ["0 jump"]}, "move 1 is '0 jump': .* not a move"),
    ({"moves": ["0 draw"]}, "the hand is not over after the last of 1 moves: seat 0 is on turn"),
    ({"moves": []}, "the hand is not over without any move"),
    ({"totals": [0, 7, 0]}, "field `totals`: nobody has scored before the first hand"),
    ({"start": 1}, "field `start`: is 1; seat 0 plays first"),
]


@pytest.mark.parametrize("changes, words", WRONG_HANDS)
def test_a_hand_that_is_not_what_the_rules_make_of_it(changes, words):
    with pytest.raises(RecordError, match=words):
        check_hand(parse_record(line_of(example(**changes))))


def test_a_damaged_file_is_named_by_line_and_field(tmp_path, match_hands):
    path = tmp_path / "hands.jsonl"
    lines = [format_record(hand) for hand in match_hands]

    def complaint(changed, data=None):
        path.write_bytes(data or ("\n".join(changed) + "\n").encode())
        with pytest.raises(RecordError) as caught:
            check_file(path)
        return str(caught.value)

    assert complaint([*lines[:2], lines[2][:-40]]).startswith(f"{path} line 3: ")
    assert complaint([*lines[:2], "", *lines[2:]]).startswith(f"{path} line 3: the line is empty")
    assert "line 2, " not in complaint(lines[:1] * 2)
    assert "not UTF-8" in complaint([], lines[0].encode()[:-2] + b"\xff\xfe}\n")
    assert "longer than" in complaint([], b"x" * 1_100_000)


def test_hands_of_a_match_must_follow_each_other(match_hands):
    first, second = match_hands[:2]
    assert (first.match, first.hand, second.match, second.hand) == (0, 0, 0, 1)

    def complaint(*hands):
        checker = Checker()
        for hand in hands[:-1]:
            checker.check(hand)
        with pytest.raises(RecordError) as caught:
            checker.check(hands[-1])
        return caught.value.field

    assert complaint(first, dataclasses.replace(second, totals=[1.0, 2.0, 3.0])) == "totals"
    assert complaint(first, dataclasses.replace(second, hand=2)) == "hand"
    assert complaint(first, first) == "hand"
    assert complaint(first, dataclasses.replace(second, rules=make_rules("points"))) == "rules"
    assert complaint(dataclasses.replace(first, match=1), second) == "match"
    ends = next(at for at, hand in enumerate(match_hands) if hand.match == 1) - 1
    last = match_hands[ends]
    assert complaint(last, dataclasses.replace(match_hands[ends + 1], match=0)) == "match"


def test_numbers_within_a_millionth_are_equal():
    check_hand(parse_record(line_of(example(scores=[0, 19.0000005, 34]))))


def test_writing_leaves_no_half_file(tmp_path, match_hands):
    path = tmp_path / "hands.jsonl"
    path.write_text("old")

    def broken():
        yield match_hands[0]
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_records(path, broken())
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["hands.jsonl"]
    for target, words in ((tmp_path, "folder"), (tmp_path / "no" / "x", "no folder")):
        with pytest.raises(OSError, match=words):
            write_records(target, match_hands)
