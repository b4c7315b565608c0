"""The import rules: what must hold for a state from outside (format.md, *Import*).

Each rule of the table there is one function or one block here, named in its violation. A state is
judged whole: every violation is found in one pass, and nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import lt
from typing import Any, NamedTuple

from stateweave_graph.errors import InvalidRequestError, InvalidStateError, LimitExceededError
from stateweave_graph.identity import identity_of, is_finite_double
from stateweave_graph.jsontext import (
    HARD_MAX_DEPTH,
    JsonTextError,
    decode,
    depth_exceeds,
    depth_of_text,
    has_lone_surrogate,
    member_path,
    parse,
    quoted,
)
from stateweave_graph.statetext import NodeTexts, split_state
from stateweave_graph.timestamps import FORMS, is_time

KINDS = (
    "system",
    "goal",
    "inference",
    "semantic",
    "tool_call",
    "tool_result",
    "resource",
    "verification",
    "answer",
    "protocol_error",
)
WIRE_FIELDS = ("id", "kind", "parents", "payload", "createdAt", "sequence", "resourceKey")

_KINDS = frozenset(KINDS)
_FIELDS = frozenset(WIRE_FIELDS)
_TOP_LEVEL = ("version", "nodes", "frontier")
_ABSENT: Any = object()
_PLAIN_TYPES = frozenset({dict, list, str, int, float, bool, type(None)})


class Violation(NamedTuple):
    """One rule broken at one place.

    Attributes:
        rule: the name of the rule in format.md.
        path: the place, as a JSON path from ``$``.
        message: what is wrong there, and what would be right.
        value: the value there, shortened.
    """

    rule: str
    path: str
    message: str
    value: str

    def __str__(self) -> str:
        shown = f" (here: {self.value})" if self.value else ""
        return f"{self.path}: {self.rule}: {self.message}{shown}"


@dataclass(frozen=True)
class Limits:
    """How large a state may be.

    Attributes:
        max_bytes: bytes of its JSON text.
        max_nodes: number of nodes.
        max_depth: nesting of arrays and objects, the root counting as 1; at most ``HARD_MAX_DEPTH``.
    """

    max_bytes: int = 256 * 1024 * 1024
    max_nodes: int = 1_000_000
    max_depth: int = 128

    def __post_init__(self) -> None:
        for name, least in (("max_bytes", 1), ("max_nodes", 0), ("max_depth", 1)):
            limit = getattr(self, name)
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < least:
                raise InvalidRequestError(f"{name} must be an integer from {least} on, not {shorten(limit)}")
        if self.max_depth > HARD_MAX_DEPTH:
            raise InvalidRequestError(f"max_depth must be at most {HARD_MAX_DEPTH}, not {self.max_depth}")


DEFAULT_LIMITS = Limits()


def validate(
    source: Any,
    *,
    max_bytes: int = DEFAULT_LIMITS.max_bytes,
    max_nodes: int = DEFAULT_LIMITS.max_nodes,
    max_depth: int = DEFAULT_LIMITS.max_depth,
) -> list[Violation]:
    """Every violation of the import rules; an empty list for a valid state.

    Args:
        source: JSON text, its UTF-8 bytes, or the parsed object.
        max_bytes: the most bytes of JSON text; not looked at for an object.
        max_nodes: the most nodes.
        max_depth: the deepest nesting of arrays and objects.

    Raises:
        InvalidRequestError: a limit is no number, or out of its own range.
    """
    return read_state(source, Limits(max_bytes, max_nodes, max_depth)).violations


class Reading(NamedTuple):
    """What came of reading a state.

    Attributes:
        nodes: what was made of each node that breaks no rule, in order.
        frontier: the frontier as it was given.
        violations: every violation; the others mean something only where there is none.
    """

    nodes: list[Any]
    frontier: Any
    violations: list[Violation]


def read_state(source: Any, limits: Limits, make: Callable[[dict[str, Any]], Any] | None = None) -> Reading:
    """Parse and judge a state.

    Args:
        source: JSON text, its UTF-8 bytes, or the parsed object.
        limits: how large it may be.
        make: called with each node that breaks no rule; what it gives is kept. None: nothing is.
    """
    if not isinstance(source, (str, bytes, bytearray, memoryview)):
        if depth_exceeds(source, limits.max_depth):
            return Reading([], None, [_too_deep(limits)])
        return _read(source, limits, make)
    try:
        data = _bytes_within(source, limits)
        with suppress(JsonTextError):  # cut where no node ends, or broken: only the whole text tells
            state = split_state(data)
            if state is not None and len(state["nodes"]) <= limits.max_nodes:
                return _read(state, limits, make)
        return _read(_json(parse, source if isinstance(source, str) else data), limits, make)
    except InvalidStateError as error:
        return Reading([], None, error.violations)


def parse_within(source: str | bytes | bytearray | memoryview, limits: Limits) -> Any:
    """Parse JSON text within limits that are checked before the work they bound.

    Raises:
        LimitExceededError: it is too long or too deep (rule ``size``).
        InvalidStateError: it is not one JSON value (rule ``json``).
    """
    data = _bytes_within(source, limits)
    return _json(parse, source if isinstance(source, str) else data)


def _bytes_within(source: str | bytes | bytearray | memoryview, limits: Limits) -> bytes:
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else bytes(source)
    if len(data) > limits.max_bytes:
        message = f"longer than the limit of {limits.max_bytes} bytes"
        raise LimitExceededError([Violation("size", "$", message, f"{len(data)} bytes")])
    if depth_of_text(data) > limits.max_depth:
        if not isinstance(source, str):
            _json(decode, data)  # bytes that are no UTF-8 are no JSON of any depth
        raise LimitExceededError([_too_deep(limits)])
    return data


def _json(read: Callable[[Any], Any], text: str | bytes) -> Any:
    try:
        return read(text)
    except JsonTextError as error:
        raise InvalidStateError([Violation("json", "$", str(error), "")]) from None


def raise_for(violations: list[Violation], source: str = "the state") -> None:
    """Raise what a list of violations calls for; nothing where it is empty.

    Raises:
        LimitExceededError: a violation is of the rule ``size``.
        InvalidStateError: there is any other.
    """
    if any(violation.rule == "size" for violation in violations):
        raise LimitExceededError(violations, source)
    if violations:
        raise InvalidStateError(violations, source)


def shorten(value: Any) -> str:
    """A value as one short line, for messages."""
    if value is _ABSENT:
        return "nothing"
    if isinstance(value, (dict, list)):
        name = "an object" if isinstance(value, dict) else "an array"
        return f"{name} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    return repr(value) if isinstance(value, (int, float)) else f"of type {type(value).__name__}"


class NodeJudge:
    """Judges nodes one after another, in list order, knowing the ids of those before.

    Also used where a history grows: by a session log turn by turn, by a mirror commit by commit.

    Args:
        ids: the ids of the nodes that stand before the first to be judged, valid ones; grows with each.
        count: how many these are.
    """

    def __init__(self, ids: set[str] | None = None, count: int = 0) -> None:
        self.ids: set[str] = set() if ids is None else ids
        self.count = count
        self._ids_are_ascii = True  # those that were given too: ids that match their content are

    def judge(self, node: Any, path: str) -> list[Violation]:
        """The violations of the next node of the list."""
        self.count += 1
        if not isinstance(node, dict):
            return [Violation("shape", path, "a node must be an object", shorten(node))]
        found: list[Violation] = []
        self._metadata(node, path, found)
        node_id, parents = node.get("id", _ABSENT), node.get("parents", _ABSENT)
        parents_hold = self._parents_hold(parents)
        if not parents_hold:
            found.extend(self._parents(parents, node_id, f"{path}.parents"))
        if not isinstance(node_id, str):
            found.append(Violation("shape", f"{path}.id", "id must be a string", shorten(node_id)))
        elif node_id in self.ids:
            message = "this id stands earlier in the list"
            found.append(Violation("duplicate_id", f"{path}.id", message, shorten(node_id)))
        self._identity(node, path, parents_hold, found)
        if isinstance(node_id, str):
            self.ids.add(node_id)
            self._ids_are_ascii &= node_id.isascii()
        return found

    def _metadata(self, node: dict[str, Any], path: str, found: list[Violation]) -> None:
        kind = node.get("kind", _ABSENT)
        if not isinstance(kind, str) or kind not in _KINDS:
            message = f"must be one of {', '.join(KINDS)}"
            found.append(Violation("kind", f"{path}.kind", message, shorten(kind)))
        created_at = node.get("createdAt", _ABSENT)
        if not isinstance(created_at, str) or not is_time(created_at):
            found.append(_created_at(created_at, path))
        sequence = node.get("sequence", _ABSENT)
        if isinstance(sequence, bool) or not isinstance(sequence, (int, float)) or sequence != self.count:
            message = f"must be {self.count}, the node's place in the list"
            found.append(Violation("sequence", f"{path}.sequence", message, shorten(sequence)))
        key = node.get("resourceKey", _ABSENT)
        if key is not _ABSENT and (not isinstance(key, str) or has_lone_surrogate(key)):
            found.append(_resource_key(key, path))
        unknown = unknown_fields(node)
        if unknown:
            found.extend(_not_plain_json(unknown, path))

    def _parents_hold(self, parents: Any) -> bool:
        """The usual case at the speed of sets: all that ``_parents`` asks for holds."""
        # Beyond ASCII the order of code points, which Python compares, is not that of UTF-16.
        if not isinstance(parents, list) or not self._ids_are_ascii:
            return False
        try:
            return self.ids.issuperset(parents) and all(map(lt, parents, parents[1:]))
        except TypeError:
            return False

    def _parents(self, parents: Any, node_id: Any, path: str) -> Iterator[Violation]:
        if not isinstance(parents, list):
            yield Violation("shape", path, "parents must be an array", shorten(parents))
            return
        texts = []
        seen: set[str] = set()
        for index, parent in enumerate(parents):
            place = f"{path}[{index}]"
            if not isinstance(parent, str):
                yield Violation("shape", place, "a parent must be a string", shorten(parent))
                continue
            if parent in seen:
                yield Violation("parents", place, "this parent is named twice", shorten(parent))
            elif parent not in self.ids:
                what = (
                    "a node can't be its own parent"
                    if parent == node_id
                    else "no node earlier in the list has this id"
                )
                yield Violation("parents", place, what, shorten(parent))
            seen.add(parent)
            texts.append(parent)
        if texts != sorted(texts, key=_utf16_order):
            yield Violation("parents", path, "parents must be sorted by UTF-16 code unit", shorten(parents))

    def _identity(self, node: dict[str, Any], path: str, parents_hold: bool, found: list[Violation]) -> None:
        payload = node.get("payload", _ABSENT)
        if payload is _ABSENT:
            message = "payload is missing; a lenient reader takes null"
            found.append(Violation("shape", f"{path}.payload", message, "nothing"))
            return
        kind, parents, key = node.get("kind"), node.get("parents", _ABSENT), node.get("resourceKey", _ABSENT)
        key_is_text = key is _ABSENT or isinstance(key, str)
        if key_is_text and isinstance(kind, str) and (parents_hold or _are_texts(parents)):
            try:
                expected = identity_of(kind, parents, payload, None if key is _ABSENT else key)
            except (ValueError, TypeError, KeyError):  # a number beyond a double, or not plain JSON
                pass
            else:
                node_id = node.get("id")
                if node_id != expected and isinstance(node_id, str):
                    message = _IDENTITY.format(expected)
                    found.append(Violation("identity", f"{path}.id", message, shorten(node_id)))
                return
        found.extend(_not_plain_json(payload, f"{path}.payload"))


def unknown_fields(node: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a node that the format does not know, in their order."""
    if len(node) == len(WIRE_FIELDS) - ("resourceKey" not in node) and node.keys() <= _FIELDS:
        return {}
    return {name: value for name, value in node.items() if name not in _FIELDS}


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


