"""The things that users hold: states, nodes and appends.

``AgentState`` and ``CausalNode`` are format.md, *The snapshot*, in Python names: ``createdAt`` is
``created_at``, ``resourceKey`` is ``resource_key``. They are read-only; a history grows by appends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler
from typing_extensions import Self

from stateweave_graph.collector import paused
from stateweave_graph.errors import InvalidAppendError, InvalidStateError
from stateweave_graph.identity import plain_json
from stateweave_graph.jsontext import depth_exceeds, dumps, has_lone_surrogate
from stateweave_graph.timestamps import FORMS, instant_ms
from stateweave_graph.validation import (
    DEFAULT_LIMITS,
    WIRE_FIELDS,
    Limits,
    Violation,
    raise_for,
    read_state,
    shorten,
    unknown_fields,
)

PAYLOAD_MAX_DEPTH = DEFAULT_LIMITS.max_depth - 3
"""A payload stands three levels below the root of its state, so this depth is one that every reader takes."""


class NodeKind(str, Enum):
    """The ten kinds of causal nodes."""

    SYSTEM = "system"
    GOAL = "goal"
    INFERENCE = "inference"
    SEMANTIC = "semantic"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    RESOURCE = "resource"
    VERIFICATION = "verification"
    ANSWER = "answer"
    PROTOCOL_ERROR = "protocol_error"

    def __str__(self) -> str:
        return self.value


class CausalNode(BaseModel):
    """One node of a history.

    Attributes:
        id: ``cw_`` and 24 hex digits, from the content.
        kind: one of the ten kinds.
        parents: ids of the direct causes, sorted.
        payload: any JSON value; not to be changed.
        created_at: when, to the letter as it was given.
        sequence: 1, 2, 3, … in the order of the history.
        resource_key: the logical resource of which this is a version; None where the field is absent.
        extra: unknown fields, in their order.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    id: str
    kind: Annotated[NodeKind, Field(strict=False)]
    parents: list[str]
    payload: Any
    created_at: str = Field(alias="createdAt")
    sequence: int
    resource_key: str | None = Field(default=None, alias="resourceKey")
    extra: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _translate(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, Mapping) and "createdAt" in data:  # the format's own form
            if data.get("resourceKey", "") is None:
                raise InvalidStateError(
                    [Violation("resource_key", "$.resourceKey", "null is not absent; leave it out", "null")],
                    "the node",
                )
            known = {name: data[name] for name in WIRE_FIELDS if name in data}
            data = {**known, "extra": unknown_fields(data)}
        try:
            return handler(data)
        except ValidationError as error:
            raise InvalidStateError(_violations(error), "the node") from None

    @classmethod
    def from_valid(cls, wire: Mapping[str, Any]) -> CausalNode:
        """A node from its parsed JSON object, which has passed ``validate``; nothing is checked again."""
        return cls.unchecked(
            id=wire["id"],
            kind=_KIND_BY_TEXT[wire["kind"]],
            parents=wire["parents"],
            payload=wire["payload"],
            created_at=wire["createdAt"],
            sequence=int(wire["sequence"]),
            resource_key=wire.get("resourceKey"),
            extra=unknown_fields(wire),
        )

    @classmethod
    def unchecked(cls, **fields: Any) -> Self:
        """A node from all its fields by Python name, none checked: for content that is known to be valid."""
        node = cls.__new__(cls)
        # What model_construct does, without its look at aliases and defaults (a third of the time).
        object.__setattr__(node, "__dict__", fields)
        object.__setattr__(node, "__pydantic_fields_set__", _all_fields(cls))
        object.__setattr__(node, "__pydantic_extra__", None)
        object.__setattr__(node, "__pydantic_private__", None)
        return node

    @property
    def extra_text(self) -> str | None:
        """The JSON text of the unknown fields; None where there are none."""
        return dumps(self.extra) if self.extra else None

    def to_dict(self) -> dict[str, Any]:
        """The node as the format writes it: fields in its order, unknown fields after them."""
        wire: dict[str, Any] = {
            "id": self.id,
            "kind": self.kind.value,
            "parents": self.parents,
            "payload": self.payload,
            "createdAt": self.created_at,
            "sequence": self.sequence,
        }
        if self.resource_key is not None:
            wire["resourceKey"] = self.resource_key
        wire.update(self.extra)
        return wire


