"""Cypher that only reads, on Neo4j.

A read transaction is no guard by itself: ``LOAD CSV`` reads files of the server's machine in one. So the
server explains a text first; its type must be reading, and its plan may hold only operators known to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neo4j import ManagedTransaction, Session, exceptions
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from stateweave_graph.errors import QueryError

READING_OPERATORS = frozenset(
    [
        "AllNodesScan",
        "AntiConditionalApply",
        "AntiSemiApply",
        "Apply",
        "Argument",
        "AssertSameNode",
        "AssertSameRelationship",
        "AssertingMultiNodeIndexSeek",
        "AssertingMultiRelationshipIndexSeek",
        "BFSPruningVarLengthExpand",
        "BidirectionalTraversal",
        "CacheProperties",
        "CartesianProduct",
        "ConditionalApply",
        "DirectedAllRelationshipsScan",
        "DirectedRelationshipByElementIdSeek",
        "DirectedRelationshipByIdSeek",
        "DirectedRelationshipIndexContainsScan",
        "DirectedRelationshipIndexEndsWithScan",
        "DirectedRelationshipIndexScan",
        "DirectedRelationshipIndexSeek",
        "DirectedRelationshipIndexSeekByRange",
        "DirectedRelationshipTypeScan",
        "DirectedUnionRelationshipTypesScan",
        "DirectedRelationshipUniqueIndexSeek",
        "DirectedRelationshipUniqueIndexSeekByRange",
        "Distinct",
        "DynamicLabelNodeLookup",
        "DynamicDirectedRelationshipTypeLookup",
        "DynamicUndirectedRelationshipTypeLookup",
        "Eager",
        "EagerAggregation",
        "EmptyResult",
        "EmptyRow",
        "ErrorPlan",
        "Expand(All)",
        "Expand(Into)",
        "ExhaustiveLimit",
        "Filter",
        "IntersectionNodeByLabelsScan",
        "LeftOuterHashJoin",
        "LetAntiSemiApply",
        "LetSelectOrAntiSemiApply",
        "LetSelectOrSemiApply",
        "LetSemiApply",
        "Limit",
        "MultiNodeIndexSeek",
        "NodeByElementIdSeek",
        "NodeByIdSeek",
        "NodeByLabelScan",
        "NodeCountFromCountStore",
        "NodeHashJoin",
        "NodeIndexContainsScan",
        "NodeIndexEndsWithScan",
        "NodeIndexScan",
        "NodeIndexSeek",
        "NodeIndexSeekByRange",
        "NodeUniqueIndexSeek",
        "NodeUniqueIndexSeekByRange",
        "NonFuseable",
        "NullifyMetadata",
        "OptionalExpand(All)",
        "OptionalExpand(Into)",
        "Optional",
        "OrderedAggregation",
        "OrderedDistinct",
        "OrderedUnion",
        "PartialSort",
        "PartialTop",
        "PartitionedAllNodesScan",
        "PartitionedNodeByLabelScan",
        "PartitionedNodeIndexScan",
        "PartitionedNodeIndexSeek",
        "PartitionedNodeIndexSeekByRange",
        "PartitionedUnwind",
        "PreserveOrder",
        "ProduceResults",
        "ProjectEndpoints",
        "Projection",
        "PruningVarLengthExpand(All)",
        "RelationshipCountFromCountStore",
        "RepeatTrail",
        "Repeat(Trail)",
        "Repeat(Walk)",
        "RightOuterHashJoin",
        "RollUpApply",
        "SelectOrAntiSemiApply",
        "SelectOrSemiApply",
        "SemiApply",
        "ShortestPath",
        "Skip",
        "Sort",
        "StatefulShortestPath(All)",
        "StatefulShortestPath(Into)",
        "SubtractionNodeByLabelsScan",
        "Top",
        "Top1WithTies",
        "TriadicBuild",
        "TriadicFilter",
        "TriadicSelection",
        "Trail",
        "UndirectedAllRelationshipsScan",
        "UndirectedRelationshipByElementIdSeek",
        "UndirectedRelationshipByIdSeek",
        "UndirectedRelationshipIndexContainsScan",
        "UndirectedRelationshipIndexEndsWithScan",
        "UndirectedRelationshipIndexScan",
        "UndirectedRelationshipIndexSeek",
        "UndirectedRelationshipIndexSeekByRange",
        "UndirectedRelationshipTypeScan",
        "UndirectedRelationshipUniqueIndexSeek",
        "UndirectedRelationshipUniqueIndexSeekByRange",
        "UndirectedUnionRelationshipTypesScan",
        "Union",
        "UnionNodeByLabelsScan",
        "Unwind",
        "ValueHashJoin",
        "VarLengthExpand(All)",
        "VarLengthExpand(Into)",
        "VarLengthExpand(Pruning)",
        "VarLengthExpand(Pruning,BFS,All)",
        "VarLengthExpand(Pruning,BFS,Into)",
        "VarLengthExpand(Pruning,BFS)",
        "VarLengthExpand(Pruning,All)",
    ]
)
"""Operators of Neo4j's plans that read the graph and do nothing else."""

