# The first target that needs it builds .venv from pyproject.toml and constraints.txt; later ones find it done.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$python && break; \
	done || echo python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BENCH_INSTALLED := $(VENV)/.installed-bench
# three processes on two cores, because tests of streams spend half of their time waiting; about 3 GB each.
# A file goes to one process as a whole, so that its tests share what they set up.
JOBS ?= 3
PYTEST := $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder
# Tests start hundreds of Python processes, and each would compile every module again without bytecode on disk.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: install
install: $(INSTALLED)  ## build .venv; the other targets do it when needed

.PHONY: demo
demo: $(INSTALLED)  ## recognize events in an example and write its report
	$(BIN)/inkling demo --runner spark $(ARGS)

.PHONY: quick
quick: $(INSTALLED)  ## run the quick tests: no Java, about a minute
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(PYTEST) \
		-m "not slow and not property and not spark and not browser and not long and not kafka" \
		$(or $(ARGS),src tests/docs tests/errors tests/golden tests/naive tests/unit)

.PHONY: test
test: $(INSTALLED)  ## run the tests, about eight minutes on two cores; ARGS="-k word" or a path narrows them
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(PYTEST) --seeds 1 $(ARGS)

MARKS_rest := (long or seeds or property or hypothesis) and not (long and property) and not kafka

# pytest exits with 5 where nothing was selected, which is wrong only if it is so in all runs
.PHONY: test-full
test-full: $(INSTALLED)  ## run every test; ONLY=rest leaves out what `make test` has run as it is, and further seeds of properties at length
	@export HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci}; \
	status=5; run() { "$$@"; last=$$?; case $$status:$$last in 5:*|0:[!5]*) status=$$last;; esac; }; \
	run $(PYTEST) -m "$(or $(MARKS_$(ONLY)),not kafka)" $(ARGS); \
	$(if $(ONLY),run $(PYTEST) -m "long and property" --seeds 1 $(ARGS);) \
	if $(BIN)/python -m tests.kafka --fetch; then \
		run $(PYTEST) -m kafka $(or $(ARGS),tests/kafka); \
	else \
		echo "left out: all Kafka tests (the broker's jars could not be fetched; try \`make kafka-jars\`)"; \
	fi; \
	exit $$status

.PHONY: test-long
test-long: $(INSTALLED)  ## run every test but Kafka's with 2000 examples for each property: hours
	HYPOTHESIS_PROFILE=long $(PYTEST) -m "not kafka" $(ARGS)

.PHONY: kafka-test
kafka-test: kafka-jars  ## run the tests that need a Kafka broker, with a real one
	$(PYTEST) -m kafka tests/kafka $(ARGS)

.PHONY: kafka-broker
kafka-broker: $(INSTALLED)  ## serve a Kafka broker at 127.0.0.1:9092 until Ctrl-C; ARGS="--port 9093" elsewhere
	$(BIN)/python -m tests.kafka $(ARGS)

.PHONY: kafka-jars
kafka-jars: $(INSTALLED)  ## fetch what Kafka needs: 55 MB of jars, once
	@$(BIN)/python -m tests.kafka --fetch

.PHONY: check
check: $(INSTALLED)  ## lint, formatting, types and the direction of imports; no Java, no tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: fmt
fmt: $(INSTALLED)  ## format the Python code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

.PHONY: accept
accept: $(INSTALLED)  ## rewrite the golden files from what the program says now; review the diff like code
	$(BIN)/python -m pytest --accept tests/golden tests/errors $(ARGS)

.PHONY: docs
docs: $(INSTALLED)  ## build the documentation site into out/site; a warning, such as a broken link, fails
	@$(BIN)/python docs/_site/stage.py out/site-source
	@$(BIN)/zensical build --strict --clean
	@echo "out/site/index.html is the first page; for the search: $(BIN)/python -m http.server --directory out/site"

.PHONY: bench
bench: $(BENCH_INSTALLED)  ## measure this machine and write docs/reference/benchmarks.md; ARGS="--quick" tries it out
	$(BIN)/python -m benchmarks $(ARGS)

.PHONY: bench-peers
bench-peers: $(BENCH_INSTALLED)  ## run other engines beside this one and write docs/reference/peers.md; ARGS="--events 100000"
	$(BIN)/python -m benchmarks.peers $(ARGS)

.PHONY: soak
soak: $(BENCH_INSTALLED)  ## let a stream run and write docs/reference/soak; ARGS="--minutes 30"
	$(BIN)/python -m benchmarks.soak $(ARGS)

# The base install, without Spark, must run the first example; the tests of this repository check the rest.
RELEASE := out/release
.PHONY: release
release:  ## build wheel and sdist into dist, and check both in a fresh environment
	@rm -rf dist $(RELEASE)
	@$(PYTHON) -m venv $(RELEASE)/build && $(RELEASE)/build/bin/pip install --quiet --disable-pip-version-check build twine
	@$(RELEASE)/build/bin/python -m build --outdir dist . >$(RELEASE)/build.log || { cat $(RELEASE)/build.log; exit 1; }
	@$(RELEASE)/build/bin/twine check --strict dist/*
	@$(PYTHON) -m venv $(RELEASE)/fresh
	@$(RELEASE)/fresh/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	@$(RELEASE)/fresh/bin/python -m tests.kit.release $(RELEASE)/fresh/bin/inkling
	@ls -l dist

.PHONY: clean
clean:  ## remove .venv, caches and results
	rm -rf $(VENV) out dist build .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "inkling needs Python 3.11 or newer: make PYTHON=/path/to/python3"; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV) || \
		{ rm -rf $(VENV); echo "$(PYTHON) has no venv module; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "installing into $(VENV), which takes a minute or two and 1.5 GB"
	@$(PIP_INSTALL) --editable '.[test,check,docs]'
	@$(BIN)/python -m inkling.spark.jvm.prepare & \
		$(BIN)/python -m inkling.cli.warm; warmed=$$?; wait $$! && exit $$warmed
	@touch $@

$(BENCH_INSTALLED): $(INSTALLED)
	@$(PIP_INSTALL) --editable '.[bench]'
	@touch $@
