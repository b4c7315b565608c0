"""The command line, ``stateweave-graph``."""
