# The commands of this project. `make train` and `make test` need nothing but Python 3.11+ and make.

PYTHON ?= python3
CONFIG ?= configs/quick.yaml
CHAMPION ?= points-2
WORKERS ?= 2

VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
INCOMPLETE := $(VENV)/.incomplete
PIP := $(PY) -m pip --disable-pip-version-check install -qq
PYTHON_OK := import sys; sys.exit(sys.version_info < (3, 11))

# Tests that also run with the kernels uncompiled.
INTERPRETED_TESTS ?= $(wildcard tests/test_clauses_*.py)

# Where measurements are written, and the environment of the libraries that are measured beside this one.
RESULTS ?= build/performance.json
PEERS := .venv-peers
PEERS_INSTALLED := $(PEERS)/.installed
PEERS_PIP := $(PEERS)/bin/python -m pip --disable-pip-version-check install -qq -c $(PEERS)/constraints.txt

# Libraries that play and train on this environment, one virtual environment each: their pins do not go together.
FRAMEWORKS ?= $(patsubst requirements/%.txt,%,$(wildcard requirements/*.txt))
FRAMEWORK_TESTS := $(addprefix test-,$(FRAMEWORKS))

.DEFAULT_GOAL := help
.PHONY: help install train champion test test-interpreted test-frameworks test-matrix check bench bench-training bench-peers fuzz clean
.PHONY: $(FRAMEWORK_TESTS)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' Makefile

install: $(INSTALLED) ## Create .venv with the locked versions (the other targets do it by themselves)

# The marker .incomplete stands from the first step to the last: after an interruption the next run starts afresh.
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c '$(PYTHON_OK)' || { \
	  echo "Python 3.11 or newer is needed and '$(PYTHON)' is not: name one with  make PYTHON=python3.12"; exit 1; }
	@if [ -e $(INCOMPLETE) ] || ! $(PY) -c 'import pip; $(PYTHON_OK)' 2>/dev/null; then rm -rf $(VENV); fi
	@mkdir -p $(VENV) && touch $(INCOMPLETE)
	@[ -x $(PY) ] || { echo "Creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "Installing the locked packages into $(VENV) (the first time takes a few minutes)"
	@$(PIP) -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@rm $(INCOMPLETE) && touch $@

train: $(INSTALLED) ## Train by self-play, evaluate and export (CONFIG=configs/quick.yaml)
	$(PY) train.py $(CONFIG)

champion: $(INSTALLED) ## Train a champion anew by its recipe in configs/champions (CHAMPION=points-2)
	$(PY) train.py configs/champions/$(CHAMPION).yaml

test: test-interpreted ## Run all tests, the rule tests also with the kernels uncompiled
	$(PY) -m tonk_env.warmup
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile

test-interpreted: $(INSTALLED) ## Run the rule tests with the kernels uncompiled
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -q $(INTERPRETED_TESTS)

test-frameworks: $(FRAMEWORK_TESTS) ## Train with other libraries, each in an environment of its own (FRAMEWORKS=rllib)

# Warnings are not errors here: most are the libraries' own.
$(FRAMEWORK_TESTS): test-%: .venv-%/.installed
	$(<D)/bin/python -m pytest -q -o filterwarnings=default tests/frameworks/test_$*.py

# PufferLib pins a NumPy and a PettingZoo from before this project's; its file names all that it needs.
pufferlib_PIP := --no-deps

# The marker comes last: after an interruption, or with other requirements, the next run starts afresh.
.venv-%/.installed: requirements/%.txt
	@echo "Installing $* into .venv-$* (the first time takes a few minutes)"
	@rm -rf .venv-$* && $(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python -m pip --disable-pip-version-check install -qq $($*_PIP) -r $<
	@.venv-$*/bin/python -m pip --disable-pip-version-check install -qq --no-deps --no-build-isolation -e .
	@touch $@

test-matrix: $(INSTALLED) ## Run the core's tests with older and newer Python, Gymnasium and PettingZoo
	$(PY) tests/matrix.py

check: $(INSTALLED) ## Check style and types
	$(PY) -m ruff check .
	$(PY) -m mypy

bench: $(INSTALLED) ## Measure the environment through each of its doors (RESULTS=build/performance.json)
	$(PY) -m tonk_env.warmup
	$(PY) benchmarks/throughput.py --json $(RESULTS) --plot $(dir $(RESULTS))cost_growth.png

bench-training: $(INSTALLED) ## Measure training beside an environment that costs nothing
	OMP_WAIT_POLICY=PASSIVE $(PY) benchmarks/training.py --json $(RESULTS)

bench-peers: $(PEERS_INSTALLED) ## Measure beside card games of other libraries, in an environment of their own
	PYTHONPATH=. $(PEERS)/bin/python benchmarks/peers.py --json $(RESULTS)

# Versions as locked, but for PettingZoo: 1.26 is the last with rlcard's games. What cannot be installed is left out.
$(PEERS_INSTALLED): requirements.lock
	@[ -x $(PEERS)/bin/python ] || { echo "Creating $(PEERS)"; $(PYTHON) -m venv $(PEERS); }
	@grep -iv '^pettingzoo==' requirements.lock > $(PEERS)/constraints.txt
	@$(PEERS_PIP) numpy numba gymnasium rich setuptools 'pettingzoo>=1.26,<1.27'
	@for package in open_spiel rlcard pygame-ce; do \
	  $(PEERS_PIP) $$package || echo "$$package cannot be installed here and is left out"; done
	@touch $@

fuzz: $(INSTALLED) ## Play a million random hands against the second engine (TONK_FUZZ_HANDS=1000000)
	TONK_FUZZ_WORKERS=$(WORKERS) $(PY) -m pytest -q -s -m slow

clean: ## Remove caches and build products (environments and runs/ stay)
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find tonk_env agents tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
