# The commands of MemoryHub. Each works as the first one after a clone: they all set up first.

V := .venv
PY := $(V)/bin/python

# Newest first, and only one that really runs: a pyenv shim may exist and fail. What
# PATH names goes before what pyenv merely has. Debian's python3 may lack ensurepip.
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3 \
		$$(ls -d $$HOME/.pyenv/versions/3.1[1-9]*/bin/python3 2>/dev/null | sort -rV) /usr/bin/python3; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
		&& { echo "$$p"; break; }; done)

# The checks run on a store and a key of their own, thrown away with the environment.
CHECK_ENV := env -u DATABASE_URL -u DEBUG SECRET_KEY=for-the-checks-alone MEMORYHUB_DATA=$(V)/check
# What a team's production looks like, as far as settings go. Nothing connects to it.
DEPLOY_ENV := env -u DEBUG MEMORYHUB_DATA=$(V)/check ALLOWED_HOSTS=hub.example.com \
	MEMORYHUB_HTTPS=true MEMORYHUB_BEHIND_PROXY=true DATABASE_URL=postgres://hub@db.example.com/hub

# The stamp says nothing when the interpreter it was set up with is gone.
$(shell $(PY) -c '' 2>/dev/null || rm -f $(V)/.ok)

.PHONY: setup run test test-sqlite test-postgres e2e pictures check audit format bench soak
.DEFAULT_GOAL := setup

setup: $(V)/.ok

# A working environment is kept and completed; a broken one is made anew.
$(V)/.ok: pyproject.toml constraints.txt
	@$(PY) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		test -n "$(PYTHON)" || { echo "MemoryHub needs Python 3.11 or newer with venv (Debian: apt install python3-venv)."; exit 1; }; \
		echo "Setting up with $(PYTHON)"; \
		$(PYTHON) -m venv --clear $(V); }
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

run: setup
	@exec $(PY) -m memoryhub.run

# Both engines always run, side by side, so that one failure doesn't hide another.
test: setup
	@$(PY) -m tests.both $(ARGS)

test-sqlite test-postgres: test-%: setup
	@TEST_ENGINE=$* $(PY) -m pytest -q $(ARGS)

# pytest says 5 for "no tests": none yet is no failure here.
e2e: setup
	@$(PY) -m pytest -q -m e2e $(or $(wildcard tests/e2e),tests) $(ARGS) || test $$? -eq 5

# The README's pictures, from a new demo. ARGS="--all FOLDER" takes every page, to be looked at.
pictures: setup
	@$(PY) -m tests.e2e.pictures $(ARGS)

# The tests marked `slow`, at ten times the counts that `make test` runs them with, with what they counted; then
# all of what that takes samples of. Takes over an hour: kills at random moments, a crowd for a minute, long lists.
soak: setup
	@failed=; \
	run() { TEST_ENGINE=$$engine TEST_SCALE=10 $(PY) -m pytest -q "$$@ and not e2e and not contract" $(ARGS) || test $$? -eq 5 || failed=1; }; \
	for engine in sqlite postgres; do \
		run -rP -m "slow"; \
		run -m "(once or sweep) and not slow"; \
	done; \
	test -z "$$failed"

check: setup
	$(V)/bin/ruff format --check .
	$(V)/bin/ruff check .
	$(CHECK_ENV) $(V)/bin/mypy
	cd static/clients && $(abspath $(V))/bin/mypy --config-file= --python-version 3.10 --disallow-untyped-defs -p connect
	$(V)/bin/lint-imports
	$(CHECK_ENV) $(PY) manage.py makemigrations --check --dry-run
	@SECRET_KEY="$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))')" \
		$(DEPLOY_ENV) $(PY) manage.py check --deploy --fail-level WARNING
	@test ! -d templates || $(V)/bin/djhtml --check templates
	$(PY) -m pytest -q -m contract tests/contract

# Known weaknesses of the pinned libraries. Asks the network, so it is no part of `check`. Strict: a library
# that nothing could be learnt of fails, or an index that knows of no weaknesses would look like a good answer.
audit: setup
	@test -x $(V)/audit/bin/pip-audit || { $(PY) -m venv $(V)/audit && $(V)/audit/bin/pip install --quiet pip-audit; }
	$(V)/audit/bin/pip-audit --strict --requirement constraints.txt --no-deps --disable-pip

format: setup
	$(V)/bin/ruff format .
	$(V)/bin/ruff check --fix .
	@test ! -d templates || $(V)/bin/djhtml templates

bench: setup
	@$(PY) -m bench $(ARGS)
