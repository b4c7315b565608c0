"""What someone else's store is tested with: the contract suite, and hypothesis strategies.

``contract.StoreContract`` and ``repository_contract.RepositoryContract`` are classes to inherit from in a
test module of pytest; a store supplies the factory. They need pytest, and the strategies hypothesis.
"""