_IDENTITY = (
    "the id does not match the content, whose id is {}. Either the node was changed, or its writer ran under "
    "a locale that orders keys otherwise, its payload held a NaN, an Infinity or a Date, which JSON can't "
    "carry, or a key has a character newer than the ICU of one side"
)


def _read(value: Any, limits: Limits, make: Callable[[dict[str, Any]], Any] | None) -> Reading:
    made: list[Any] = []
    violations = list(_judge(value, limits, make, made))
    return Reading(made, value.get("frontier") if isinstance(value, dict) else None, violations)


def _judge(
    value: Any, limits: Limits, make: Callable[[dict[str, Any]], Any] | None, made: list[Any]
) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(
            "shape", "$", "a state must be an object with version, nodes and frontier", shorten(value)
        )
        return
    yield from _version(value)
    for name in value:
        if name not in _TOP_LEVEL:
            message = "no other field is allowed at the top level; a lenient reader ignores it"
            yield Violation("shape", _member("$", name), message, shorten(value[name]))
    nodes = value.get("nodes", _ABSENT)
    judge: NodeJudge | None = None
    if not isinstance(nodes, (list, NodeTexts)):
        yield Violation("shape", "$.nodes", "nodes must be an array", shorten(nodes))
    elif len(nodes) > limits.max_nodes:
        yield Violation(
            "size", "$.nodes", f"more than the limit of {limits.max_nodes} nodes", f"{len(nodes)} nodes"
        )
    else:
        judge = NodeJudge()
        for index, node in enumerate(nodes):
            found = judge.judge(node, f"$.nodes[{index}]")
            if found:
                yield from found
            elif make is not None:
                made.append(make(node))
    yield from judge_frontier(value.get("frontier", _ABSENT), None if judge is None else judge.ids)


