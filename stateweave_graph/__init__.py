"""A graph database layer for StateWeave agent histories."""

__version__ = "0.1.0"
