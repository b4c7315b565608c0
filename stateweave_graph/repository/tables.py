"""A history as two Parquet files, ``nodes.parquet`` and ``edges.parquet``, written a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from stateweave_graph.results import analytics_error

if TYPE_CHECKING:
    from stateweave_graph.records import NodeRecord
    from stateweave_graph.repository.exports import Source

_ROWS_AT_ONCE = 2_000

_NODES = {
    "id": "string",
    "kind": "string",
    "sequence": "int64",
    "turn": "int64",
    "createdAt": "string",
    "createdAtMs": "int64",
    "frontier": "bool",
    "payload": "string",
    "resourceKey": "string",
    "extra": "string",
    "semanticType": "string",
    "semanticKey": "string",
    "tool": "string",
    "operation": "string",
    "succeeded": "bool",
}
_EDGES = {
    "child": "string",
    "parent": "string",
    "childSequence": "int64",
    "parentSequence": "int64",
    "resourceKey": "string",
}


def write_tables(source: Source, nodes_file: BinaryIO, edges_file: BinaryIO) -> None:
    """Write both tables."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas = [_schema(pa, columns) for columns in (_NODES, _EDGES)]
    frontier = frozenset(source.head.frontier)
    records = source.nodes()
    with (
        pq.ParquetWriter(nodes_file, schemas[0]) as nodes,
        pq.ParquetWriter(edges_file, schemas[1]) as edges,
    ):
        while page := list(islice(records, _ROWS_AT_ONCE)):
            rows = [_node(record, record.sequence in frontier) for record in page]
            nodes.write_table(pa.Table.from_pylist(rows, schema=schemas[0]))
            rows = [edge for record in page for edge in _edges(record, source.ids)]
            edges.write_table(pa.Table.from_pylist(rows, schema=schemas[1]))


def need_parquet() -> None:
    """Look for what writes Parquet, before anything is made.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401  (looked for only)
    except ImportError:
        raise analytics_error("Parquet", "pyarrow") from None


def _schema(pa: Any, columns: dict[str, str]) -> Any:
    types = {"string": pa.string(), "int64": pa.int64(), "bool": pa.bool_()}
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def _node(record: NodeRecord, on_frontier: bool) -> dict[str, Any]:
    return {
        "id": record.id,
        "kind": record.kind,
        "sequence": record.sequence,
        "turn": record.turn,
        "createdAt": record.created_at,
        "createdAtMs": record.created_at_ms,
        "frontier": on_frontier,
        "payload": record.payload,
        "resourceKey": record.resource_key,
        "extra": record.extra,
        "semanticType": record.semantic_type,
        "semanticKey": record.semantic_key,
        "tool": record.tool,
        "operation": record.operation,
        "succeeded": record.succeeded,
    }


def _edges(record: NodeRecord, ids: list[str]) -> Iterator[dict[str, Any]]:
    joined = frozenset(record.resource_parents)
    for parent in record.parents:
        yield {
            "child": record.id,
            "parent": ids[parent - 1],
            "childSequence": record.sequence,
            "parentSequence": parent,
            "resourceKey": record.resource_key if parent in joined else None,
        }
