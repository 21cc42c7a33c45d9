# Builds, runs and tests Aisle. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# SwiftPM embeds the files of sql again only if the package has changed.
$(shell find sql -name '*.sql' -newer Package.swift -exec touch Package.swift \; -quit 2>/dev/null)
RELEASE := swift build -c release --static-swift-stdlib --product aisle
AISLE := .build/release/aisle
# The Debian packages for building and running.
PACKAGES := postgresql libpq-dev libcurl4-openssl-dev libexpat1-dev libicu-dev zlib1g-dev pkg-config
# Further packages for tests: an independent implementation of JSON Patch.
TEST_PACKAGES := python3 python3-jsonpatch
# Services that Debian starts with a package, as package:service; a test that needs the package sets it. They are disabled when the package is
# installed, and left alone if it was there before.
SERVICES :=
# The time limit of a test run; beyond it, the run is stopped with an exit code of its own.
TEST_LIMIT := timeout --kill-after=30 45m
# All tests at once would exceed the deadlines of those that wait for a server.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 16
TEST_RUN := $(TEST_LIMIT) swift test --disable-xctest --skip-build
# Tests of pure logic: no database, no process, no socket.
FAST_TESTS := ^(OrderingTests|AisleDiffTests|CatalogTests|CollationTests|ShelvesTests|CatalogImportTests|CatalogJSONTests|LiveTests|LibPQTests|TelemetryTests|CatalogHTTPTests|AisleTests)\.|^CatalogPostgresIntegrationTests\.(CombinerLimit|DoctorLimit|LogPosition|LogPositionToken|ReadSource|ReplicaSelection|ResortDecision|ResortRequestText|ShelfCaches|ShelfDecision|WriteCombiner)Tests/
# A PgBouncer that supports prepared statements, if its source exists.
POOLER_SOURCE := $(wildcard ../shared/pgbouncer/build.sh)
POOLER := .aisle/pooler
# Citus, if its source exists.
CITUS_SOURCE := $(wildcard ../shared/citus/build.sh)
# If the tests run as root, the server runs as another user, which must be able to read the folder.
CITUS := /var/tmp/aisle-citus-$(shell id -u)
# The number of seconds for which the fault tests stop the database.
STALL := 60
# The number of seconds for which the tests of replicas pause them.
PAUSE := 30
# The catalog that `make bench` imports, if it exists.
BENCH_CSV := $(wildcard ../shared/data/konzum-hr.csv)
# The texts whose spelling is checked: everything but data, pictures, and migrations, whose checksums are recorded.
SPELLED := . ':!seed-data/*.csv' ':!Tests/Search/judged.tsv' ':!**/Cases/**' ':!Tests/Fuzz/corpora' ':!sql/migrations' ':!Sources/Catalog/Imports/Languages' ':!*.gif' ':!*.png' ':!*.svg'
# The packages for browser tests.
BROWSER_PACKAGES := chromium python3-venv
BROWSER_PYTHON := .aisle/browser/bin/python
# The tools that generate clients, at the versions whose output the tests check.
CLIENT_PYTHON := .aisle/clients/bin/python
CLIENT_TOOLS := openapi-python-client==0.29.1 datamodel-code-generator==0.89.0 openapi-core[requests]==0.23.1 schemathesis==4.32.5
# The number of random requests per operation with which the server is compared with its OpenAPI document.
EXAMPLES := 20
# The list of components and licences.
SBOM := .build/deb/sbom.cdx.json
# The packages for tests of the Debian package.
DEB_TEST_PACKAGES := debootstrap lintian python3 systemd util-linux
# The Debian root for tests of the package.
DEBIAN_ROOT := .aisle/debian-$(shell uname -m)
# Where `make install` installs to; DESTDIR is the root of a package that is being built.
PREFIX ?= /usr/local
INSTALLED = $(DESTDIR)$(PREFIX)
SHELLS := bash:share/bash-completion/completions zsh:share/zsh/site-functions fish:share/fish/vendor_completions.d
PICTURES := docs/images
SOURCES := Package.swift Sources Tests sql docs

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 18

