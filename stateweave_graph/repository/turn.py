"""A turn: a unit of work that appends what an agent's run does, and commits it whole when it is left.

The payloads and default parents are format.md, *What the SDK's agent appends*; where that is "everything
that was in the prompt", it is the turn's own nodes and the frontier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import Self

from stateweave_graph.errors import ConflictError, InvalidRequestError, UnknownParentError, VocabularyError
from stateweave_graph.identity import plain_json
from stateweave_graph.javascript import javascript_json
from stateweave_graph.jsontext import dumps
from stateweave_graph.model import Append, CausalNode, NodeKind, SemanticPayload
from stateweave_graph.repository.ground import Draft, named_in
from stateweave_graph.repository.requests import Asked, Said, check_list, check_text
from stateweave_graph.results import Commit, Head
from stateweave_graph.timestamps import iso_text, now_ms
from stateweave_graph.vocabulary import CONTENT_MAX_CHARACTERS, normalise_key, normalise_type

if TYPE_CHECKING:
    from stateweave_graph.repository.repository import Repository

NodeOrId = CausalNode | str
_UNSET: Final = object()


class Turn:
    """What ``Repository.turn`` gives: use it in a ``with`` block.

    The head is read when the block is entered, and everything is committed in one commit when it is left.
    An exception in the block leaves nothing behind. Each method appends one node and returns it;
    ``parents`` (nodes or ids) and ``created_at`` (a time in a form of the format) may be given to each.

    Attributes:
        head: the head when the turn was entered; None where there was no such agent.
        commit: what was committed, once the block has been left; None where nothing was appended.
    """

    def __init__(
        self,
        repository: Repository,
        agent_id: str,
        expected: Any,
        parents: Sequence[NodeOrId] | None,
        commit_id: str | None,
        metadata: str | None,
    ) -> None:
        self.head: Head | None = None
        self.commit: Commit | None = None
        self._repository = repository
        self._agent_id = agent_id
        self._expected = expected
        self._commit_id = commit_id
        self._metadata = metadata
        self._chosen: dict[str, None] | None = None if parents is None else dict.fromkeys(_ids(parents))
        self._draft: Draft | None = None
        self._base: Asked = None if self._chosen is None else list(self._chosen)
        self._said: list[Said] = []
        self._given: dict[str, int] = {}
        self._own: dict[str, CausalNode] = {}
        self._latest: dict[NodeKind, CausalNode] = {}

    def __enter__(self) -> Self:
        if self._draft is not None or self.commit is not None:
            raise InvalidRequestError("a turn is entered once; begin another with repository.turn(…)")
        self.head, ground = self._repository._begin_turn(self._agent_id, self._expected, self._commit_id)
        self._draft = Draft(ground)
        if self._chosen is not None:
            self._look_up(self._chosen, ())
            unknown = [parent for parent in self._chosen if parent not in ground.mirror]
            if unknown:
                raise UnknownParentError(unknown)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        draft, self._draft = self._open(), None
        if kind is not None or not draft.appends:
            return
        try:
            self.commit = self._repository._commit_turn(
                self._agent_id, draft, self._said, self._base, self._commit_id, self._metadata
            )
        except ConflictError as conflict:
            raise self._with_appends(conflict, draft) from None

    def system(
        self, text: str, *, parents: Iterable[NodeOrId] | None = None, created_at: str | None = None
    ) -> CausalNode:
        """The system prompt: the latest system node where it says the same, else a new one."""
        latest = self._open().ground.mirror.system_id
        node = None if latest is None else self._node(latest)
        if node is None or node.payload != text or parents is not None:
            asked = None if parents is None else _ids(parents)
            node = self._add(
                NodeKind.SYSTEM, text, asked, self._front(), created_at, advance=latest is not None
            )
        self._note(node, Said("system", dumps(text), self._spelled(parents), None, None))
        return node

    def goal(
        self, text: str, *, parents: Iterable[NodeOrId] | None = None, created_at: str | None = None
    ) -> CausalNode:
        """What the agent is asked; it rests on the latest system node and the whole frontier."""
        system = self._open().ground.mirror.system_id
        default = self._front() if system is None else [system, *self._front()]
        return self._append(NodeKind.GOAL, text, parents, default, created_at)

    def inference(
        self, payload: Any, *, parents: Iterable[NodeOrId] | None = None, created_at: str | None = None
    ) -> CausalNode:
        """What the model said that was no valid action; it rests on the prompt."""
        return self._append(NodeKind.INFERENCE, payload, parents, self._prompt(), created_at)

    def tool_call(
        self,
        name: str,
        args: Any,
        *,
        raw: Any = _UNSET,
        parents: Iterable[NodeOrId] | None = None,
        created_at: str | None = None,
    ) -> CausalNode:
        """A tool called; it rests on the prompt. ``raw`` is what the model wrote, where that is kept."""
        check_text(name, "name of a tool")
        payload = {"name": name, "args": args} if raw is _UNSET else {"name": name, "args": args, "raw": raw}
        return self._append(NodeKind.TOOL_CALL, payload, parents, self._prompt(), created_at)

    def tool_result(
        self,
        call: NodeOrId,
        result: Any,
        *,
        parents: Iterable[NodeOrId] | None = None,
        created_at: str | None = None,
    ) -> CausalNode:
        """What a tool answered to a call; it rests on the call."""
        called = call if isinstance(call, CausalNode) else self._node(call)
        name = called.payload.get("name") if isinstance(called.payload, dict) else None
        if called.kind is not NodeKind.TOOL_CALL or not isinstance(name, str):
            raise InvalidRequestError(
                f"{called.id} is no tool call with a name, so nothing can be its result"
            )
        payload = {"tool": name, "result": result}
        return self._append(
            NodeKind.TOOL_RESULT, payload, [called] if parents is None else parents, (), created_at
        )

    def resource(
        self,
        path: str,
        *,
        operation: str,
        content_hash: str | None = None,
        bytes: int | None = None,
        succeeded: bool = True,
        key: str | None = None,
        parents: Iterable[NodeOrId] | None = None,
        created_at: str | None = None,
    ) -> CausalNode:
        """A path read or written: the next version of the resource ``key``, which is the path if not given.

        It rests on the turn's latest tool result.
        """
        payload: dict[str, Any] = {"path": path, "operation": operation}
        if content_hash is not None:
            payload["contentHash"] = content_hash
        if bytes is not None:
            payload["bytes"] = bytes
        payload["succeeded"] = succeeded
        return self._append(
            NodeKind.RESOURCE,
            payload,
            parents,
            self._after(NodeKind.TOOL_RESULT),
            created_at,
            resource_key=path if key is None else key,
        )

    def verification(
        self, payload: Any, *, parents: Iterable[NodeOrId] | None = None, created_at: str | None = None
    ) -> CausalNode:
        """A check of a tool's work; it rests on the turn's latest tool result."""
        default = self._after(NodeKind.TOOL_RESULT)
        return self._append(NodeKind.VERIFICATION, payload, parents, default, created_at)

    def protocol_error(
        self, text: str, *, parents: Iterable[NodeOrId] | None = None, created_at: str | None = None
    ) -> CausalNode:
        """What the model was told about an invalid action; it rests on the turn's latest inference."""
        default = self._after(NodeKind.INFERENCE)
        return self._append(NodeKind.PROTOCOL_ERROR, text, parents, default, created_at)

    def answer(
        self, text: str, *, parents: Iterable[NodeOrId] | None = None, created_at: str | None = None
    ) -> CausalNode:
        """What the agent answers; it rests on the prompt."""
        return self._append(NodeKind.ANSWER, text, parents, self._prompt(), created_at)

    def remember(
        self,
        type: str,
        key: str,
        content: Any,
        *,
        parents: Iterable[NodeOrId] | None = None,
        created_at: str | None = None,
    ) -> CausalNode:
        """A semantic memory, its type and key normalised: the next version of ``semantic:<type>:<key>``.

        It rests on the turn's answer if there is one, else on its latest tool result, else on its goal.

        Raises:
            VocabularyError: nothing is left of the type or the key, or the content is too long.
        """
        payload = SemanticPayload(
            type=normalise_type(type), key=normalise_key(key), content=plain_json(content, "content")
        )
        size = len(javascript_json(payload.content).encode("utf-16-le", "surrogatepass")) // 2
        if size > CONTENT_MAX_CHARACTERS:
            raise VocabularyError(
                f"{payload.resource_key}: the content has {size} characters of JSON, more than "
                f"{CONTENT_MAX_CHARACTERS}; keep it elsewhere and remember where"
            )
        return self._append(
            NodeKind.SEMANTIC,
            payload.model_dump(),
            parents,
            self._after(NodeKind.ANSWER, NodeKind.TOOL_RESULT, NodeKind.GOAL),
            created_at,
            resource_key=payload.resource_key,
            advance=False,
        )

    def _append(
        self,
        kind: NodeKind,
        payload: Any,
        parents: Iterable[NodeOrId] | None,
        default: Sequence[str],
        created_at: str | None,
        *,
        resource_key: str | None = None,
        advance: bool = True,
    ) -> CausalNode:
        asked = None if parents is None else _ids(parents)
        node = self._add(
            kind, payload, asked, default, created_at, resource_key=resource_key, advance=advance
        )
        said = Said(kind.value, dumps(node.payload), self._spelled(asked), resource_key, advance)
        self._note(node, said)
        return node

    def _add(
        self,
        kind: NodeKind,
        payload: Any,
        asked: list[str] | None,
        default: Sequence[str],
        created_at: str | None,
        *,
        resource_key: str | None = None,
        advance: bool,
    ) -> CausalNode:
        draft = self._open()
        append = Append(
            kind=kind,
            payload=payload,
            parents=default if asked is None else asked,
            resource_key=resource_key,
            advance=advance,
            created_at=created_at or iso_text(now_ms()),
        )
        self._look_up(*named_in([append]))
        node = draft.add(append)
        self._own.setdefault(node.id, node)
        self._latest[kind] = node
        if advance and self._chosen:
            for parent in node.parents:
                self._chosen.pop(parent, None)
        return node

    def _note(self, node: CausalNode, said: Said) -> None:
        """Note what was said, and which node it gave."""
        self._given.setdefault(node.id, len(self._said))
        self._said.append(said)

    def _spelled(self, parents: Iterable[NodeOrId] | None) -> Asked:
        """Parents in the request: what this turn gave by place, so that a turn said twice is the same."""
        if parents is None:
            return None
        ids = dict.fromkeys(_ids(parents))
        return [f"#{self._given[node_id]}" if node_id in self._given else node_id for node_id in ids]

    def _open(self) -> Draft:
        if self._draft is None:
            raise InvalidRequestError("a turn is used inside its block: with repository.turn(…) as turn: …")
        return self._draft

    def _front(self) -> list[str]:
        """The frontier as this turn sees it: the whole one, or that of the branch chosen."""
        frontier = self._open().ground.mirror.frontier
        if self._chosen is None:
            return frontier
        return list(dict.fromkeys([*self._chosen, *(head for head in frontier if head in self._own)]))

    def _prompt(self) -> list[str]:
        return list(dict.fromkeys([*self._own, *self._front()]))

    def _after(self, *kinds: NodeKind) -> list[str]:
        """The turn's latest node of the first of these kinds that it has; the prompt where it has none."""
        for kind in kinds:
            if kind in self._latest:
                return [self._latest[kind].id]
        return self._prompt()

    def _node(self, node_id: str) -> CausalNode:
        """A node of this turn or a stored one."""
        if node_id in self._own:
            return self._own[node_id]
        return self._repository.node(self._agent_id, node_id)

    def _look_up(self, ids: Iterable[str], keys: Iterable[str]) -> None:
        draft = self._open()
        need = draft.ground.unknown(ids, keys)
        if need:
            try:
                self._repository._learn(self._agent_id, draft.ground, need)
            except ConflictError as conflict:
                raise self._with_appends(conflict, draft) from None

    def _with_appends(self, conflict: ConflictError, draft: Draft) -> ConflictError:
        return ConflictError(
            conflict.agent_id, conflict.expected, conflict.actual, conflict.why, draft.appends
        )


def _ids(nodes: Iterable[NodeOrId]) -> list[str]:
    if isinstance(nodes, (str, CausalNode)):
        raise InvalidRequestError("parents are a list of nodes or ids, not one of them")
    return [
        node.id if isinstance(node, CausalNode) else check_text(node, "parent")
        for node in check_list(nodes, "parents")
    ]
