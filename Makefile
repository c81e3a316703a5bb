# Every target does its own set-up: it needs Python 3.11 or newer, pip and a package registry.
# `make PYTHON=python3.12 test` chooses the interpreter that .venv is made from.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Written when everything is installed, so that .venv is brought up to date only when pyproject.toml has changed.
STAMP := $(VENV)/.installed
# Tests run on two processes: a BLAS thread pool in each would make them wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help venv demo test lint bench bench-quick conformance opinfo clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(STAMP) ## .venv with retrograde (editable) and everything that the other targets need

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("retrograde needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; name another one: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv --clear $(VENV)
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP) ## the reference documents against what is obtained, one network in three dialects, one with a picture
	$(BIN)/python examples/demo.py

test: $(STAMP) ## all tests
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(STAMP) ## ruff, mypy and the floors of docs/architecture.md
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) ## speed against the frameworks and autograd where they are installed, import times and first calls
	$(BIN)/python benchmarks/import_time.py
	$(ONE_THREAD) $(BIN)/python benchmarks/first_calls.py
	$(ONE_THREAD) $(BIN)/python -m benchmarks

bench-quick: $(STAMP) ## the same with fewer repetitions
	$(BIN)/python benchmarks/import_time.py --repeat 5
	$(ONE_THREAD) $(BIN)/python -m benchmarks --quick

conformance: $(STAMP) ## programs recorded on the three frameworks, a table by area
	$(ONE_THREAD) $(BIN)/python tests/conformance/run.py --python $(BIN)/python --min 0.97 --min-area 0.95 --list tests/conformance/torch.jsonl
	$(ONE_THREAD) $(BIN)/python tests/conformance/run.py --python $(BIN)/python --min 0.8 --list tests/conformance/torch-user.jsonl
	$(ONE_THREAD) $(BIN)/python tests/conformance/run.py --python $(BIN)/python --min 0.96 --min-area 0.9 --list tests/conformance/paddle.jsonl
	$(ONE_THREAD) $(BIN)/python tests/conformance/run.py --python $(BIN)/python --min 0.95 --min-area 0.85 --list tests/conformance/mindspore.jsonl

opinfo: $(STAMP) ## recorded samples of PyTorch's ops, values and derivatives
	$(ONE_THREAD) $(BIN)/python tests/opinfo/replay.py --list --min-ops 245

clean: ## remove .venv, caches and what the demo and benchmarks wrote
	rm -rf $(VENV) build dist out .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
