"""Looks into an ONNX file before any runtime does: its metadata, and whether it is plain data of standard operators.

A file is refused unless it is one self-contained graph: no tensors kept in other files, no operators of other domains, no
functions and no nested graphs. Only the few fields needed for that are read, in the wire format of protocol buffers, so
neither the onnx package nor its parser is needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from agents.card import CARD_KEY, OpponentFileError

MAX_BYTES = 64 * 2**20
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

# Field numbers of onnx.proto.
MODEL_GRAPH, MODEL_OPSET, MODEL_METADATA, MODEL_TRAINING, MODEL_FUNCTIONS = 7, 8, 14, 20, 25
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_SPARSE = 1, 5, 15
NODE_ATTRIBUTE, NODE_DOMAIN = 5, 7
ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH, ATTRIBUTE_TENSORS, ATTRIBUTE_GRAPHS = 5, 6, 10, 11
TENSOR_TYPE, TENSOR_FLOATS, TENSOR_NAME, TENSOR_RAW, TENSOR_DOUBLES = 2, 4, 8, 9, 10
TENSOR_EXTERNAL, TENSOR_LOCATION = 13, 14
FLOAT_TYPES = {1: "<f4", 10: "<f2", 11: "<f8"}  # by number of the data type, as raw bytes
OPSET_DOMAIN = 1
ENTRY_KEY, ENTRY_VALUE = 1, 2
STANDARD_DOMAINS = (b"", b"ai.onnx")

Field = tuple[int, int, bytes | int]


def read_opponent(path: Path) -> tuple[bytes, str]:
    """Return the bytes of an exported opponent and the text of its card. Raises ``OpponentFileError`` for anything else.

    Weights that are not the card's, or are not finite, count as damage.
    """
    data = _read(path)
    try:
        metadata = _inspect(data, str(path))
    except (IndexError, ValueError) as error:
        if isinstance(error, OpponentFileError):
            raise
        raise OpponentFileError(f"{path} is damaged, or not an ONNX file") from None
    if CARD_KEY.encode() not in metadata:
        raise OpponentFileError(f"{path} is not an exported opponent: its metadata holds no card under {CARD_KEY!r}")
    try:
        text = metadata[CARD_KEY.encode()].decode("utf-8")
    except UnicodeDecodeError:
        raise OpponentFileError(f"{path}: the card in its metadata is damaged, it is not UTF-8") from None
    _check_weights(data, text, str(path))
    return data, text


def weights_digest(data: bytes) -> str:
    """Return the SHA-256, 64 hex digits, of the weights (in the order of their names) and the operators of a model."""
    graph = next(_bytes(value) for number, _, value in _fields(data) if number == MODEL_GRAPH)
    fields = [(number, _bytes(value)) for number, _, value in _fields(graph) if number in (GRAPH_NODE, GRAPH_INITIALIZER)]
    weights = sorted((_tensor_name(value), value) for number, value in fields if number == GRAPH_INITIALIZER)
    parts = [value for _, value in weights] + [value for number, value in fields if number == GRAPH_NODE]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _check_weights(data: bytes, card: str, source: str) -> None:
    """Refuse weights that are not those of the card. A card that cannot be read is left to ``read_card``."""
    try:
        promised = json.loads(card).get("weights")
    except (ValueError, AttributeError, RecursionError):
        return
    if promised is not None and promised != weights_digest(data):
        raise OpponentFileError(f"{source} is damaged: its weights are not those its card was written for")


def _tensor_name(data: bytes) -> bytes:
    return next((_bytes(value) for number, _, value in _fields(data) if number == TENSOR_NAME), b"")


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise OpponentFileError(f"{path} is not a file")
        if size > MAX_BYTES:
            raise OpponentFileError(f"{path} has {size:,} bytes; an opponent has at most {MAX_BYTES:,}")
        data = path.read_bytes()
    except OSError as error:
        raise OpponentFileError(f"cannot read {path}: {error.strerror or error}") from None
    if not data:
        raise OpponentFileError(f"{path} is empty")
    return data


def _inspect(data: bytes, source: str) -> dict[bytes, bytes]:
    """Refuse what is not plain, and return the metadata. Raises IndexError or ValueError if it is no protocol buffer."""
    metadata: dict[bytes, bytes] = {}
    graphs = 0
    for number, _, value in _fields(data):
        if number in (MODEL_FUNCTIONS, MODEL_TRAINING):
            raise OpponentFileError(f"{source} is refused: it defines functions of its own")
        if number == MODEL_METADATA:
            entry = {field: content for field, _, content in _fields(_bytes(value))}
            metadata[_bytes(entry[ENTRY_KEY])] = _bytes(entry.get(ENTRY_VALUE, b""))
        elif number == MODEL_OPSET:
            _check_domain([content for field, _, content in _fields(_bytes(value)) if field == OPSET_DOMAIN], source)
        elif number == MODEL_GRAPH:
            graphs += 1
            _check_graph(_bytes(value), source)
    if graphs != 1:
        raise ValueError("not exactly one graph")
    return metadata


def _check_graph(data: bytes, source: str) -> None:
    for number, _, value in _fields(data):
        if number == GRAPH_INITIALIZER:
            _check_tensor(_bytes(value), source)
        elif number == GRAPH_SPARSE:
            raise OpponentFileError(f"{source} is refused: it holds sparse tensors")
        elif number == GRAPH_NODE:
            _check_node(_bytes(value), source)


def _check_node(data: bytes, source: str) -> None:
    fields = list(_fields(data))
    _check_domain([value for number, _, value in fields if number == NODE_DOMAIN], source)
    for _, _, attribute in (field for field in fields if field[0] == NODE_ATTRIBUTE):
        for number, _, value in _fields(_bytes(attribute)):
            if number in (ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS):
                raise OpponentFileError(f"{source} is refused: it holds nested graphs (loops or branches)")
            if number in (ATTRIBUTE_TENSOR, ATTRIBUTE_TENSORS):
                _check_tensor(_bytes(value), source)


def _check_tensor(data: bytes, source: str) -> None:
    kind = 0
    numbers: list[tuple[int, bytes]] = []
    for number, _, value in _fields(data):
        if number == TENSOR_EXTERNAL or (number == TENSOR_LOCATION and value):
            raise OpponentFileError(f"{source} is refused: it keeps weights in another file")
        if number == TENSOR_TYPE and isinstance(value, int):
            kind = value
        elif number in (TENSOR_RAW, TENSOR_FLOATS, TENSOR_DOUBLES):
            numbers.append((number, _bytes(value)))
    for number, content in numbers:
        dtype = {TENSOR_FLOATS: "<f4", TENSOR_DOUBLES: "<f8"}.get(number) or FLOAT_TYPES.get(kind)
        if dtype is not None and not np.isfinite(np.frombuffer(content, dtype)).all():
            raise OpponentFileError(f"{source} is refused: it holds weights that are not finite numbers")


def _check_domain(domains: list[bytes | int], source: str) -> None:
    for domain in domains:
        if domain not in STANDARD_DOMAINS:
            raise OpponentFileError(f"{source} is refused: it uses operators of the domain {domain!r}, not of ONNX itself")


def _fields(data: bytes) -> Iterator[Field]:
    """Yield (number, wire type, value) of a message: an int for numbers, bytes for everything of a length."""
    view = memoryview(data)
    at = 0
    while at < len(view):
        key, at = _varint(view, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = _varint(view, at)
            yield number, wire, value
            continue
        if wire not in (FIXED64, BYTES, FIXED32):
            raise ValueError("not a protocol buffer")
        size, at = _varint(view, at) if wire == BYTES else ({FIXED64: 8, FIXED32: 4}[wire], at)
        if at + size > len(view):
            raise ValueError("cut off")
        yield number, wire, bytes(view[at : at + size])
        at += size


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("not a protocol buffer")


def _bytes(value: bytes | int) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number where a message is due")
    return value
