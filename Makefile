# Everything a fresh machine needs is Python 3.11 or newer and make.
#
#   make demo             provision two simulated Windows nodes, render the manifests, prove that they agree
#   make test             linters, tests and every role's molecule scenario
#   make test-windows     the agent in a real PowerShell  (LOCKSTEP_PWSH, LOCKSTEP_WINDOWS_NODE)
#   make test-containerd  every written config.toml in the real containerd of each series  (Go)
#   make bench            sizes and speeds, printed
#   make lock             renew requirements/*.txt from pyproject.toml

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
ROLES := $(sort $(notdir $(patsubst %/molecule/,%,$(wildcard roles/*/molecule/))))

.PHONY: help
help:
	@sed -n '2,9{s/^# \{0,3\}//;p;}' Makefile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("lockstep needs Python 3.11 or newer; this is " + sys.version.split()[0] + " (make PYTHON=python3.12 …)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements/runtime.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/runtime.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): requirements/dev.txt $(RUNTIME)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

.PHONY: demo
demo: $(RUNTIME)
	@python tools/demo.py

.PHONY: test
test: lint test-quick test-slow molecule

.PHONY: lint
lint: $(DEV)
	ruff check --no-cache .
	ruff format --check .
	mypy
	yamllint --strict .
	ansible-lint --offline --profile production

# Files run beside each other, a file's own tests in their order: they may share nodes that one after the other changes.
.PHONY: test-quick
test-quick: $(DEV)
	pytest -n auto --dist loadfile -m "not slow and not windows and not containerd"

# Four at a time on any machine: most of their time they wait for nodes that restart.
.PHONY: test-slow
test-slow: $(DEV)
	pytest -n 4 --dist loadfile -m "slow and not windows and not containerd"

.PHONY: molecule
molecule: $(DEV) $(addprefix molecule-,$(ROLES))

.PHONY: molecule-%
molecule-%: $(DEV)
	cd roles/$* && molecule test

.PHONY: test-windows
test-windows: $(DEV)
	pytest -m windows

.PHONY: test-containerd
test-containerd: $(DEV)
	pytest -m containerd

.PHONY: bench
bench: $(DEV)
	@python -m tools.bench

UV_COMPILE := uv pip compile --quiet --universal --python-version 3.11 --no-header --no-emit-index-url --generate-hashes --upgrade
.PHONY: lock
lock: $(DEV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(UV_COMPILE) --group build pyproject.toml -o requirements/runtime.txt
	$(UV_COMPILE) --group dev pyproject.toml -o requirements/dev.txt

.PHONY: clean
clean:
	rm -rf $(VENV) build dist .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .ansible
