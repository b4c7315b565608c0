"""Repositories: loading, committing and asking, on any store."""
