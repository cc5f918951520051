# The commands of this project. `make train` and `make test` need nothing but Python 3.11+ and make.

PYTHON ?= python3
CONFIG ?= configs/quick.yaml
WORKERS ?= 2

VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
INCOMPLETE := $(VENV)/.incomplete
PIP := $(PY) -m pip --disable-pip-version-check install -qq
PYTHON_OK := import sys; sys.exit(sys.version_info < (3, 11))

# Tests that also run with the kernels uncompiled.
INTERPRETED_TESTS ?= $(wildcard tests/test_clauses_*.py)

.DEFAULT_GOAL := help
.PHONY: help install train test test-interpreted check bench fuzz clean

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

test: test-interpreted ## Run all tests, the rule tests also with the kernels uncompiled
	$(PY) -m tonk_env.warmup
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile

test-interpreted: $(INSTALLED) ## Run the rule tests with the kernels uncompiled
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -q $(INTERPRETED_TESTS)

check: $(INSTALLED) ## Check style and types
	$(PY) -m ruff check .
	$(PY) -m mypy

bench: $(INSTALLED) ## Measure decisions per second
	$(PY) -m agents bench

fuzz: $(INSTALLED) ## Play a million random hands against the second engine (TONK_FUZZ_HANDS=1000000)
	TONK_FUZZ_WORKERS=$(WORKERS) $(PY) -m pytest -q -s -m slow

clean: ## Remove caches and build products (.venv and runs/ stay)
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find tonk_env agents tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
