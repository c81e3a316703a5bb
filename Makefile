# Every target does its own set-up: it needs Python 3.11 or newer, pip and a package registry.
# `make PYTHON=python3.12 test` chooses the interpreter that .venv is made from.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Written when everything is installed, so that .venv is brought up to date only when pyproject.toml has changed.
STAMP := $(VENV)/.installed
LOWEST := .venv-lowest
LOWEST_PYTHON ?= python3.11
PACKAGES := .venv-packages
# Tests run on two processes: a BLAS thread pool in each would make them wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help venv demo check test test-long test-lowest test-processors stub-results fuzz lint browser editors docs docs-links bench bench-quick conformance opinfo packages ports clean

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

check: $(STAMP) ## a subset of the tests that takes under a minute: the tape, transforms, the native API, the command line
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q tests/tape tests/native tests/test_activate.py tests/tools/test_run.py tests/test_house.py

test: $(STAMP) ## all tests but the long ones: 8 to 9 minutes on two idle cores, more under load
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-long: $(STAMP) ## the tests that take longer than `make test` may
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m long || test $$? -eq 5

test-lowest: $(LOWEST)/.installed ## all tests with the lowest versions that pyproject.toml allows, in an environment of their own
	$(ONE_THREAD) $(LOWEST)/bin/python -m pytest -n $(WORKERS) --dist worksteal

# What generated code computes, and what stands on it.
GENERATED := tests/test_jit.py tests/test_threads.py tests/test_products.py tests/test_convolutions.py tests/test_pointwise.py \
	tests/test_rows.py tests/test_selection.py tests/test_ties.py tests/test_scans.py tests/test_copies.py tests/test_gathers.py \
	tests/test_channels.py tests/test_windows.py tests/test_sampling.py tests/test_patches.py tests/test_halves.py tests/test_recurrent.py \
	tests/test_reductions.py tests/test_factor.py tests/test_matvec.py tests/test_attention.py tests/test_columns.py tests/test_pairs.py \
	tests/test_canonical.py tests/test_primitives.py tests/compile/test_numerics.py tests/compile/test_emit.py
# `make test-processors EMULATED="tests/test_rows.py"` runs a part: whole, each processor takes an hour on an idle core.
EMULATED ?= $(GENERATED) tests/conformance tests/opinfo
PYTEST := -m pytest -q -p no:cacheprovider -o timeout=3600
# OPENBLAS_CORETYPE would name kernels for the processor that emulates. NumPy's argsort with AVX2 reads beyond an array's end
# under masks, where processors do not look and the emulator faults if no memory is there: NumPy goes without (X86_V3).
AS = $(ONE_THREAD) env -u OPENBLAS_CORETYPE qemu-x86_64-static -cpu $(1) $(BIN)/python $(PYTEST) $(EMULATED)

test-processors: $(STAMP) ## generated code on other processors, by emulation (Debian's qemu-user-static): hours
	@command -v qemu-x86_64-static > /dev/null || { echo "qemu-x86_64-static is not installed"; exit 1; }
	NPY_DISABLE_CPU_FEATURES=X86_V3 $(call AS,Haswell)
	$(call AS,Nehalem)
	@test -n "$(RETROGRADE_ARM_PYTHON)" || echo "Arm is left out: RETROGRADE_ARM_PYTHON names no arm64 Python with NumPy, SciPy, llvmlite and pytest"
	test -z "$(RETROGRADE_ARM_PYTHON)" || $(ONE_THREAD) RETROGRADE_CHILD_PYTHON=$(RETROGRADE_ARM_PYTHON) $(RETROGRADE_ARM_PYTHON) $(PYTEST) $(EMULATED)

$(LOWEST)/.installed: pyproject.toml
	@$(LOWEST_PYTHON) -c 'import sys; sys.version_info[:2] == (3, 11) or sys.exit("the lowest versions are those for Python 3.11, and $(LOWEST_PYTHON) is another; name one: make LOWEST_PYTHON=... test-lowest")'
	@test -x $(LOWEST)/bin/python || $(LOWEST_PYTHON) -m venv --clear $(LOWEST)
	@echo "installing the lowest versions into $(LOWEST) ..."
	@$(LOWEST)/bin/python tests/lowest.py pyproject.toml > $(LOWEST)/constraints.txt
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(LOWEST)/constraints.txt --editable '.[dev]'
	@touch $@

