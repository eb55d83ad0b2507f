# Every target makes its own environment in .venv; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
BENCHMARKS := $(filter-out %/load.py %/plain.py %/timing.py,$(sort $(wildcard benchmarks/*.py)))

.DEFAULT_GOAL := help
.PHONY: help demo test check check-slow format bench docs clean

help:  ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[learn]'
	@touch $@

$(DEV_STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(STAMP)

demo: $(STAMP)  ## what past users are worth to new ones: a table, a figure, a sentence
	$(BIN)/lob demo

test: $(DEV_STAMP)  ## run the tests and doctests
	$(BIN)/python -m pytest -n 2 --dist loadfile
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m plain

quick: $(DEV_STAMP)  ## run the tests that take under a minute together
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m 'not plain' $(QUICK)

check: $(DEV_STAMP)  ## lint, format, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-slow: $(DEV_STAMP)  ## the long tests of faults: stops, kills
	$(BIN)/python -m pytest -q -m slow

format: $(DEV_STAMP)  ## apply the formatter and the safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: | $(BIN)/python  ## run the benchmarks
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	set -e; for file in $(BENCHMARKS); do echo "== $$file"; $(BIN)/python $$file; done

docs: | $(BIN)/python  ## build the documentation into site/
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:  ## remove the environment and everything built
	rm -rf $(VENV) site dist out src/lobandits/__pycache__