def judge_frontier(frontier: Any, ids: set[str] | None, path: str = "$.frontier") -> Iterator[Violation]:
    """The violations of a frontier over the ids of the nodes (None where they are not known)."""
    if not isinstance(frontier, list):
        yield Violation("shape", path, "frontier must be an array", shorten(frontier))
        return
    seen: set[str] = set()
    for index, head in enumerate(frontier):
        if not isinstance(head, str):
            yield Violation(
                "frontier", f"{path}[{index}]", "must be a string, the id of a node", shorten(head)
            )
        elif head in seen:
            yield Violation("frontier", f"{path}[{index}]", "this id is named twice", shorten(head))
        elif ids is not None and head not in ids:
            yield Violation("frontier", f"{path}[{index}]", "no node has this id", shorten(head))
        if isinstance(head, str):
            seen.add(head)


def _version(value: dict[str, Any]) -> Iterator[Violation]:
    version = value.get("version", _ABSENT)
    if isinstance(version, bool) or not isinstance(version, (int, float)) or version != 1:
        yield Violation("version", "$.version", "must be the number 1", shorten(version))


def _created_at(value: Any, path: str) -> Violation:
    if isinstance(value, str):
        message = f"must be a date that exists, as {FORMS}; JavaScript's Date.parse may take others"
    else:
        message = f"must be a string, {FORMS}"
    return Violation("created_at", f"{path}.createdAt", message, shorten(value))


