"""The stores: one contract, an engine a module."""
