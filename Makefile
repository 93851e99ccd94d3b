# The commands of this repository. `make demo`, `make test` and `make check` need nothing prepared but Python and Java.
SHELL := /bin/sh
PYTHON ?= python3
WORKERS ?= 3
TESTS ?=
FUNCTIONS ?=
FUZZ ?=
ROUNDS ?= 5
PEER ?=
MINUTES ?= 10
FACTOR ?= 1
ENGINES ?= datafusion datafusion-plain acero spark
ONLY ?=
PYTHONS ?= 3.10 3.11 3.12 3.13
VERSIONS ?= 3.5.9 4.0.5 4.1.4 4.2.1 4.3.0
LAKES ?= 3.5.9 4.0.5 4.1.4

# The tests start many Pythons, which would each compile the same modules.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz bench scale execution measure queries check format smoke compiled matrix classes lakes floors docs support page specification clean require

help: ## Show these commands.
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile

demo: $(INSTALLED) ## Export a Spark query, run its plan in DataFusion, and compare the rows.
	@$(BIN)/python examples/demo.py

test: $(INSTALLED) ## Run tests without Spark, and one in ten of the others (TESTS=--slow for all, --quick for none of these, or a path; WORKERS=processes).
	@$(BIN)/python -m pytest -n $(WORKERS) $(or $(TESTS),--part 1/10)

fuzz: $(INSTALLED) ## Run random queries until interrupted (FUZZ="--queries 1000 --seed 7").
	@PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

bench: $(INSTALLED) ## Measure conversion beside Spark's planning, and write docs/benchmark.md (ROUNDS=5), beside substrait-java (PEER=folder of its archives), or with compiled modules (COMPILED=yes).
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
ifdef COMPILED
	@SUBSTRAIT_SPARK_OPT_LEVEL=2 SEARCHED=:scripts:examples:tests COMMAND="-m benchmark --compiled" OPTIONS="--rounds $(ROUNDS)" scripts/compiled
	@cp build/compiled/docs/measurements/compiled.json docs/measurements/
	@PYTHONPATH=scripts:examples:tests $(BIN)/python -m benchmark --page-only
else
	@PYTHONPATH=scripts:examples:tests $(BIN)/python -m benchmark --rounds $(ROUNDS) $(if $(PEER),--peer "$(PEER)")
endif

scale: $(INSTALLED) ## Measure the largest queries, and conversions in threads for MINUTES=10; write them to docs/benchmark.md.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	@PYTHONPATH=scripts:examples:tests $(BIN)/python -m benchmark --scale $(MINUTES)

execution: $(INSTALLED) ## Measure plans in DataFusion on 5 million rows and TPC-H (FACTOR=1), and write docs/reference/what-exactness-costs.md.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	@PYTHONPATH=scripts:examples:tests $(BIN)/python -m benchmark --rounds $(ROUNDS) --execution $(FACTOR)
	@PYTHONPATH=scripts:examples:tests $(BIN)/python -m benchmark --rounds $(ROUNDS) --other-functions

measure: $(INSTALLED) ## Measure engines by what is recorded of Spark (ENGINES="datafusion acero"; ONLY=how names of cases begin), into build/measured.
	@for engine in $(ENGINES); do $(BIN)/python -m substrait_spark measure $$engine -o build/measured/$$engine --only "$(ONLY)" || exit 1; done

queries: $(INSTALLED) ## Run TPC-H and TPC-DS on engines (some minutes; ENGINES="datafusion acero"), and write docs/reference/engines.md.
	@PYTHONPATH=tests:examples $(BIN)/python scripts/measure_queries.py $(ENGINES)

check: $(INSTALLED) ## Check format, lint and types.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

format: $(INSTALLED) ## Format the code, and mend what the linter can.
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

smoke: require ## Run the smoke tests on the oldest supported Spark version, in an environment of its own.
	@PYTHON="$(PYTHON)" OPTIONS="-m smoke $(TESTS)" scripts/matrix $(firstword $(VERSIONS))

compiled: $(INSTALLED) ## Compile the modules that conversions spend their time in (minutes; a C compiler), and run tests with these (TESTS).
	@OPTIONS="-n $(WORKERS) $(or $(TESTS),--quick)" scripts/compiled

matrix: require ## Run all that uses Spark on every version (hours; VERSIONS, TESTS), and write docs/spark-versions.md.
	@PYTHON="$(PYTHON)" OPTIONS="-n $(WORKERS) --slow --verdicts=docs/measurements/versions $(TESTS)" scripts/matrix $(VERSIONS); \
	    status=$$?; "$(PYTHON)" scripts/write_versions_page.py && exit $$status

classes: require ## Keep the class files of the reader as each version of Spark compiles it (VERSIONS), after a change of PlanReader.java.
	@PYTHON="$(PYTHON)" COMMAND=scripts/keep_classes.py scripts/matrix $(VERSIONS)

lakes: require ## Run the tests of Iceberg's and Delta's tables, with their archives from Maven (LAKES=versions of Spark).
	@PYTHON="$(PYTHON)" OPTIONS="$(TESTS)" scripts/lakes $(LAKES)

floors: require ## Use everything once with the oldest dependencies that are allowed, on each Python that is here.
	@PYTHON="$(PYTHON)" scripts/floors $(PYTHONS)

docs: $(INSTALLED) ## Build the documentation into build/site; broken links fail.
	@NO_COLOR=1 $(BIN)/zensical build --clean --strict
	@echo "The documentation is in build/site/index.html."

support: $(INSTALLED) ## Measure anew what is supported of all functions (some minutes) or of FUNCTIONS='a b', and write the page.
	@PYTHONPATH=tests $(BIN)/python scripts/measure_functions.py $(FUNCTIONS)
	@$(MAKE) --no-print-directory page

page: $(INSTALLED) ## Write the page on what is supported, from what was measured and the tests' verdicts.
	@PYTHONPATH=tests $(BIN)/python scripts/write_support_page.py

specification: $(INSTALLED) ## Write the page on the specification, item by item.
	@PYTHONPATH=tests:scripts $(BIN)/python scripts/write_specification_page.py

clean: ## Remove the environments and everything generated.
	rm -rf $(VENV) .venv-spark-* .venv-floors-* .venv-uv build dist data .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

require:
	@scripts/require_python "$(PYTHON)"
	@scripts/require_java

# Order-only, so that the requirements are checked each time without reinstalling.
$(INSTALLED): pyproject.toml | require
	@echo "Installing into $(VENV) (a few minutes the first time) …"
	@"$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli,connect,datafusion,testing]' --group dev
	@touch $(INSTALLED)
