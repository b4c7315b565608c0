"""The analyst's notebook on Neo4j, with the one line changed that says where."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "analysts-week.ipynb"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own libraries
def test_the_analysts_notebook_on_a_server(server, tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    (line,) = [cell for cell in notebook.cells if cell.source.startswith("WHERE = ")]
    line.source = f"WHERE = {server.arguments()!r}"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    with server.session() as session:
        assert session.run("MATCH (s:AgentState) RETURN count(*) AS n").single()["n"] == 5
