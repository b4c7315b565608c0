# From a bare clone: `make demo` shows the main job, `make test` runs the tests. Needs Python 3.10 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test browser-test check lint format bench scale examples notebook clean

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: $(VENV)/.installed ## Store, commit to, query and draw a history
	@$(BIN)/stateweave-graph demo

test: $(VENV)/.installed-tests ## Run the tests
	$(BIN)/python -m pytest

browser-test: $(VENV)/.installed-browser ## Test the page of the command view in a headless Chromium
	$(BIN)/python -m pytest tests/browser -m browser

check: lint test ## Lint, check types and run the tests

lint: $(VENV)/.installed-tests ## Lint and check types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.installed-tests ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-bench ## Run the benchmarks and write docs/benchmarks.md (QUICK=1: only see that they run)
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

scale: $(VENV)/.installed-tests ## Bring 10,000 and 100,000 nodes through SQLite and a Neo4j with a heap of 1 GB
	$(BIN)/python -m benchmarks.scale

examples: $(VENV)/.installed ## Write the example histories anew
	$(BIN)/python examples/make_examples.py

notebook: $(VENV)/.installed-notebooks ## Open the notebooks
	$(BIN)/jupyter lab notebooks

clean: ## Remove what was made here, the virtual environment too
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or newer is needed, and $(PYTHON) is not; say make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "$(PYTHON) could not make $(VENV); on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-tests: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

$(VENV)/.installed-browser: $(VENV)/.installed-tests
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,browser]'
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed-tests
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,bench]'
	@touch $@

$(VENV)/.installed-notebooks: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[notebooks]'
	@touch $@
