"""What a repository gives back beside states and nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from stateweave_graph.errors import MissingExtraError
from stateweave_graph.late_import import late_import
from stateweave_graph.model import AgentState, CausalNode, NodeKind


class NodeRef(NamedTuple):
    """A node without its content.

    Attributes:
        id: its id.
        sequence: its place in the history.
        kind: its kind.
        turn: the number of goals up to and including it.
    """

    id: str
    sequence: int
    kind: NodeKind
    turn: int


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True)


class AgentSummary(_Result):
    """An agent as a list of agents shows it.

    Attributes:
        agent_id: the agent.
        history: the random id of this history; another one after delete and create again.
        revision: the number of the newest commit.
        generation: how often content was erased or pruned.
        node_count: the number of nodes.
        created_at: when the history began.
        updated_at: when it last changed.
        metadata: the agent's own metadata, or None.
    """

    agent_id: str
    history: str
    revision: int
    generation: int
    node_count: int
    created_at: str
    updated_at: str
    metadata: dict[str, Any] | None = None


class Head(AgentSummary):
    """Where an agent's history stands; no history is read for it.

    Given as ``expected_revision`` it pins the history as well as the revision.

    Attributes:
        frontier: ids of the active heads, in their order.
        system_id: the id of the latest system node, or None.
    """

    frontier: list[str]
    system_id: str | None


class Stored(_Result):
    """A state as loaded, with where it stood.

    Attributes:
        agent_id: the agent.
        history: the id of the history.
        revision: the revision of this state.
        state: the state.
    """

    agent_id: str
    history: str
    revision: int
    state: AgentState


class Commit(_Result):
    """What a commit did.

    Attributes:
        agent_id: the agent.
        history: the id of the history.
        revision: the revision after it.
        commit_id: the id of the commit.
        committed_at: when.
        added: ids of the nodes that are new, in order of sequence.
        ids: the id of each append's node, old or new; for ``save`` the same as ``added``.
        frontier: ids of the active heads after it.
        replayed: whether this commit had been made before, by the same request.
    """

    agent_id: str
    history: str
    revision: int
    commit_id: str
    committed_at: str
    added: list[str]
    ids: list[str]
    frontier: list[str]
    replayed: bool = False


class LogEntry(_Result):
    """A commit as the log shows it.

    Attributes:
        revision: the revision after it.
        commit_id: its id.
        committed_at: when.
        first_sequence: of the nodes added; one more than ``last_sequence`` where none was.
        last_sequence: the number of nodes after it.
        frontier: ids of the active heads after it.
        digest: the hash over the ids, times and unknown fields of all nodes so far.
        hash: the hash that chains the commits.
        metadata: what was said of the commit, or None.
        kinds: how many nodes of each kind were added.
        goal: the text of the last goal added, shortened; None where none was.
        answer: the same of the last answer.
    """

    revision: int
    commit_id: str
    committed_at: str
    first_sequence: int
    last_sequence: int
    frontier: list[str]
    digest: str
    hash: str
    metadata: dict[str, Any] | None = None
    kinds: dict[str, int]
    goal: str | None = None
    answer: str | None = None

    @property
    def node_count(self) -> int:
        """The number of nodes added."""
        return self.last_sequence - self.first_sequence + 1


class Found(_Result):
    """A node that a search found.

    Attributes:
        id: its id.
        sequence: its place in the history.
        kind: its kind.
        turn: the number of goals up to and including it.
        created_at: when it was made.
        resource_key: the resource of which it is a version, or None.
        path: where the text shown stands in the node, as a JSON path.
        snippet: the part of that text around what was found, on one line.
        marks: where terms stand in the snippet, as pairs of a first character and the one behind the last.
    """

    id: str
    sequence: int
    kind: NodeKind
    turn: int
    created_at: str
    resource_key: str | None
    path: str
    snippet: str
    marks: list[tuple[int, int]]


class FailedRun(_Result):
    """A run that failed and added nothing; kept beside the history.

    Attributes:
        at: when.
        input: what the run was asked.
        error: why it failed.
        run_id: the run's own id, or None.
        usage: what it used (tokens, times), or None.
        revision: the head when it failed; 0 before the first commit.
    """

    at: str
    input: str
    error: str
    run_id: str | None = None
    usage: dict[str, Any] | None = None
    revision: int


class ResourceVersion(CausalNode):
    """A node as a version of its resource; equal to the node.

    Attributes:
        version: 1 for the first version, 2 for the next, …
        action: the tool call that made or read it; None where it rests on none.
    """

    version: int
    action: CausalNode | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CausalNode) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.id)


class Memory(_Result):
    """A current semantic memory: the newest version of a resource ``semantic:<type>:<key>``.

    Attributes:
        type: the type that the resource's key names.
        key: the key that it names.
        content: the ``content`` of the payload; the whole payload where it has none.
        node: the node.
        versions: how many versions there are.
    """

    type: str
    key: str
    content: Any
    node: CausalNode
    versions: int


class Imported(_Result):
    """What an import added to an agent.

    Attributes:
        agent_id: the agent.
        history: the id of the history.
        revision: the revision after it.
        commits: revisions added.
        nodes: nodes added.
        failures: failed runs added.
    """

    agent_id: str
    history: str
    revision: int
    commits: int
    nodes: int
    failures: int


class Exported(_Result):
    """What was given out.

    Attributes:
        agent_id: the agent.
        history: the id of the history.
        revision: the last revision given out.
        nodes: the number of nodes.
        files: the files that were written, or what they went to.
    """

    agent_id: str
    history: str
    revision: int
    nodes: int
    files: list[str]


class QueryResult:
    """The rows of a query: ``len()``, iteration over dicts by column.

    Attributes:
        columns: the names of the columns, in order.
        rows: a dict for each row, of plain Python values.
    """

    def __init__(self, columns: list[str], rows: list[dict[str, Any]]) -> None:
        self.columns = columns
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_df(self) -> Any:
        """The rows as a pandas ``DataFrame``.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        try:
            pd = late_import("pandas")
        except ImportError:
            raise analytics_error("A DataFrame", "pandas") from None
        return pd.DataFrame(self.rows, columns=self.columns)

    def to_arrow(self) -> Any:
        """The rows as a pyarrow ``Table``.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        try:
            pa = late_import("pyarrow")
        except ImportError:
            raise analytics_error("An Arrow table", "pyarrow") from None
        return pa.table({name: [row[name] for row in self.rows] for name in self.columns})

    def __repr__(self) -> str:
        return f"QueryResult({len(self.rows)} rows of {', '.join(self.columns)})"


def analytics_error(what: str, package: str) -> MissingExtraError:
    """What is raised where a package of the extra ``analytics`` is needed and not there."""
    return MissingExtraError(what, package, 'pip install "stateweave-graph[analytics]"')


class Moved(_Result):
    """A resource whose newest version moved.

    Attributes:
        resource_key: its key.
        type: the semantic type that the key names; None where it is no memory.
        key: the semantic key that it names.
        before: the id of the newest version before; None where there was none.
        after: the id of the newest version after.
        versions: how many versions were added.
    """

    resource_key: str
    type: str | None
    key: str | None
    before: str | None
    after: str
    versions: int


class Diff(_Result):
    """What moved between two revisions of one agent.

    Attributes:
        agent_id: the agent.
        from_revision: the earlier revision; 0 for the beginning.
        to_revision: the later one.
        added: the nodes added, in order of sequence.
        left: ids that left the frontier.
        joined: ids that joined it.
        resources: the resources that moved, but for memories.
        memory: the memories that moved.
    """

    agent_id: str
    from_revision: int
    to_revision: int
    added: list[NodeRef]
    left: list[str]
    joined: list[str]
    resources: list[Moved]
    memory: list[Moved]


class Why(_Result):
    """What a node rests on, directly or not; newest first.

    Attributes:
        node: the node.
        goals: the goals.
        tool_results: the tools' results.
        resources: the versions of resources, but for memories.
        memory: the versions of memories.
    """

    node: CausalNode
    goals: list[CausalNode]
    tool_results: list[CausalNode]
    resources: list[CausalNode]
    memory: list[CausalNode]


class Known(_Result):
    """What was current when a node was appended.

    Attributes:
        resources: the newest version of each resource, by key, but for memories.
        memory: the newest version of each memory, by type and key.
    """

    resources: dict[str, CausalNode]
    memory: list[Memory]
