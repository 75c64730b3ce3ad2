# What can be done here: make help
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Commands that tests start would otherwise compile all that they import, each anew.
unexport PYTHONDONTWRITEBYTECODE
# maturin is called by name.
export PATH := $(CURDIR)/$(BIN):$(PATH)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Seconds that every fuzz target runs.
FUZZ_SECONDS ?= 60
# Where "make wheels" keeps the source of Rust's library, if it is to build what rustup lacks.
RUST_SOURCE ?=

PAGE := $(shell find report-ui/src -type f) $(wildcard report-ui/*.json report-ui/*.mjs)
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock rust-toolchain.toml

# Tests in real time that keep a processor busy themselves: with programs in Python at both ends, or many connections.
BUSY := $(addprefix tests/engine/test_,field.py field_results.py guard.py probe.py schedule.py)

# Tests that change the kernel for everyone: what it has is asked, and what runs leave behind is looked for, by others.
ALONE := tests/engine/test_controllers.py

# Tests that take a minute or more: begun first, so that no processor waits for them at the end.
LONG := $(addprefix tests/,$(addsuffix .py,$(addprefix python/test_,report_page report_page_use names campaign_page \
	schedule study sweep serve_crowds compare campaign run statistics figure figure_files engines downloads) \
	$(addprefix oracles/test_,tcp_figures segments mptcp_figures robust) laws/test_equilibria))
OTHERS := $(filter-out $(LONG) tests/engine/%,$(wildcard tests/*/test_*.py))

.PHONY: help
help: ## This list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 16

.PHONY: demo
demo: $(VENV)/built ## Set up, build, and simulate a download over Wi-Fi and LTE, beside plain TCP over each
	$(BIN)/mptcplab run wifi-lte --force

.PHONY: build
build: $(VENV)/built ## Set up and build: .venv/bin/mptcplab

.PHONY: test test-rust test-python test-real-time peers
test: test-rust test-python test-real-time ## Set up, install what tests compare with where that is possible, run all tests

test-rust: $(VENV)/dev peers
	$(PYTHON) scripts/rust_tests.py

test-python: $(VENV)/dev peers
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(LONG) $(OTHERS)

# Runs tests beside each other, then alone those that failed: a pause of the machine fails a test once, a fault of ours twice.
define in-real-time
	$(BIN)/python -m pytest $(1) $(2) || { test $$? = 1 && $(BIN)/python -m pytest --last-failed $(2); }
endef

test-real-time: $(VENV)/dev peers
	# These wait for real time: more at once than processors, and nothing beside them that computes.
	$(call in-real-time,--numprocesses 4 --dist worksteal,tests/engine $(addprefix --ignore=,$(BUSY) $(ALONE)))
	$(call in-real-time,--numprocesses 3 --dist loadgroup,$(BUSY))
	$(BIN)/python -m pytest $(ALONE)

peers:
	scripts/peers

.PHONY: quic
quic: python/mptcplab/mptcplab-quic ## The program for transfers over QUIC, which takes a few minutes

python/mptcplab/mptcplab-quic: $(wildcard quic/src/*.rs) quic/Cargo.toml quic/Cargo.lock
	CARGO_TARGET_DIR=quic/target cargo build --release --locked --manifest-path quic/Cargo.toml
	# A new file in the place of the old one, which may be running.
	cp quic/target/release/mptcplab-quic $@.new
	mv $@.new $@

.PHONY: lint lint-rust lint-python lint-page
lint: lint-rust lint-python lint-page ## Formatting, lints, types, licences

lint-rust: $(VENV)/dev
	# Not cargo fmt: it does not see modules that macros declare.
	find crates fuzz quic -name '*.rs' -not -path '*/target/*' -exec rustfmt --check --edition 2024 {} +
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --manifest-path quic/Cargo.toml --locked -- -D warnings
	scripts/deny $(BIN)/python

lint-python: $(VENV)/dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy
	$(BIN)/stubtest mptcplab._core
	$(BIN)/deptry python/mptcplab

lint-page: $(VENV)/dev
	npm --prefix report-ui run --silent lint

.PHONY: bench
bench: $(VENV)/dev ## Speed and memory beside tcptrace, tshark, ns-3 and Mahimahi, start-up, campaigns, micro-benchmarks
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/emulation.py
	$(BIN)/python benchmarks/campaign.py
	cargo bench --locked --package wire --package capture --package link

.PHONY: count
count: peers ## Instructions that a packet takes on the hot paths, held to those kept in benchmarks/instructions.json
	$(PYTHON) benchmarks/instructions.py

.PHONY: docs
docs: $(VENV)/docs ## Reference from the code, then docs/_build/html/index.html
	$(BIN)/python docs/generate.py
	$(BIN)/sphinx-build --quiet --fail-on-warning --nitpicky docs docs/_build/html
	@echo "see docs/_build/html/index.html"

.PHONY: fuzz fuzz-targets
fuzz-targets:
	scripts/fuzz build

fuzz: ## Every fuzz target for FUZZ_SECONDS (needs cargo-fuzz and a nightly toolchain)
	scripts/fuzz $(FUZZ_SECONDS)

.PHONY: wheels
wheels: $(VENV)/pip ## What is published, into dist: a source distribution, and wheels that need neither Rust nor Node
	RUST_SOURCE='$(RUST_SOURCE)' scripts/wheels dist $(BIN)/python

.PHONY: static
static: ## The guard for routers, into dist: a file for each kind of machine that needs no library, tried where there is no other
	scripts/static dist

.PHONY: clean
clean: ## Remove what was built
	rm -rf target quic/target $(VENV) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis report-ui/node_modules
	find python -name '_core*.so' -delete
	rm -f python/mptcplab/libpreload.so python/mptcplab/mptcplab-convert python/mptcplab/mptcplab-guard python/mptcplab/mptcplab-quic python/mptcplab/charts/report.js python/mptcplab/charts/report.css

# Stamps: each names what it needs, so that nothing is done twice.

$(VENV)/pip:
	@scripts/check-python $(PYTHON)
	@scripts/node
	@$(PYTHON) build_backend/backend.py
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1' 'maturin>=1.16,<2'
	@touch $@

$(VENV)/compiled: $(VENV)/pip pyproject.toml $(RUST) build_backend/backend.py build_backend/preload.py
	@echo "building; the first time takes a few minutes"
	scripts/compile $(PIP) --verbose --verbose install --no-build-isolation --editable '.[figures]'
	@touch $@

# Whoever changes the page alone need not compile.
$(VENV)/built: $(VENV)/compiled $(PAGE)
	$(PYTHON) build_backend/page.py
	@touch $@

$(VENV)/dev: $(VENV)/built
	$(PIP) install --group dev
	@touch $@

$(VENV)/docs: $(VENV)/built
	$(PIP) install --group docs
	@touch $@
