"""The contract of a repository on a store: inherit from ``RepositoryContract``, and supply the factory.

class TestMyStore(RepositoryContract):
@pytest.fixture
def open_repo(self):
return lambda: Repository(MyStore(...))     # each call: on the same, empty database
"""

from __future__ import annotations

from stateweave_graph.testing.commit_contract import CommitContract
from stateweave_graph.testing.export_contract import ExportContract
from stateweave_graph.testing.history_contract import HistoryContract
from stateweave_graph.testing.import_contract import ImportContract
from stateweave_graph.testing.picture_contract import PictureContract
from stateweave_graph.testing.reading_contract import ReadingContract
from stateweave_graph.testing.search_contract import SearchContract
from stateweave_graph.testing.turn_contract import TurnContract
from stateweave_graph.testing.vocabulary_contract import VocabularyContract


class RepositoryContract(
    CommitContract,
    PictureContract,
    ReadingContract,
    TurnContract,
    ImportContract,
    ExportContract,
    HistoryContract,
    SearchContract,
    VocabularyContract,
):
    """What a repository does on every store. Nothing of it may be skipped."""