class AgentState(BaseModel):
    """A whole working memory: an append-only history of nodes and its frontier.

    However it is made, it is judged by the import rules first.

    Attributes:
        version: always 1.
        nodes: in the order of ``sequence``.
        frontier: ids of the active heads, in their order.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    version: Literal[1]
    nodes: list[CausalNode]
    frontier: list[str]

    @model_validator(mode="wrap")
    @classmethod
    def _judge(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, cls):
            return data
        wire = _to_wire(data)
        reading = read_state(wire, DEFAULT_LIMITS, CausalNode.from_valid)
        raise_for(reading.violations)
        wire["version"] = 1
        wire["nodes"] = reading.nodes
        return handler(wire)

    @classmethod
    def from_json(
        cls,
        source: str | bytes | bytearray | memoryview,
        *,
        max_bytes: int = DEFAULT_LIMITS.max_bytes,
        max_nodes: int = DEFAULT_LIMITS.max_nodes,
        max_depth: int = DEFAULT_LIMITS.max_depth,
    ) -> AgentState:
        """Parse and judge a state's JSON text.

        Args:
            source: the text, or its UTF-8 bytes.
            max_bytes: the most bytes.
            max_nodes: the most nodes.
            max_depth: the deepest nesting of arrays and objects, the root counting as 1.

        Raises:
            InvalidStateError: import rules are broken; ``.violations`` names each.
            LimitExceededError: a limit is exceeded.
        """
        limits = Limits(max_bytes, max_nodes, max_depth)
        with paused():
            reading = read_state(source, limits, CausalNode.from_valid)
        raise_for(reading.violations)
        return cls.unchecked(reading.nodes, reading.frontier)

    @classmethod
    def unchecked(cls, nodes: list[CausalNode], frontier: list[str]) -> AgentState:
        """A state from nodes and a frontier that are known to hold every rule."""
        return cls.model_construct(version=1, nodes=nodes, frontier=frontier)

    def to_dict(self) -> dict[str, Any]:
        """The state as plain Python values, as ``json.loads`` of ``to_json`` gives it."""
        return {
            "version": 1,
            "nodes": [node.to_dict() for node in self.nodes],
            "frontier": list(self.frontier),
        }

    def to_json(self) -> str:
        """Compact JSON text; what came in comes out (format.md, *Given back*)."""
        nodes = ",".join([dumps(node.to_dict()) for node in self.nodes])
        return f'{{"version":1,"nodes":[{nodes}],"frontier":{dumps(self.frontier)}}}'


class SemanticPayload(BaseModel):
    """The payload of a ``semantic`` node that this package writes."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    type: str
    key: str
    content: Any

    @property
    def resource_key(self) -> str:
        """The key of the resource whose versions these memories are."""
        return f"semantic:{self.type}:{self.key}"


class Append(BaseModel):
    """What one append asks for (format.md, *Appending*).

    Attributes:
        kind: one of the ten kinds.
        payload: any JSON value; a copy is taken.
        parents: ids, or earlier appends of the same list; None for the frontier as it stands then.
        resource_key: the resource of which this is to be the newest version; not empty.
        advance: whether parents leave the frontier and the node joins it.
        created_at: a time in a form of the format; None for now.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    kind: Annotated[NodeKind, Field(strict=False)]
    payload: Any
    parents: list[str | Append] | None = None
    resource_key: str | None = None
    advance: bool = True
    created_at: str | None = None

    if TYPE_CHECKING:  # what is taken is wider than what is kept: kinds as text, parents in any sequence

        def __init__(
            self,
            *,
            kind: NodeKind | str,
            payload: Any,
            parents: Sequence[str | Append] | None = None,
            resource_key: str | None = None,
            advance: bool = True,
            created_at: str | None = None,
        ) -> None: ...

    @model_validator(mode="wrap")
    @classmethod
    def _judge(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        fields = dict(data)
        parents = fields.get("parents")
        if isinstance(parents, Sequence) and not isinstance(parents, str):
            fields["parents"] = list(parents)
        if "payload" in fields:
            if depth_exceeds(fields["payload"], PAYLOAD_MAX_DEPTH):
                raise InvalidAppendError(
                    f"payload is nested deeper than {PAYLOAD_MAX_DEPTH} levels; no reader would take it back"
                )
            fields["payload"] = plain_json(fields["payload"])
        try:
            append = handler(fields)
        except ValidationError as error:
            found = "; ".join(
                f"{item.path}: {item.message} (here: {item.value})" for item in _violations(error)
            )
            raise InvalidAppendError(f"no append can be made of this: {found}") from None
        append._check()
        return append

    def _check(self) -> None:
        key, created_at = self.resource_key, self.created_at
        if key is not None and (not key or has_lone_surrogate(key)):
            raise InvalidAppendError(
                f"resource_key {shorten(key)} must be a text that is not empty and has no lone surrogates; "
                "leave it out where the node is no version of a resource"
            )
        if created_at is not None and instant_ms(created_at) is None:
            raise InvalidAppendError(
                f"created_at {shorten(created_at)} must be a date that exists, as {FORMS}"
            )


@cache
def _all_fields(model: type[BaseModel]) -> set[str]:
    """The names of a model's fields, one set for all; pydantic copies it before a change."""
    return set(model.model_fields)


_KIND_BY_TEXT = {kind.value: kind for kind in NodeKind}


def _to_wire(data: Any) -> dict[str, Any]:
    wire = dict(data) if isinstance(data, Mapping) else {}
    if isinstance(wire.get("nodes"), (list, tuple)):
        wire["nodes"] = [node.to_dict() if isinstance(node, CausalNode) else node for node in wire["nodes"]]
    if isinstance(wire.get("frontier"), tuple):
        wire["frontier"] = list(wire["frontier"])
    return wire


def _violations(error: ValidationError) -> list[Violation]:
    found = []
    for item in error.errors():
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"])
        given = "nothing" if item["type"] == "missing" else shorten(item["input"])
        found.append(Violation("shape", f"${path}", item["msg"], given))
    return found
