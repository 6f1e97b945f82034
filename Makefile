# The front door for chores, in the environment that is active. Each stands in .ci/chore; `make ci` is what CI runs.
.PHONY: all lint types tests coverage wheel reference bench ci clean

all: lint types tests

lint types tests coverage wheel reference bench:
	@.ci/chore $@

ci:
	@.ci/run

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache bench/results