.PHONY: deps
deps: # Install missing packages
	@missing=(); for package in $(PACKAGES); do \
	    dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing+=($$package); \
	done; \
	if [ $${#missing[@]} -gt 0 ]; then \
	    as_root=; if [ "$$(id -u)" != 0 ]; then as_root=sudo; fi; \
	    command -v $$as_root apt-get >/dev/null || { echo "please install: $${missing[*]}" >&2; exit 1; }; \
	    echo "installing $${missing[*]}" >&2; \
	    $$as_root apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends "$${missing[@]}" >/dev/null; \
	    now=; if [ -d /run/systemd/system ]; then now=--now; fi; \
	    for service in $(SERVICES); do \
	        case " $${missing[*]} " in *" $${service%%:*} "*) \
	            if command -v systemctl >/dev/null; then $$as_root systemctl disable --quiet $$now "$${service##*:}"; fi ;; \
	        esac; \
	    done; \
	fi

.PHONY: build
build: deps ## Build the release executable, .build/release/aisle
	$(RELEASE)

.PHONY: install install-files uninstall
install: build ## Install the program, man pages and completions (PREFIX=/usr/local, DESTDIR=)
	@$(MAKE) --no-print-directory install-files

install-files: # Install the program that was built
	@$(MAKE) --no-print-directory deps PACKAGES="python3"
	install -D -m 755 $(AISLE) $(INSTALLED)/bin/aisle
	python3 -B docs/cli/generate.py --man $(AISLE) $(INSTALLED)/share/man/man1
	for shell in $(SHELLS); do \
	    install -d $(INSTALLED)/$${shell#*:} && \
	    $(AISLE) --generate-completion-script $${shell%%:*} > $(INSTALLED)/$${shell#*:}/$$(case $$shell in \
	        bash:*) echo aisle ;; zsh:*) echo _aisle ;; fish:*) echo aisle.fish ;; esac); \
	done

uninstall: ## Remove what `make install` installed
	rm -f $(INSTALLED)/bin/aisle $(INSTALLED)/share/man/man1/aisle.1 $(INSTALLED)/share/man/man1/aisle-*.1 \
	    $(INSTALLED)/share/bash-completion/completions/aisle $(INSTALLED)/share/zsh/site-functions/_aisle \
	    $(INSTALLED)/share/fish/vendor_completions.d/aisle.fish

.PHONY: sbom
sbom: build ## Write the list of all components with their licences, .build/deb/sbom.cdx.json; fail if a licence is not allowed
	@$(MAKE) --no-print-directory deps PACKAGES="git python3"
	python3 -B packaging/sbom.py $(SBOM)

.PHONY: deb
deb: sbom ## Build the Debian packages aisle and aisle-dbgsym in .build/deb
	@$(MAKE) --no-print-directory deps PACKAGES="binutils dpkg-dev git python3"
	python3 -B packaging/deb.py $(AISLE) .build/deb --sbom $(SBOM)

.PHONY: debian-root
debian-root: # Create the Debian root in which packages are tested; needs root
	@$(MAKE) --no-print-directory deps PACKAGES="$(DEB_TEST_PACKAGES)"
	python3 -B Tests/Packaging/debian.py $(DEBIAN_ROOT)

.PHONY: test-deb
test-deb: deb ## Install, upgrade, roll back and purge the package in a Debian root; restart under load (OLD=binary of 0.1.0); needs root
	@$(MAKE) --no-print-directory deps PACKAGES="$(DEB_TEST_PACKAGES)"
	$(TEST_LIMIT) python3 -B Tests/Packaging/run.py .build/deb $(DEBIAN_ROOT) $(OLD)

.PHONY: run
run: build ## Start a private PostgreSQL, migrate, seed, serve, and print the URL
	$(AISLE) dev

