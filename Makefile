# The one door to everything. `make help` lists what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

RELEASE := swift build -c release --static-swift-stdlib --product aisle
AISLE := .build/release/aisle
# Debian's packages that are needed to build and run.
PACKAGES := postgresql libpq-dev libcurl4-openssl-dev libicu-dev pkg-config
# What the tests need besides: an implementation of JSON Patch that is not ours.
TEST_PACKAGES := python3 python3-jsonpatch
# What `make bench` imports, where it is there.
BENCH_CSV := $(wildcard ../shared/data/konzum-hr.csv)
# What the tests of the pages need: a browser, and what drives it.
BROWSER_PACKAGES := chromium python3-venv
BROWSER_PYTHON := .aisle/browser/bin/python
PICTURES := Sources/Catalog/Catalog.docc/Resources
SOURCES := Package.swift Sources Tests sql

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 18

.PHONY: deps
deps: # Install what is missing
	@missing=(); for package in $(PACKAGES); do \
	    dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing+=($$package); \
	done; \
	if [ $${#missing[@]} -gt 0 ]; then \
	    as_root=; if [ "$$(id -u)" != 0 ]; then as_root=sudo; fi; \
	    command -v $$as_root apt-get >/dev/null || { echo "please install: $${missing[*]}" >&2; exit 1; }; \
	    echo "installing $${missing[*]}" >&2; \
	    $$as_root apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends "$${missing[@]}" >/dev/null; \
	fi

.PHONY: build
build: deps ## Build the release executable, .build/release/aisle
	$(RELEASE)

.PHONY: run
run: build ## Start a private PostgreSQL, migrate, seed, serve, and print the URL
	$(AISLE) dev

.PHONY: test
test: deps ## Run the whole test suite on a private PostgreSQL
	@$(MAKE) --no-print-directory deps PACKAGES="$(TEST_PACKAGES)"
	swift build --build-tests
	AISLE_TEST_DATABASE_URL="$${DATABASE_URL:-}" swift test --disable-xctest --skip-build --skip RealCatalogTests

.PHONY: test-real
test-real: deps ## Run the tests on the real catalogs in ../shared/data
	swift build --build-tests
	AISLE_REAL_DATA="$$(cd ../shared/data && pwd)" AISLE_TEST_DATABASE_URL="$${DATABASE_URL:-}" \
	    swift test --disable-xctest --skip-build --filter RealCatalogTests

.PHONY: browser
browser: # Install what drives a browser, into .aisle/browser
	@$(MAKE) --no-print-directory deps PACKAGES="$(BROWSER_PACKAGES)"
	@[ -x $(BROWSER_PYTHON) ] || python3 -m venv .aisle/browser
	@$(BROWSER_PYTHON) -c 'import axe_playwright_python, PIL, playwright' 2>/dev/null || \
	    $(BROWSER_PYTHON) -m pip install --quiet axe-playwright-python pillow playwright

.PHONY: test-browser
test-browser: build browser ## Run the tests of the pages in headless Chromium; on real catalogs, too, where they are there
	$(BROWSER_PYTHON) Tests/Browser/run.py $(AISLE) $(wildcard ../shared/data)

.PHONY: pictures
pictures: build browser ## Make the pictures of the README anew, from the running page
	$(BROWSER_PYTHON) Tests/Browser/pictures.py $(AISLE) $(PICTURES)

.PHONY: soak
soak: deps ## Rearrange shelves by hand a million times, against lists that are simply rearranged
	swift build --build-tests
	AISLE_SOAK_SEEDS=100 AISLE_SOAK_ROUNDS=10000 AISLE_TEST_DATABASE_URL="$${DATABASE_URL:-}" \
	    swift test --disable-xctest --skip-build --filter theDatabaseDoesWhatIsMeant

.PHONY: bench
bench: build browser ## Measure pages, imports, diffs and the page's script against what bounds them, as ratios within one run
	@command -v wrk >/dev/null || $(MAKE) deps PACKAGES="wrk python3"
	python3 Tests/Bench/bench.py $(AISLE) $(BENCH_CSV)
	$(BROWSER_PYTHON) Tests/Browser/script_time.py $(AISLE) $(BENCH_CSV)
	swift build -c release --static-swift-stdlib --product DiffBench
	for input in ordinals ids; do MALLOC_MMAP_THRESHOLD_=65536 .build/release/DiffBench memory $$input; done
	.build/release/DiffBench

.PHONY: format
format: ## Format the sources
	swift format --in-place --parallel --recursive $(SOURCES)

.PHONY: lint
lint: ## Check the format and the rules
	swift format lint --strict --parallel --recursive $(SOURCES)

.PHONY: db-up
db-up: build ## Start the private PostgreSQL of .aisle/
	$(AISLE) db start

.PHONY: db-down
db-down: build ## Stop it
	$(AISLE) db stop

.PHONY: db-reset
db-reset: build ## Delete its data and make it anew
	$(AISLE) db reset --yes

.PHONY: clean
clean: ## Stop the private PostgreSQL and delete what was built
	if [ -x $(AISLE) ]; then $(AISLE) db stop || true; fi
	rm -rf .build
