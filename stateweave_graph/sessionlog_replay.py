"""How the records of a session log follow one another, and the states that they make.

The rules are format.md, *The SDK's session log*: ``parent``, ``turn``, ``bootstrap``, ``state``,
``state_hash`` and ``checkpoint``, and that the ids of entries are unique.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from stateweave_graph.errors import LimitExceededError, SessionLogError
from stateweave_graph.javascript import javascript_json
from stateweave_graph.model import AgentState, CausalNode
from stateweave_graph.sessionlog_records import check_entry, check_header, is_usage_record
from stateweave_graph.validation import (
    Limits,
    NodeJudge,
    Violation,
    judge_frontier,
    read_state,
    shorten,
)

_STATE_FIELDS = ("version", "nodes", "frontier")


@dataclass(frozen=True)
class LogRevision:
    """One revision of the history in a session log.

    Attributes:
        kind: the type of the entry that made it.
        entry_id: the entry's id, 16 hex digits.
        timestamp: the entry's time, to the letter.
        nodes: the nodes that are new in this revision, in order of sequence.
        frontier: ids of the active heads after it, in their order.
        state_hash: SHA-256, in hex, of the state after it as ``JSON.stringify`` writes it; computed for a
            bootstrap, whose entry has none. It covers nodes as the log spells them (order of fields).
        line: the line of the entry, from 1.
        turn: the number of the interaction; None but for a turn_commit, as are the next six.
        run_id: the run's id.
        input: what the run was asked.
        final_answer: what it answered.
        metadata: the run's metadata, whole.
        user_node_id: the id that the entry gives for the node of the input, if it does.
        assistant_node_id: the id that the entry gives for the node of the answer, if it does.
        usage_history: the valid usage records of a bootstrap; empty for others.
    """

    kind: Literal["bootstrap", "checkpoint", "turn_commit"]
    entry_id: str
    timestamp: str
    nodes: list[CausalNode]
    frontier: list[str]
    state_hash: str
    line: int
    turn: int | None = None
    run_id: str | None = None
    input: str | None = None
    final_answer: str | None = None
    metadata: dict[str, Any] | None = None
    user_node_id: str | None = None
    assistant_node_id: str | None = None
    usage_history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class LogFailure:
    """A run that failed and added nothing.

    Attributes:
        entry_id: the entry's id, 16 hex digits.
        timestamp: the entry's time, to the letter.
        turn: the number of the interaction.
        input: what the run was asked.
        error: why it failed.
        revision: the number of revisions before it in the log.
        line: the line of the entry, from 1.
        run_id: the run's id, or None.
        usage: what the run used, or None.
        attempted_parent_id: the turn that the run meant to follow, where that was not the last; or None.
    """

    entry_id: str
    timestamp: str
    turn: int
    input: str
    error: str
    revision: int
    line: int
    run_id: str | None = None
    usage: dict[str, Any] | None = None
    attempted_parent_id: str | None = None


@dataclass(frozen=True)
class SessionLog:
    """A session log that holds every rule.

    Attributes:
        session_id: ``sws_`` and 32 hex digits.
        created_at: when the session began, to the letter.
        revisions: the revisions, oldest first; each has only the nodes that are new in it.
        failures: the failed runs, oldest first.
        turn_count: committed turns, a bootstrap's answer nodes included.
        interaction_count: turns and failed runs, and those that a bootstrap counts.
        current_turn_id: the id of the last turn_commit; None before the first.
        usage_history: the valid usage records of the bootstrap, which may have them without a state.
    """

    session_id: str
    created_at: str
    revisions: list[LogRevision]
    failures: list[LogFailure]
    turn_count: int
    interaction_count: int
    current_turn_id: str | None
    usage_history: list[dict[str, Any]]

    @property
    def state(self) -> AgentState | None:
        """The state after the last revision; None for a log without any, which holds no state."""
        if not self.revisions:
            return None
        nodes = [node for revision in self.revisions for node in revision.nodes]
        return AgentState.unchecked(nodes, list(self.revisions[-1].frontier))


def place_of(line: int) -> str:
    """A line of the log, for messages."""
    return f"line {line} of the session log"


class StateText:
    """The hash of a growing state's ``JSON.stringify`` text, at the cost of what is added.

    Args:
        nodes: the nodes to begin with, as parsed.
    """

    def __init__(self, nodes: Iterable[dict[str, Any]] = ()) -> None:
        self._hash = hashlib.sha256(b'{"version":1,"nodes":[')
        self._separator = ""
        for node in nodes:
            self.add(node)

    def add(self, node: dict[str, Any]) -> None:
        """Take one more node."""
        self._hash.update(f"{self._separator}{javascript_json(node)}".encode())
        self._separator = ","

    def nodes_hash(self) -> str:
        """What two states have in common that have the same nodes."""
        return self._hash.hexdigest()

    def state_hash(self, frontier: list[str]) -> str:
        """The ``stateHash`` with this frontier."""
        whole = self._hash.copy()
        whole.update(f'],"frontier":{javascript_json(frontier)}}}'.encode())
        return whole.hexdigest()


class Replay:
    """Takes the records of a log one after another and keeps the state, the counters and what is found."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._line = 0
        self._header: dict[str, Any] | None = None
        self._entry_ids: set[str] = set()
        self._judge = NodeJudge()
        self._text = StateText()
        self._state_hash: str | None = None  # None while there is no state
        self._bootstrapped = False
        self._usage_history: list[dict[str, Any]] = []
        self._current_turn_id: str | None = None
        self._turn_count = 0
        self._interaction_count = 0
        self._revisions: list[LogRevision] = []
        self._failures: list[LogFailure] = []
        self._takers: dict[str, Callable[[dict[str, Any]], None]] = {
            "bootstrap": self._take_bootstrap,
            "turn_commit": self._take_turn_commit,
            "run_error": self._take_run_error,
            "checkpoint": self._take_checkpoint,
        }

    def take(self, record: Any, line: int) -> None:
        """Take the next record.

        Raises:
            SessionLogError: it breaks a rule.
            LimitExceededError: the state after it is beyond a limit.
        """
        self._line = line
        if self._header is None:
            check_header(record, line)
            self._header = record
            return
        kind = check_entry(record, line)
        if record["id"] in self._entry_ids:
            raise self._broken(
                "entry", f"the id {record['id']!r} is that of an earlier entry; ids are unique"
            )
        self._entry_ids.add(record["id"])
        self._takers[kind](record)

    def log(self) -> SessionLog:
        """What the records taken so far come to.

        Raises:
            SessionLogError: there was none (rule ``header``).
        """
        if self._header is None:
            raise SessionLogError(
                "header", 0, "no complete line; a log begins with a record of type 'session'"
            )
        return SessionLog(
            session_id=self._header["sessionId"],
            created_at=self._header["createdAt"],
            revisions=self._revisions,
            failures=self._failures,
            turn_count=self._turn_count,
            interaction_count=self._interaction_count,
            current_turn_id=self._current_turn_id,
            usage_history=self._usage_history,
        )

    def _take_bootstrap(self, entry: dict[str, Any]) -> None:
        if self._bootstrapped or self._current_turn_id is not None:
            raise self._broken("bootstrap", "a log has at most one bootstrap, and it stands before any turn")
        self._check_parent(entry)
        self._bootstrapped = True
        self._usage_history = [record for record in entry["usageHistory"] if is_usage_record(record)]
        goals_and_answers = 0
        if "state" in entry:
            state = entry["state"]
            self._check_state(state)
            known = self._judge.count
            if StateText(state["nodes"][:known]).nodes_hash() != self._text.nodes_hash():
                raise self._broken(
                    "bootstrap", "its state does not extend the one that a checkpoint brought in"
                )
            self._bring_in(entry, state, usage_history=self._usage_history)
            kinds = [node["kind"] for node in state["nodes"]]
            self._turn_count += kinds.count("answer")
            goals_and_answers = kinds.count("goal") + kinds.count("answer")
        # Only failed runs stand before it, and all of them are counted here: the counter is never lowered.
        self._interaction_count = max(
            max((int(record["turn"]) for record in self._usage_history), default=0),
            len(self._failures) + (goals_and_answers + 1) // 2,
        )

    def _take_turn_commit(self, entry: dict[str, Any]) -> None:
        self._check_parent(entry)
        self._check_turn(entry)
        nodes, frontier = entry["newNodes"], entry["frontier"]
        self._check_growth(nodes, frontier)
        self._add_revision(
            entry,
            nodes,
            frontier,
            turn=self._interaction_count,
            run_id=entry["runId"],
            input=entry["input"],
            final_answer=entry["finalAnswer"],
            metadata=entry["metadata"],
            user_node_id=entry.get("userNodeId"),
            assistant_node_id=entry.get("assistantNodeId"),
        )
        if self._state_hash != entry["stateHash"]:
            raise self._other_hash("after this turn", entry["stateHash"], self._state_hash)
        self._turn_count += 1
        self._current_turn_id = entry["id"]

    def _take_run_error(self, entry: dict[str, Any]) -> None:
        self._check_parent(entry)
        self._check_turn(entry)
        self._failures.append(
            LogFailure(
                entry_id=entry["id"],
                timestamp=entry["timestamp"],
                turn=self._interaction_count,
                input=entry["input"],
                error=entry["error"],
                revision=len(self._revisions),
                line=self._line,
                run_id=entry.get("runId"),
                usage=entry.get("usage"),
                attempted_parent_id=entry.get("attemptedParentId"),
            )
        )

    def _take_checkpoint(self, entry: dict[str, Any]) -> None:
        self._check_parent(entry)
        state = entry["state"]
        found = _hash_of(state)
        if found is None or found != self._state_hash:  # the state there has been judged
            self._check_state(state)
        if found != entry["stateHash"]:
            raise self._other_hash("of this checkpoint", entry["stateHash"], found)
        self._check_counter(entry, "turnCount", self._turn_count)
        self._check_counter(entry, "interactionCount", self._interaction_count)
        if self._state_hash is None:
            self._bring_in(entry, state)
        elif found != self._state_hash:
            raise self._broken(
                "checkpoint",
                f"its state, of {len(state['nodes'])} nodes and hash {found}, is not the state there, "
                f"of {self._judge.count} nodes and hash {self._state_hash}",
            )

    def _check_parent(self, entry: dict[str, Any]) -> None:
        if entry["parentId"] != self._current_turn_id:
            expected = "null" if self._current_turn_id is None else repr(self._current_turn_id)
            message = f"parentId must be {expected}, the last turn_commit's id or null before the first"
            raise self._broken("parent", f"{message} (here: {shorten(entry['parentId'])})")

    def _check_turn(self, entry: dict[str, Any]) -> None:
        self._interaction_count += 1
        if entry["turn"] != self._interaction_count:
            raise self._broken(
                "turn", f"the next interaction is {self._interaction_count} (here: {shorten(entry['turn'])})"
            )

    def _check_counter(self, entry: dict[str, Any], name: str, expected: int) -> None:
        if entry[name] != expected:
            raise self._broken("checkpoint", f"{name} is {expected} there (here: {shorten(entry[name])})")

    def _check_state(self, state: dict[str, Any]) -> None:
        """Judge a whole state that an entry brings."""
        violations = read_state(state, self._limits).violations
        self._refuse([found._replace(path=f"$.state{found.path[1:]}") for found in violations])

    def _check_growth(self, nodes: list[Any], frontier: list[Any]) -> None:
        """Judge what a turn adds to the state before it."""
        count = self._judge.count + len(nodes)
        if count > self._limits.max_nodes:
            message = f"more than the limit of {self._limits.max_nodes} nodes"
            self._refuse([Violation("size", "$.newNodes", message, f"{count} nodes")])
        violations = []
        for index, node in enumerate(nodes):
            violations += self._judge.judge(node, f"$.newNodes[{index}]")
        violations += judge_frontier(frontier, self._judge.ids)
        self._refuse(violations)

    def _bring_in(self, entry: dict[str, Any], state: dict[str, Any], **fields: Any) -> None:
        """Take a whole state, judged before, which extends the one that is there."""
        nodes = state["nodes"]
        new = nodes[self._judge.count :]
        self._judge = NodeJudge({node["id"] for node in nodes}, len(nodes))
        self._add_revision(entry, new, state["frontier"], **fields)

    def _add_revision(
        self, entry: dict[str, Any], new: list[dict[str, Any]], frontier: list[str], **fields: Any
    ) -> None:
        for node in new:
            self._text.add(node)
        self._state_hash = self._text.state_hash(frontier)
        self._revisions.append(
            LogRevision(
                kind=entry["type"],
                entry_id=entry["id"],
                timestamp=entry["timestamp"],
                nodes=[CausalNode.from_valid(node) for node in new],
                frontier=frontier,
                state_hash=self._state_hash,
                line=self._line,
                **fields,
            )
        )

    def _refuse(self, violations: list[Violation]) -> None:
        """Raise for violations of import rules; nothing where there are none."""
        if any(violation.rule == "size" for violation in violations):
            raise LimitExceededError(violations, place_of(self._line))
        if violations:
            more = f", and {len(violations) - 1} more (see .violations)" if len(violations) > 1 else ""
            message = f"the state here breaks import rules: {violations[0]}{more}"
            raise SessionLogError("state", self._line, message, violations)

    def _other_hash(self, which: str, given: str, found: str | None) -> SessionLogError:
        return self._broken(
            "state_hash", f"the state {which} has the hash {found}, not {shorten(given)}: one was changed"
        )

    def _broken(self, rule: str, message: str) -> SessionLogError:
        return SessionLogError(rule, self._line, message)


def _hash_of(state: dict[str, Any]) -> str | None:
    """The hash of a state that may break any rule; None for one that has none."""
    if state.keys() != set(_STATE_FIELDS):
        return None
    try:
        text = javascript_json({name: state[name] for name in _STATE_FIELDS})
    except ValueError:
        return None
    return hashlib.sha256(text.encode()).hexdigest()
