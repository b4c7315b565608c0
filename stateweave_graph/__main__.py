"""``python -m stateweave_graph`` is the command ``stateweave-graph``."""

from stateweave_graph.cli.main import main

main()
