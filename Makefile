# Everything starts from a clean machine: `make demo` and `make test` set up what they need.
# Variables: PYTHON=python3.12 picks the interpreter; CAPEVAL_SHARED=DIR adds the tests on real data.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find rust -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock
POSTGRESQL := $(firstword $(shell command -v initdb 2>/dev/null) $(wildcard /usr/lib/postgresql/*/bin/initdb))
BROWSER := $(firstword $(shell command -v chromium chromium-browser google-chrome 2>/dev/null))

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python test-server lint lint-js format bench wheel browser default-vectors clean check-tools fuzz

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: $(VENV)/.built  ## score the example data, write report.html
	$(BIN)/capeval demo --output report.html

test: test-rust test-python  ## every test

# The texts of METEOR that its Rust tests compare with are those of the installed pycocoevalcap.
METEOR_TEXTS := target/meteor
test-rust: check-tools $(METEOR_TEXTS)/.laid-out
	CAPEVAL_METEOR=$(abspath $(METEOR_TEXTS)) cargo test --quiet --workspace -- --include-ignored

$(METEOR_TEXTS)/.laid-out: scripts/meteor_texts.py | $(VENV)/.built
	$(BIN)/python $< $(METEOR_TEXTS)
	@touch $@

test-python: $(VENV)/.test browser postgresql
	$(BIN)/python -m pytest

lint: $(VENV)/.dev lint-js  ## formatting, clippy, ruff, mypy, stubs, the reports' scripts
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest capeval._core --ignore-disjoint-bases

# Node checks the scripts of the reports; users never need it. Where CI is set, its absence is a failure.
lint-js: $(VENV)/.built  ## types of the reports' scripts
	$(BIN)/python tools/js/write_types.py --check
	@if command -v npm >/dev/null; then \
	  { test -x tools/js/node_modules/.bin/tsc || npm ci --prefix tools/js --silent --no-audit --no-fund; } \
	  && npm run --prefix tools/js --silent check; \
	else echo "lint-js: npm was not found, so the reports' scripts are not checked"; test -z "$$CI"; fi

format: $(VENV)/.dev  ## format Rust, sort imports
	cargo fmt --all
	$(BIN)/ruff check --fix --select I

API_SECONDS ?= 600
test-server: $(VENV)/.test postgresql  ## the server for long: load, kill -9, random API calls
	$(BIN)/python benchmarks/server.py --seconds 120
	$(BIN)/python benchmarks/server.py --seconds 120 --kills 10
	$(BIN)/python benchmarks/server.py --seconds 120 --kills 10 --postgresql
	$(BIN)/pip install --quiet 'schemathesis>=4'
	$(BIN)/python benchmarks/server_api.py --seconds $(API_SECONDS)

bench: $(VENV)/.test  ## speed and memory against pycocoevalcap, scaling, resampling
	$(BIN)/python benchmarks/against.py
	$(BIN)/python benchmarks/reward.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/resample.py

# Needs a nightly compiler and cargo-fuzz (cargo install cargo-fuzz).
FUZZ_SECONDS ?= 200
fuzz: check-tools  ## ten minutes of random input: readers, tokenizer, document-frequency files
	for target in read tokenize document_frequency; do \
	  cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 || exit 1; \
	done

# WordNet is a package of Debian's; SciPy is needed here only.
default-vectors: $(VENV)/.built  ## make the word vectors of the package from WordNet
	@if [ "$$(id -u)" = 0 ]; then SUDO=; else SUDO=sudo; fi; \
	 test -d /usr/share/wordnet || $$SUDO apt-get install -qq -y wordnet-base >/dev/null
	$(BIN)/pip install --quiet 'scipy>=1.10'
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/make_default_vectors.py

wheel: $(VENV)/.built  ## one abi3 wheel, in dist/
	$(BIN)/maturin build --release --out dist

check-tools:
	@command -v cargo >/dev/null || { echo "capeval needs a Rust toolchain (cargo): https://rustup.rs"; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "capeval needs Python 3.10 or newer; $(PYTHON) was not found (set PYTHON=...)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "capeval needs Python 3.10 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1) (set PYTHON=...)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "capeval needs Python's venv module (Debian: apt-get install python3-venv)"; exit 1; }

$(VENV)/.created: | check-tools
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip 'maturin>=1.9.4,<2'
	@touch $@

$(VENV)/.built: $(VENV)/.created $(RUST_SOURCES) pyproject.toml
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --extras meteor,study
	@$(BIN)/python -m compileall -q src/capeval  # as an installation does: half of the start-up otherwise
	@touch $@

# PyPI's torch for Linux brings CUDA, 5 GB with all it needs; where PyTorch's own index can be reached, pip prefers the
# small one for the CPU, whose version counts as higher. One try only: without that index it is PyPI's.
$(VENV)/.torch: $(VENV)/.created
	$(BIN)/pip install --quiet --retries 0 --extra-index-url https://download.pytorch.org/whl/cpu 'torch>=2.4' 'torchvision>=0.19'
	@touch $@

$(VENV)/.test: $(VENV)/.built $(VENV)/.torch pyproject.toml
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --extras test
	@touch $@

$(VENV)/.dev: $(VENV)/.test pyproject.toml
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --extras dev
	@touch $@

# The report is tested in a real browser; Debian has it as a package.
browser:
ifeq ($(BROWSER),)
	@command -v apt-get >/dev/null || { echo "the report tests need Chromium on the PATH"; exit 1; }
	@echo "installing Chromium for the report tests"
	@if [ "$$(id -u)" = 0 ]; then SUDO=; else SUDO=sudo; fi; \
	 $$SUDO apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$SUDO apt-get install -qq -y chromium >/dev/null
endif

# The server's tests use a temporary cluster of their own.
postgresql:
ifeq ($(POSTGRESQL),)
	@command -v apt-get >/dev/null || { echo "the server's tests need PostgreSQL (initdb) on the PATH"; exit 1; }
	@echo "installing PostgreSQL for the server's tests"
	@if [ "$$(id -u)" = 0 ]; then SUDO=; else SUDO=sudo; fi; \
	 $$SUDO apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$SUDO apt-get install -qq -y postgresql >/dev/null
endif

clean:  ## remove everything built
	rm -rf $(VENV) target dist src/capeval/*.so report.html
