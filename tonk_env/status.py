"""Names everything that is wrong with a table: a card in two places, a hand of the wrong size, an impossible spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tonk_env.actions import ACTION_AT
from tonk_env.cards import CARD_NAMES, cards_of
from tonk_env.rules import RuleSet
from tonk_env.state import Phase
from tonk_env.table import Spread, Table

DRAWN = (Phase.PLAY, Phase.TUNK, Phase.LAST_PLAY)  # the seat on turn has one card more


def status(table: Table) -> list[str]:
    """One sentence for each fault of a table's state; an empty list for a sound one.

    Sound is what the rules can bring about: this is for tests and for those who change the engine.
    """
    return [fault for look in LOOKS for fault in look(table)]


def _phase(table: Table) -> Phase:
    """The phase that the record names."""
    return Phase(int(table.record.phase))


def _names(cards: Any) -> str:
    """Names of card numbers, or of the cards of a set."""
    numbers = cards if isinstance(cards, list) else cards_of(int(cards))
    return " ".join(CARD_NAMES[card] for card in numbers)


def _in_hand(table: Table) -> list[int]:
    """Seats that were dealt into the hand."""
    return [seat for seat in range(table.num_players) if table.record.in_hand >> seat & 1]


def _laid(table: Table) -> list[int]:
    """Card numbers on the table, wilds as themselves."""
    return [card for spread in table.spreads() for card, _ in spread.cards]


def _places_of_cards(table: Table) -> Iterator[str]:
    """Every card of the deck lies in exactly one place."""
    t = table.record
    lying = Counter(card for seat in range(table.num_players) for card in table.hand(seat))
    lying.update(int(card) for card in t.pile[: t.pile_size])
    lying.update(_laid(table))
    lying.update(int(card) for card in t.deck[t.dealt : table.rules.deck_size])
    deck = set(map(int, table.rules.record().deck[: table.rules.deck_size]))
    for card in sorted(deck - set(lying)):
        yield f"card {CARD_NAMES[card]} lies nowhere"
    for card, times in sorted(lying.items()):
        if card not in deck:
            yield f"card {CARD_NAMES[card]} is not in the deck of these rules"
        elif times > 1:
            yield f"card {CARD_NAMES[card]} lies in {times} places"


def _sizes(table: Table) -> Iterator[str]:
    """Hands have the size that deal, draws and discards leave (R4, R11, R17, R27)."""
    t, rules, seats = table.record, table.rules, _in_hand(table)
    for seat in range(table.num_players):
        most = 0 if seat not in seats else rules.hand_size + (seat == t.turn and _phase(table) is not Phase.START)
        if len(table.hand(seat)) > most:
            yield f"seat {seat} holds {len(table.hand(seat))} cards, at most {most} are possible"
    if _phase(table) is Phase.OVER:
        return
    out_of_deck = sum(len(table.hand(seat)) for seat in seats) + len(_laid(table))
    drawn = len(seats) * rules.hand_size + (_phase(table) in DRAWN)
    spare = sum(not t.hand[seat] for seat in seats) if t.tunker >= 0 else 0  # last turns that ended without a discard
    if not drawn <= out_of_deck <= drawn + spare:
        yield f"hands and spreads hold {out_of_deck} cards, {drawn} were dealt or drawn and not thrown"
    for seat in seats:
        if not t.hand[seat] and t.tunker < 0:
            yield f"seat {seat} has no card and the hand goes on"


def _is_book(spread: Spread, rules: RuleSet) -> bool:
    """Three or four places of one rank, each of another suit in use (R13)."""
    places = [place for _, place in spread.cards]
    return len({p % 13 for p in places}) == 1 and 3 <= len(set(places)) == len(places) <= rules.suits


def _is_run(spread: Spread, rules: RuleSet) -> bool:
    """Three or more neighbours of one suit (R13)."""
    names = [CARD_NAMES[place] for _, place in spread.cards]
    return len(names) >= 3 and len({n[1] for n in names}) == 1 and "".join(n[0] for n in names) in rules.ranks


def _spreads(table: Table) -> Iterator[str]:
    """Spreads are books and runs of R13 and R14."""
    wild_names = {"none": (), "jokers": ("X1", "X2"), "deuces": ("2C", "2D", "2H", "2S")}[table.rules.wild]
    for spread in table.spreads():
        sound = _is_book if spread.kind == "book" else _is_run
        if not sound(spread, table.rules):
            yield f"{spread.words} is not a {spread.kind}"
        strangers = [CARD_NAMES[card] for card, place in spread.cards if card != place]
        if any(name not in wild_names for name in strangers):
            yield f"{spread.words}: a card that is not wild stands for another"
        if len(spread.cards) - len(strangers) < 2:
            yield f"{spread.words} has fewer than two natural cards"
        if spread.owner not in _in_hand(table):
            yield f"{spread.words} belongs to seat {spread.owner}, which is not in the hand"


def _summaries(table: Table) -> Iterator[str]:
    """The sets kept beside the spreads and the pile agree with them."""
    t = table.record
    for seat in range(table.num_players):
        own = [c for s in table.spreads() if s.owner == seat for c, place in s.cards if c == place]
        if sorted(own) != cards_of(int(t.laid[seat])):
            yield f"seat {seat} has {_names(sorted(own))} on the table, noted are {_names(t.laid[seat])}"
        if int(t.known[seat]) & ~int(t.hand[seat]):
            yield f"seat {seat} is known to hold {_names(int(t.known[seat]) & ~int(t.hand[seat]))}, and does not"
    thrown = sorted(card for seat in range(7) for card in cards_of(int(t.thrown[seat])))
    if thrown != sorted(int(card) for card in t.pile[: t.pile_size]):
        yield f"the pile is {_names(sorted(map(int, t.pile[: t.pile_size])))}, noted are {_names(thrown)}"
    if int(t.taken) & ~int(t.hand[t.turn]) and t.must_use:
        yield f"{_names(t.taken)} was taken, must be used and is not in hand"


def _open_places(table: Table) -> Iterator[str]:
    """The places noted as open to hits are those next to the spreads (R15)."""
    ranks, suits = table.rules.ranks, "CDHS"[: table.rules.suits]
    found: dict[str, set[str]] = {"book": set(), "high": set(), "low": set()}
    for spread in table.spreads():
        names = [CARD_NAMES[place] for _, place in spread.cards]
        if spread.kind == "run":
            low, high = ranks.index(names[0][0]), ranks.index(names[-1][0])
            found["low"] |= {ranks[low - 1] + names[0][1]} if low else set()
            found["high"] |= {ranks[high + 1] + names[0][1]} if high + 1 < len(ranks) else set()
        elif table.rules.hits_on == "all":
            found["book"] |= {names[0][0] + suit for suit in suits} - set(names)
    for end, places in found.items():
        noted = {CARD_NAMES[card] for card in cards_of(int(table.record["open_" + end]))}
        if noted != places:
            yield f"open to hits ({end}) are {sorted(places)}, noted are {sorted(noted)}"


def _turn(table: Table) -> Iterator[str]:
    """Turn, phase, counters and legal moves make sense together."""
    t, rules = table.record, table.rules
    for seat in range(table.num_players):
        if t.waiting[seat] < 0 or t.frozen[seat] < 0 or t.waiting[seat] > rules.wait_after_spread:
            yield f"seat {seat} is barred for {t.waiting[seat]} and {t.frozen[seat]} turns"
    if table.over or _phase(table) is Phase.OVER:
        return
    if t.turn not in _in_hand(table):
        yield f"seat {t.turn} is on turn and not in the hand"
    if t.turns >= rules.max_turns and t.tunker < 0:
        yield f"{t.turns} turns are finished, {rules.max_turns} end the hand"
    if not t.legal.any():
        yield f"seat {t.turn} has no legal move"
    for word, bits in enumerate(t.legal):
        if any(ACTION_AT[word, index] < 0 for index in range(64) if int(bits) >> index & 1):
            yield f"word {word} of the legal moves has a bit that is no move"


LOOKS = (_places_of_cards, _sizes, _spreads, _summaries, _open_places, _turn)