def _resource_key(value: Any, path: str) -> Violation:
    message = "must be a string without lone surrogates where it is present; null is not absent"
    return Violation("resource_key", f"{path}.resourceKey", message, shorten(value))


def _not_plain_json(value: Any, path: str) -> Iterator[Violation]:
    """Whatever at any depth has no identity: numbers out of range, and Python values that JSON does not give.

    A subclass is one of these. Other code looks at exact types, and must not see less than is judged here.
    """
    if type(value) not in _PLAIN_TYPES:
        message = "not a plain JSON value; make it of dict, list, str, int, float, bool and None alone"
        yield Violation("json", path, message, type(value).__name__)
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                yield Violation("json", path, "a key that is no string", shorten(key))
            yield from _not_plain_json(item, _member(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _not_plain_json(item, f"{path}[{index}]")
    elif isinstance(value, (int, float)) and not is_finite_double(value):
        message = "no number outside the range of a double; a lenient reader takes Infinity or null"
        yield Violation("payload", path, message, shorten(value))


def _member(path: str, name: Any) -> str:
    return member_path(path, name) if isinstance(name, str) else f"{path}[{shorten(name)}]"


def _utf16_order(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def _too_deep(limits: Limits) -> Violation:
    return Violation("size", "$", f"nested deeper than the limit of {limits.max_depth} levels", "")