lint: $(STAMP) ## ruff, mypy and the floors of docs/architecture.md
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

stub-results: $(STAMP) ## what functions give whose annotations do not say it, recorded for `retrograde stubs` while the dialects' tests run
	for dialect in torch paddle mindspore; do \
		$(ONE_THREAD) RETROGRADE_STUB_RESULTS=$$dialect $(BIN)/python -m pytest -p tests.stub_results -q -n0 tests/dialects/$$dialect; done; true

browser: $(STAMP) ## pages in Chromium through Playwright (the system's: apt-get install chromium); skipped where there is none
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(ONE_THREAD) $(BIN)/python -m pytest -q -rs -s -m long tests/browser

editors: $(STAMP) ## what pyright and jedi know of the native API and, with stubs, of programs for the frameworks (pyright loads Node from the network)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[editors]'
	$(ONE_THREAD) $(BIN)/python -m pytest -q -rs -m long tests/tools/test_editors.py

DOCS_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'

docs: $(STAMP) ## the documentation as a site in build/docs, by Sphinx; a warning is an error
	@$(DOCS_INSTALL)
	$(BIN)/sphinx-build -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

docs-links: $(STAMP) ## every link to other sites in the documentation, asked for (needs the network)
	@$(DOCS_INSTALL)
	$(BIN)/sphinx-build -q -b linkcheck -d build/doctrees docs build/docs-links

fuzz: $(STAMP) ## random programs against PyTorch and jax, where RETROGRADE_TORCH_PYTHON and RETROGRADE_JAX_PYTHON name Pythons that have them
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz --programs $(or $(PROGRAMS),10000) --seed $(or $(SEED),0) $(if $(RETROGRADE_TORCH_PYTHON),--torch $(RETROGRADE_TORCH_PYTHON)) $(if $(RETROGRADE_JAX_PYTHON),--jax $(RETROGRADE_JAX_PYTHON))

bench: $(STAMP) ## speed against the frameworks and autograd where they are installed, import times and first calls
	$(BIN)/python benchmarks/import_time.py
	$(ONE_THREAD) $(BIN)/python benchmarks/first_calls.py
	$(ONE_THREAD) $(BIN)/python benchmarks/compile_time.py
	$(ONE_THREAD) $(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks --operations
	$(BIN)/python -m benchmarks --compiled
	-$(BIN)/python benchmarks/products.py
	$(BIN)/python benchmarks/threads.py
	$(ONE_THREAD) $(BIN)/python benchmarks/dask_gradient.py

bench-dist: $(STAMP) ## data-parallel training on one and two processes
	$(BIN)/python benchmarks/processes.py

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

$(PACKAGES)/.installed: pyproject.toml
	@test -x $(PACKAGES)/bin/python || $(PYTHON) -m venv --clear $(PACKAGES)
	@echo "installing into $(PACKAGES) ..."
	@$(PACKAGES)/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

packages: $(PACKAGES)/.installed ## other people's packages on retrograde, and on PyTorch where RETROGRADE_TORCH_PYTHON names a Python that has it; writes docs/packages.md
	$(PACKAGES)/bin/python -m tests.packages.run $(if $(ONLY),--only $(ONLY))

ports: $(PACKAGES)/.installed ## `retrograde diff` on models of timm, MindCV and PaddleClas; writes the table of docs/ports.md
	$(PACKAGES)/bin/python -m tests.ports.run $(if $(ONLY),--only $(ONLY))

clean: ## remove .venv, caches and what the demo and benchmarks wrote
	rm -rf $(VENV) $(LOWEST) $(PACKAGES) build docs/reference/torch docs/reference/paddle docs/reference/mindspore dist out .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