READING_PROCEDURES = frozenset(
    {
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.visualization",
    }
)
"""Procedures that tell of the schema of the data, and do nothing else."""


def explain(session: Session, text: str, parameters: Mapping[str, Any]) -> None:
    """Let the server explain a text, and refuse it where it does more than read.

    Raises:
        QueryError: it writes, administers, calls procedures or reaches files; or it is no Cypher.
    """
    try:
        summary = session.run(f"EXPLAIN {text}", dict(parameters)).consume()
    except exceptions.ClientError as error:
        raise refused(error) from error
    if summary.query_type != "r" or summary.plan is None:
        raise QueryError(
            "only reading is allowed here, and this text writes or administers; use the repository"
        )
    for operator, details in _operators(summary.plan):
        if operator in READING_OPERATORS:
            continue
        if operator == "ProcedureCall" and details.split("(")[0].strip() in READING_PROCEDURES:
            continue
        raise QueryError(
            f"only reading the graph is allowed here, and this text needs {operator} {details}".strip()
        )


def run(
    tx: ManagedTransaction, text: str, parameters: Mapping[str, Any], max_rows: int
) -> tuple[list[str], list[dict[str, Any]]]:
    """The columns and rows of a text that was explained before.

    Raises:
        QueryError: there are more rows than allowed, or the text fails.
    """
    try:
        result = tx.run(text, dict(parameters))
        columns = list(result.keys())
        rows = [
            {name: plain(value) for name, value in zip(columns, record.values(), strict=True)}
            for record in result.fetch(max_rows + 1)
        ]
    except exceptions.ClientError as error:
        raise refused(error) from error
    if len(rows) > max_rows:
        raise QueryError(f"more than {max_rows} rows; say LIMIT in the text, or allow more with max_rows")
    return columns, rows


def refused(error: exceptions.ClientError) -> Exception:
    """What an error means that a text of the user's brought about; others stay what they are."""
    code = error.code or ""
    if "TransactionTimedOut" in code or "LockClientStopped" in code:
        return QueryError("the query took longer than allowed; narrow it, or allow more with timeout")
    if code.startswith(("Neo.ClientError.Statement.", "Neo.ClientError.Procedure.")):
        return QueryError(f"the server refused the query: {error.message}")
    return error


def plain(value: Any) -> Any:
    """A value as plain Python: nodes and relationships as dicts, paths as lists, times as ISO text."""
    if isinstance(value, Node):
        return {
            "labels": sorted(value.labels),
            "properties": {name: plain(item) for name, item in value.items()},
        }
    if isinstance(value, Relationship):
        return {"type": value.type, "properties": {name: plain(item) for name, item in value.items()}}
    if isinstance(value, Path):
        steps: list[Any] = [plain(value.start_node)]
        for relationship, node in zip(value.relationships, value.nodes[1:], strict=True):
            steps += [plain(relationship), plain(node)]
        return steps
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, (Point, Duration)):
        return [plain(item) for item in value]
    if isinstance(value, (Date, DateTime, Time, Duration)):
        return value.iso_format()
    if isinstance(value, Point):
        return {"srid": value.srid, "coordinates": list(value)}
    return value


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = plan["operatorType"].split("@")[0]
    yield name, str(plan.get("args", {}).get("Details", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)