.PHONY: build-tests
build-tests: deps # Build the tests and install their packages
	@$(MAKE) --no-print-directory deps PACKAGES="$(TEST_PACKAGES)"
	swift build --build-tests

.PHONY: check-imports
check-imports: # Check that each target declares what it imports
	swift build --build-tests --explicit-target-dependency-import-check error

.PHONY: test-web
test-web: # Run the tests of the pages' modules under Node
	@command -v node >/dev/null || $(MAKE) --no-print-directory deps PACKAGES="nodejs"
	node --test Tests/Web/*.test.mjs

.PHONY: test-fast
test-fast: build-tests test-web ## Run only the tests of pure logic, in half a minute
	$(TEST_RUN) --filter '$(FAST_TESTS)'

.PHONY: test-coverage
test-coverage: deps ## Print how much of the pure core the fast tests cover; fail below 90 %
	python3 Tests/coverage.py '$(FAST_TESTS)'

.PHONY: test-mutations
test-mutations: deps ## Put random faults into the sources, one at a time, and list those that no test notices (SAMPLE=60 SEED=1)
	@$(MAKE) --no-print-directory deps PACKAGES="postgresql python3 rsync"
	python3 -B Tests/Mutations/run.py --sample $(or $(SAMPLE),60) $(if $(SEED),--seed $(SEED))

.PHONY: test
test: build-tests test-web ## Run the whole test suite on a private PostgreSQL
	AISLE_TEST_DATABASE_URL="$${DATABASE_URL:-}" $(TEST_RUN) --skip RealCatalogTests

.PHONY: openapi
openapi: deps ## Write the paths and lists of openapi.json, which follow from the code
	AISLE_RECORD_OPENAPI="$$PWD/Sources/CatalogHTTP/openapi.json" swift test --disable-xctest --filter DescriptionTests.documentFollowsFromTheCode

.PHONY: test-real
test-real: build-tests ## Run the tests on the real catalogs in ../shared/data
	AISLE_REAL_DATA="$$(cd ../shared/data && pwd)" AISLE_TEST_DATABASE_URL="$${DATABASE_URL:-}" \
	    $(TEST_RUN) --filter RealCatalogTests

POOLER_TESTS := --filter CatalogHTTPIntegrationTests --filter PoolerTests

.PHONY: test-pooler
test-pooler: build-tests ## Run the API's tests through PgBouncer in transaction mode, and tests of lost connections
	@RUNLEVEL=1 $(MAKE) --no-print-directory deps PACKAGES="pgbouncer"
	AISLE_TEST_POOLER=/usr/sbin/pgbouncer AISLE_TEST_STATEMENTS=unnamed $(TEST_RUN) $(POOLER_TESTS)
	if [ -n "$(POOLER_SOURCE)" ]; then \
	    $(POOLER_SOURCE) "$$PWD/$(POOLER)" && \
	    AISLE_TEST_POOLER="$$PWD/$(POOLER)/bin/pgbouncer" $(TEST_RUN) $(POOLER_TESTS); \
	fi

.PHONY: test-citus
test-citus: build-tests build ## Test stores, orders, lists, imports and the API on a Citus cluster, migrate and distribute databases, lose servers (LOSSES="--rounds 30"), read after each write while shards move (WRITES="--writes 100000"), compare shelves meanwhile (CHANGES="--writes 10000"), and restore a backup, if its source is in ../shared/citus
	@$(MAKE) --no-print-directory deps PACKAGES="procps python3"
	if [ -n "$(CITUS_SOURCE)" ]; then \
	    $(CITUS_SOURCE) "$(CITUS)" && \
	    $(MAKE) --no-print-directory test-citus-suites && \
	    AISLE_TEST_CITUS="$(CITUS)" $(TEST_LIMIT) python3 -B Tests/Citus/migrations.py $(AISLE) && \
	    AISLE_TEST_CITUS="$(CITUS)" $(TEST_LIMIT) python3 -B Tests/Citus/faults.py $(AISLE) $(LOSSES) && \
	    AISLE_TEST_CITUS="$(CITUS)" $(TEST_LIMIT) python3 -B Tests/Citus/failover.py $(AISLE) && \
	    AISLE_TEST_CITUS="$(CITUS)" $(TEST_LIMIT) python3 -B Tests/Faults/freshness.py $(AISLE) --citus $(WRITES) && \
	    AISLE_TEST_CITUS="$(CITUS)" $(TEST_LIMIT) python3 -B Tests/Faults/shelves.py $(AISLE) --citus $(CHANGES) && \
	    AISLE_TEST_CITUS="$(CITUS)" $(TEST_LIMIT) python3 -B Tests/Citus/backup.py $(AISLE); \
	fi

# The suites whose tests run on a coordinator and two workers, too.
CITUS_STORES := AttributeConcurrency AttributeStore AuditPartition AuditStore CombinedOrder DatabaseEpoch DueProducts FilterOracle Importer ImportProfileStore ListStore ManualOrder \
    ModificationTime Popularity Resort SettingsStore SettingsSync ShelfImages ShelfMemory ShelfReader SortKey SortOracle Statement StoreConformance StoreDeletion StoreState StoreWorkers SuggestionStore SynonymStore Union
CITUS_SUITES := $(foreach suite,$(CITUS_STORES),CatalogPostgresIntegrationTests.$(suite)Tests) CatalogHTTPIntegrationTests \
    $(if $(wildcard ../shared/data),RealCatalogTests)

.PHONY: test-citus-suites
test-citus-suites:
	rm -f .aisle/citus.log
	mkdir -p .aisle
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 AISLE_TEST_CITUS="$(CITUS)" AISLE_TEST_CITUS_LOG="$$PWD/.aisle/citus.log" \
	    AISLE_REAL_DATA="$(abspath $(wildcard ../shared/data))" $(TEST_RUN) $(foreach suite,$(CITUS_SUITES),--filter '$(suite)')
	AISLE_TEST_CITUS_LOG="$$PWD/.aisle/citus.log" $(TEST_RUN) --filter MultiShardTests

.PHONY: test-faults
test-faults: build ## Stop the database under load (STALL=60 seconds), promote a standby, kill at random points (KILLS="--kills 500"), fuzz HTTP (REQUESTS="--requests 2000000"), read after each write (WRITES="--writes 100000"), restart under load (RESTARTS="--restarts 100"), compare shelves that servers followed with those that a server reads (CHANGES="--writes 100000")
	@$(MAKE) --no-print-directory deps PACKAGES="openssl pgbouncer procps python3 systemd"
	$(TEST_LIMIT) python3 Tests/Faults/stall.py $(AISLE) $(STALL)
	$(TEST_LIMIT) python3 Tests/Faults/failover.py $(AISLE)
	$(MAKE) --no-print-directory test-replicas
	$(TEST_LIMIT) python3 Tests/Faults/kills.py $(AISLE) $(KILLS)
	$(TEST_LIMIT) python3 Tests/Faults/fuzz.py $(AISLE) $(REQUESTS)
	$(TEST_LIMIT) python3 Tests/Faults/freshness.py $(AISLE) $(WRITES)
	$(TEST_LIMIT) python3 Tests/Faults/restarts.py $(AISLE) $(RESTARTS)
	$(TEST_LIMIT) python3 Tests/Faults/shelves.py $(AISLE) $(CHANGES)

.PHONY: test-replicas
test-replicas: build ## Stop, pause, promote and lose standbys that answer reads, under load (PAUSE=30 seconds)
	@$(MAKE) --no-print-directory deps PACKAGES="procps python3"
	$(TEST_LIMIT) python3 Tests/Faults/replicas.py $(AISLE) --pause $(PAUSE)

.PHONY: test-faults-full
test-faults-full: ## Run the fault tests with all their faults, in about two hours
	$(MAKE) --no-print-directory test-faults KILLS="--kills 500 --restarts 50 --cuts 2000 --poolers 20 --recovery 2" \
	    REQUESTS="--requests 2000000" WRITES="--writes 100000" RESTARTS="--restarts 100" TEST_LIMIT="timeout --kill-after=30 90m"
	$(MAKE) --no-print-directory test-disk
	$(MAKE) --no-print-directory test-upgrade
	$(MAKE) --no-print-directory fuzz

.PHONY: test-monitoring
test-monitoring: build ## Scrape servers under load with Prometheus, query each panel, and let alerts fire
	@RUNLEVEL=1 $(MAKE) --no-print-directory deps PACKAGES="prometheus python3" SERVICES="prometheus:prometheus"
	$(TEST_LIMIT) python3 -B Tests/Operations/monitoring.py $(AISLE)

.PHONY: test-backup
test-backup: build ## Run the commands for backup and restore, and compare every answer before and after
	@$(MAKE) --no-print-directory deps PACKAGES="python3"
	$(TEST_LIMIT) python3 -B Tests/Operations/backup.py $(AISLE)

.PHONY: test-proxy
test-proxy: build ## Serve through nginx with TLS and HTTP/2
	@RUNLEVEL=1 $(MAKE) --no-print-directory deps PACKAGES="curl nginx-light openssl python3" SERVICES="nginx-light:nginx"
	$(TEST_LIMIT) python3 -B Tests/Operations/proxy.py $(AISLE)

.PHONY: test-disk
test-disk: build ## Fill the disk of the data, and that of the log, under load; needs root or user namespaces
	@$(MAKE) --no-print-directory deps PACKAGES="python3"
	$(TEST_LIMIT) python3 Tests/Faults/disk.py $(AISLE)

.PHONY: test-upgrade
test-upgrade: build build-tests ## Kill migrations of a database with data; serve with this build and the next one side by side while a migration runs
	AISLE_TEST_KILLS=100 $(TEST_RUN) --filter KilledMigrationTests
	$(TEST_LIMIT) python3 Tests/Faults/upgrade.py $(AISLE)

FUZZ_SECONDS ?= 300
FUZZ_TARGETS := json csv cursor wire size jwt shelf

.PHONY: fuzz
fuzz: deps ## Fuzz the parsers of untrusted input and shelves in memory, each for FUZZ_SECONDS (300), with libFuzzer
	AISLE_FUZZ=1 swift build --scratch-path .build-fuzz -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld --product Fuzz
	for target in $(FUZZ_TARGETS); do \
	    mkdir -p .aisle/fuzz/$$target Tests/Fuzz/corpora/$$target && seed=$$RANDOM && echo "$$target, seed $$seed:" && \
	    AISLE_FUZZ_TARGET=$$target .build-fuzz/debug/Fuzz -seed=$$seed -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
	        -verbosity=0 -print_final_stats=1 -artifact_prefix=.aisle/fuzz/$$target- .aisle/fuzz/$$target Tests/Fuzz/corpora/$$target \
	        || exit 1; \
	done

.PHONY: test-thread test-address
test-thread test-address: test-%: deps # Run all tests but those of whole processes under a sanitizer; few at once, so that each keeps its deadlines
	@$(MAKE) --no-print-directory deps PACKAGES="$(TEST_PACKAGES)"
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 SWIFT_BACKTRACE=enable=no TSAN_OPTIONS="suppressions=$$PWD/Tests/thread-sanitizer.supp" \
	    LSAN_OPTIONS="suppressions=$$PWD/Tests/leak-sanitizer.supp:print_suppressions=0" \
	    $(TEST_LIMIT) swift test --disable-xctest --sanitize=$* --scratch-path .build-$* \
	    --skip '^AisleIntegrationTests\.' --skip RealCatalogTests

.PHONY: test-all
test-all: lint test ## Run all tests except mutations, with coverage, sanitizers, poolers, Citus, faults, browsers and real catalogs
	if [ -d ../shared/data ]; then $(MAKE) --no-print-directory test-real; fi
	$(MAKE) --no-print-directory test-combinations
	$(MAKE) --no-print-directory test-pooler
	$(MAKE) --no-print-directory test-citus
	$(MAKE) --no-print-directory test-costs
	$(MAKE) --no-print-directory test-faults
	$(MAKE) --no-print-directory test-disk
	$(MAKE) --no-print-directory test-upgrade
	$(MAKE) --no-print-directory test-monitoring
	$(MAKE) --no-print-directory test-backup
	$(MAKE) --no-print-directory test-proxy
	$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=60
	$(MAKE) --no-print-directory test-browser
	$(MAKE) --no-print-directory test-docs
	$(MAKE) --no-print-directory test-docc
	$(MAKE) --no-print-directory test-clients EXAMPLES=100
	$(MAKE) --no-print-directory test-deb
	$(MAKE) --no-print-directory test-coverage
	$(MAKE) --no-print-directory test-address
	$(MAKE) --no-print-directory test-thread

.PHONY: test-combinations
test-combinations: build-tests ## Compare 100,000 random combinations of sort, filters, groups and search with the specification
	AISLE_TEST_COMBINATIONS=100000 $(TEST_RUN) --filter CombinationTests

.PHONY: browser
browser: # Install what drives a browser, into .aisle/browser
	@$(MAKE) --no-print-directory deps PACKAGES="$(BROWSER_PACKAGES)"
	@[ -x $(BROWSER_PYTHON) ] || python3 -m venv .aisle/browser
	@$(BROWSER_PYTHON) -c 'import axe_playwright_python, PIL, playwright' 2>/dev/null || \
	    $(BROWSER_PYTHON) -m pip install --quiet axe-playwright-python pillow playwright

.PHONY: test-browser
test-browser: build browser ## Run the tests of the pages in headless Chromium, on real catalogs, too, if they exist
	$(BROWSER_PYTHON) Tests/Browser/run.py $(AISLE) $(wildcard ../shared/data)

.PHONY: test-costs
test-costs: build ## Compare the buffers and the write-ahead log that operations need with their limits (RECORD=--record)
	@$(MAKE) --no-print-directory deps PACKAGES="python3"
	python3 -B Tests/Bench/costs.py $(AISLE) $(RECORD)

.PHONY: test-docs
test-docs: build ## Run the commands of the README and of docs/ with the examples, and check all links
	@$(MAKE) --no-print-directory deps PACKAGES="curl python3"
	swift build -c release --static-swift-stdlib --product DiffExample
	swift build -c release --static-swift-stdlib --product OrderingExample
	python3 -B Tests/Docs/run.py $(AISLE)

.PHONY: test-docc
test-docc: deps ## Build the documentation of the library products, AisleDiff and Ordering; a warning is an error
	rm -rf .build-docc
	swift build --scratch-path .build-docc --target AisleDiff -Xswiftc -emit-symbol-graph \
	    -Xswiftc -emit-symbol-graph-dir -Xswiftc "$$PWD/.build-docc/symbols"
	@# The symbols of AisleDiff contain those that it exports from Ordering; given both, docc takes either at random.
	for library in AisleDiff Ordering; do \
	    mkdir .build-docc/$$library && mv .build-docc/symbols/$$library*.json .build-docc/$$library && \
	    docc convert Sources/$$library/$$library.docc --additional-symbol-graph-dir .build-docc/$$library \
	        --fallback-display-name $$library --fallback-bundle-identifier $$library --warnings-as-errors \
	        --output-path .build-docc/$$library.doccarchive || exit 1; \
	done

.PHONY: test-clients
test-clients: build ## Generate clients from the OpenAPI document, use one, and compare the server with the document (EXAMPLES=200)
	@$(MAKE) --no-print-directory deps PACKAGES="python3-venv"
	@[ -x $(CLIENT_PYTHON) ] || python3 -m venv .aisle/clients
	@$(CLIENT_PYTHON) -m pip install --quiet --disable-pip-version-check $(CLIENT_TOOLS)
	$(TEST_LIMIT) $(CLIENT_PYTHON) -B Tests/Clients/run.py $(AISLE) $(EXAMPLES)

.PHONY: docs
docs: build ## Generate the command-line reference
	python3 -B docs/cli/generate.py $(AISLE) docs/cli

.PHONY: pictures
pictures: build browser ## Take the pictures of the README from the running page
	$(BROWSER_PYTHON) Tests/Browser/pictures.py $(AISLE) $(PICTURES)

.PHONY: soak
soak: deps ## Compare a million random moves with the same moves of plain lists
	swift build --build-tests
	AISLE_SOAK_SEEDS=100 AISLE_SOAK_ROUNDS=10000 AISLE_TEST_DATABASE_URL="$${DATABASE_URL:-}" \
	    swift test --disable-xctest --skip-build --filter randomEditsMatchMemory

.PHONY: bench
bench: build browser ## Measure pages, imports, diffs and scripts as ratios to their lower bounds
	@command -v wrk >/dev/null || $(MAKE) deps PACKAGES="wrk python3"
	swift build -c release --static-swift-stdlib --product PageLoad
	python3 -B Tests/Bench/bench.py $(AISLE) $(BENCH_CSV)
	$(BROWSER_PYTHON) Tests/Browser/script_time.py $(AISLE) $(BENCH_CSV)
	swift build -c release --static-swift-stdlib --product DiffBench
	for input in ordinals ids; do MALLOC_MMAP_THRESHOLD_=65536 .build/release/DiffBench memory $$input; done
	.build/release/DiffBench

.PHONY: bench-search
bench-search: build ## Judge searches on the catalogs in ../shared/data, compared with PostgreSQL's own (JUDGE="--verbose")
	@$(MAKE) --no-print-directory deps PACKAGES="postgresql python3"
	python3 -B Tests/Search/bench.py $(AISLE) ../shared/data $(JUDGE)

.PHONY: bench-growth
bench-growth: build ## Measure pages and their storage with 10,000 to 10,000,000 products (SIZES="10000 100000")
	swift build -c release --static-swift-stdlib --product PageLoad
	python3 -B Tests/Bench/growth.py $(AISLE) $(SIZES)

.PHONY: bench-citus
bench-citus: build ## Measure pages and moves on Citus with 1, 2 and 4 workers relative to plain PostgreSQL, if its source is in ../shared/citus
	@$(MAKE) --no-print-directory deps PACKAGES="python3"
	if [ -n "$(CITUS_SOURCE)" ]; then \
	    $(CITUS_SOURCE) "$(CITUS)" && AISLE_TEST_CITUS="$(CITUS)" python3 -B Tests/Citus/bench.py $(AISLE); \
	fi

.PHONY: bench-table
bench-table: # Write docs/performance.md from the results of the benchmark of pages
	python3 -B Tests/Bench/table.py .aisle/bench/pages.json

.PHONY: format
format: ## Format the sources
	swift format --in-place --parallel --recursive $(SOURCES)

.PHONY: lint
lint: ## Check the format, the words and sentences of all texts, their spelling, and the table of folded characters
	swift format lint --strict --parallel --recursive $(SOURCES)
	@$(MAKE) --no-print-directory deps PACKAGES="codespell git python3"
	python3 Tests/Docs/words.py
	python3 Tests/Docs/sentences.py
	python3 -B Tests/Unicode/folding.py --check
	git ls-files -- $(SPELLED) | xargs -d '\n' codespell

.PHONY: db-up
db-up: build ## Start the private PostgreSQL of .aisle/
	$(AISLE) db start

.PHONY: db-down
db-down: build ## Stop it
	$(AISLE) db stop

.PHONY: db-reset
db-reset: build ## Delete its data and create it again
	$(AISLE) db reset --yes

.PHONY: clean
clean: ## Stop the private PostgreSQL and delete build products
	if [ -x $(AISLE) ]; then $(AISLE) db stop || true; fi
	rm -rf .build .build-*
