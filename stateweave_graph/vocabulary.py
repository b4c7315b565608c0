"""Names and keys of semantic memory as the format normalises them, and the types that a product allows.

The rule is format.md, *Resources and semantic memory*: without it one memory becomes two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stateweave_graph.errors import VocabularyError
from stateweave_graph.jsontext import dumps, parse
from stateweave_graph.model import CausalNode, NodeKind
from stateweave_graph.validation import shorten

BUILT_IN_TYPES = {
    "memory": "A durable fact or context.",
    "preference": "A stable user choice or working style.",
    "wisdom": "A reusable, evidence-supported lesson.",
    "artifact": "A durable output or reference.",
}
CONTENT_MAX_CHARACTERS = 100_000
DESCRIPTION_MAX_CHARACTERS = 240
MAX_NODE_TYPES = 32

_OTHER_IN_TYPE = re.compile(r"[^a-z0-9_-]+")
_OTHER_IN_KEY = re.compile(r"[^a-z0-9_./:-]+")
_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,47}")
_KEY_MAX = 120


def normalise_type(name: str) -> str:
    """The name of a semantic type, normalised.

    Raises:
        VocabularyError: nothing of the form ``[a-z][a-z0-9_-]{0,47}`` is left.

    >>> normalise_type(" Working Style ")
    'working-style'
    """
    _refuse_other_types(name)
    normalised = _OTHER_IN_TYPE.sub("-", name.strip().lower()).strip("-")
    if not _TYPE.fullmatch(normalised):
        raise VocabularyError(
            f"semantic type {shorten(name)} becomes {shorten(normalised)}, which is not 1 to 48 of a-z, 0-9, "
            "_ and - beginning with a letter; choose another name"
        )
    return normalised


def normalise_key(key: str) -> str:
    """The key of a semantic memory, normalised.

    Raises:
        VocabularyError: no character of ``[a-z0-9_./:-]`` is left.

    >>> normalise_key("Hotel style!")
    'hotel-style'
    """
    _refuse_other_types(key)
    normalised = _OTHER_IN_KEY.sub("-", key.strip().lower()).strip("-")[:_KEY_MAX]
    if not normalised:
        raise VocabularyError(
            f"semantic key {shorten(key)} has no character of a-z, 0-9 and _ . / : - left; choose another key"
        )
    return normalised


@dataclass(frozen=True)
class NodeType:
    """A type of semantic nodes that a vocabulary allows.

    Attributes:
        name: normalised when it is given (format.md, *Resources and semantic memory*).
        description: at most 240 characters.

    Raises:
        VocabularyError: the name can't be normalised, or the description is too long.
    """

    name: str
    description: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", normalise_type(self.name))
        if not isinstance(self.description, str) or len(self.description) > DESCRIPTION_MAX_CHARACTERS:
            raise VocabularyError(
                f"the description of type {self.name!r} must be a text of at most "
                f"{DESCRIPTION_MAX_CHARACTERS} characters"
            )


@dataclass(frozen=True)
class Vocabulary:
    """The types of semantic nodes that a product allows.

    Attributes:
        node_types: 1 to 32 types, each name once.
        allow_dynamic: whether the agent may invent types.

    Raises:
        VocabularyError: there are too few or too many types, a name stands twice, or it is not made of
            ``NodeType`` and a boolean.
    """

    node_types: tuple[NodeType, ...]
    allow_dynamic: bool = False

    def __init__(self, node_types: Iterable[NodeType], allow_dynamic: bool = False) -> None:
        if not isinstance(node_types, Iterable):
            raise VocabularyError(f"node_types must be a list of NodeType, not {shorten(node_types)}")
        given = tuple(node_types)
        for found in given:
            if not isinstance(found, NodeType):
                raise VocabularyError(
                    f"{shorten(found)} is no NodeType; make one with NodeType(name, description)"
                )
        if not isinstance(allow_dynamic, bool):
            raise VocabularyError(f"allow_dynamic must be True or False, not {shorten(allow_dynamic)}")
        object.__setattr__(self, "node_types", given)
        object.__setattr__(self, "allow_dynamic", allow_dynamic)
        names = [node_type.name for node_type in self.node_types]
        if not 1 <= len(names) <= MAX_NODE_TYPES:
            raise VocabularyError(f"a vocabulary has 1 to {MAX_NODE_TYPES} types, not {len(names)}")
        if len(set(names)) < len(names):
            raise VocabularyError(f"a type stands twice in the vocabulary: {', '.join(sorted(names))}")

    def check(self, node: CausalNode) -> None:
        """Check that a semantic node fits; nodes of other kinds always do.

        Raises:
            VocabularyError: its type is none of these.
        """
        if node.kind is not NodeKind.SEMANTIC:
            return
        given = node.payload.get("type") if isinstance(node.payload, dict) else None
        if any(node_type.name == given for node_type in self.node_types):
            return
        if self.allow_dynamic and isinstance(given, str) and _TYPE.fullmatch(given):
            return
        names = ", ".join(node_type.name for node_type in self.node_types)
        raise VocabularyError(
            f"semantic node {node.id} has the type {shorten(given)}, which the agent's vocabulary does not "
            f"allow ({names}); nothing was written. Use one of these, or set another vocabulary"
        )

    def to_text(self) -> str:
        """The JSON text that is stored with an agent."""
        types = [{"name": found.name, "description": found.description} for found in self.node_types]
        return dumps({"nodeTypes": types, "allowDynamicNodeTypes": self.allow_dynamic})

    @classmethod
    def from_text(cls, text: str) -> Vocabulary:
        """A vocabulary from its stored text."""
        stored = parse(text)
        types = [NodeType(found["name"], found["description"]) for found in stored["nodeTypes"]]
        return cls(types, stored["allowDynamicNodeTypes"])


def _refuse_other_types(value: object) -> None:
    if not isinstance(value, str):
        raise VocabularyError(f"{shorten(value)} is no text; semantic types and keys are")
