"""No migration stops a hub that serves: its SQL is read for what blocks or rewrites a table on PostgreSQL.

Old code goes on answering while new tables and columns are made, so nothing that it uses may vanish either.
How it is done instead stands in docs/howto/upgrade.md.
"""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader

# Made before anybody had a store to upgrade.
SETTLED = {
    *(f"{app}.0001_initial" for app in ("projects", "memories", "tasks", "hygiene")),
    "memories.0002_search_index",
    "memories.0003_summary_key",
    "memories.0004_summary_keys_filled",
    "memories.0005_reviews",
    "memories.0006_commit_reports",
    "memories.0007_review_brought",
    "memories.0008_commits_by_path",
    "exchange.0001_conflicts",
    "tasks.0002_checkpoint_sections",
    "tasks.0003_checkpoint_losses",
    "tasks.0004_erased_at",
    "tasks.0005_searched",
}
# How to add one: its name, and why nobody waits for it, after looking at its SQL.
LOOKED_AT = {
    "memories.0012_search_scored": "it makes an index of hardly any rows, concurrently",
    "memories.0013_search_weighed": "it makes a function",
    "projects.0003_tallies": "its Python makes the table that it has just made unlogged",
}

_TABLE = r'"?(?P<table>\w+)"?'
_MADE = re.compile(rf"^CREATE TABLE (?:IF NOT EXISTS )?{_TABLE}", re.IGNORECASE)
# What it does to a table that is there already. Each with what to do instead.
RULES: tuple[tuple[str, str], ...] = (
    (
        rf"^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).*? ON {_TABLE}",
        "no write passes while the index is built: use AddIndexServing, in a migration of its own",
    ),
    (
        rf"^ALTER TABLE {_TABLE} .*ADD CONSTRAINT (?!.*NOT VALID).*(?:CHECK|FOREIGN KEY|UNIQUE|EXCLUDE)",
        "the table is read under a lock: AddConstraintNotValid, then ValidateConstraint in the next one",
    ),
    (
        rf"^ALTER TABLE {_TABLE} .*ADD COLUMN (?=.*NOT NULL)(?!.*DEFAULT)",
        "what is inserted by old code has no value for it: give it a db_default, or allow null",
    ),
    (
        rf"^ALTER TABLE {_TABLE} .*ADD COLUMN .*DEFAULT .*"
        r"(?:random|clock_timestamp|gen_random_uuid|nextval)\(",
        "each row gets a value of its own, and the table is written anew: fill it later, in batches",
    ),
    (
        rf"^ALTER TABLE {_TABLE} .*ALTER COLUMN .*(?:TYPE|SET NOT NULL)",
        "the table is read or written anew under a lock: a new column, or a constraint validated later",
    ),
    (
        rf"^ALTER TABLE {_TABLE} .*ALTER COLUMN .*DROP DEFAULT",
        "what old code inserts has no value for it any more: keep it with db_default",
    ),
    (
        rf"^(?:ALTER TABLE {_TABLE} .*(?:DROP COLUMN|RENAME )"
        r"|DROP TABLE (?:IF EXISTS )?\"?(?P<other>\w+)\"?)",
        "old code still asks for it: stop using it in one release, drop it in the next",
    ),
    (
        rf"^(?:LOCK TABLE|CLUSTER|VACUUM FULL|REINDEX|ALTER TABLE {_TABLE} SET (?:UN)?LOGGED)",
        "the whole table waits",
    ),
    (
        r"^-- (?:THIS OPERATION CANNOT|Raw Python)",
        "Python isn't read here: look at it, then say so in LOOKED_AT",
    ),
)


def objections(statements: list[str]) -> list[str]:
    """What stands against running these on a hub that serves."""
    made: set[str] = set()
    found = []
    for statement in statements:
        sql = " ".join(statement.split())
        if creates := _MADE.match(sql):
            made.add(creates["table"])
            continue
        for pattern, why in RULES:
            if match := re.match(pattern, sql, re.IGNORECASE):
                names = match.groupdict()
                if (names.get("table") or names.get("other")) not in made:
                    found.append(f"{sql[:120]}: {why}")
                break
    return found


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer, and small tables")
@pytest.mark.django_db
def test_no_new_migration_stops_a_hub_that_serves() -> None:
    loader = MigrationLoader(connection)
    ours = {config.label for config in apps.get_app_configs() if "site-packages" not in config.path}
    wrong = {}
    for (app, name), migration in sorted(loader.disk_migrations.items()):
        label = f"{app}.{name}"
        if app in ours and label not in SETTLED | LOOKED_AT.keys():
            found = objections(loader.collect_sql([(migration, False)]))
            if found:
                wrong[label] = found
    assert not wrong, f"Do it as docs/howto/upgrade.md says, or say in LOOKED_AT why nobody waits: {wrong}"


def test_what_is_looked_at_is_there() -> None:
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    gone = (SETTLED | LOOKED_AT.keys()) - known
    assert not gone, f"There are no such migrations any more: {gone}."


@pytest.mark.parametrize(
    "sql",
    [
        'CREATE INDEX "a" ON "memories_memory" ("title");',
        'CREATE UNIQUE INDEX "a" ON "memories_memory" ("title");',
        'ALTER TABLE "memories_memory" ADD CONSTRAINT "a" CHECK (1 = 1);',
        'ALTER TABLE "memories_memory" ADD CONSTRAINT "a" FOREIGN KEY ("x") REFERENCES "y" ("id");',
        'ALTER TABLE "memories_memory" ADD COLUMN "x" integer NOT NULL;',
        'ALTER TABLE "memories_memory" ADD COLUMN "x" uuid DEFAULT gen_random_uuid() NOT NULL;',
        'ALTER TABLE "memories_memory" ALTER COLUMN "x" TYPE bigint USING "x"::bigint;',
        'ALTER TABLE "memories_memory" ALTER COLUMN "x" SET NOT NULL;',
        'ALTER TABLE "memories_memory" ALTER COLUMN "x" DROP DEFAULT;',
        'ALTER TABLE "memories_memory" DROP COLUMN "x" CASCADE;',
        'ALTER TABLE "memories_memory" RENAME COLUMN "x" TO "y";',
        'DROP TABLE "memories_memory" CASCADE;',
        'ALTER TABLE "memories_memory" SET UNLOGGED',
        "-- THIS OPERATION CANNOT BE WRITTEN AS SQL",
    ],
)
def test_what_stops_a_hub_is_found(sql: str) -> None:
    assert len(objections([sql])) == 1


def test_what_nobody_waits_for_passes() -> None:
    assert not objections(
        [
            "--\n-- Create model Call\n--",
            'CREATE TABLE "new" ("id" bigint NOT NULL PRIMARY KEY);',
            'CREATE INDEX "a" ON "new" ("id");',
            'ALTER TABLE "new" ADD CONSTRAINT "b" FOREIGN KEY ("x") REFERENCES "y" ("id") DEFERRABLE;',
            'CREATE INDEX CONCURRENTLY "a" ON "memories_memory" ("title");',
            'ALTER TABLE "memories_memory" ADD COLUMN "x" integer NULL;',
            'ALTER TABLE "memories_memory" ADD COLUMN "x" varchar(9) DEFAULT \'\' NOT NULL;',
            'ALTER TABLE "memories_memory" ADD CONSTRAINT "a" CHECK (1 = 1) NOT VALID;',
            'ALTER TABLE "memories_memory" VALIDATE CONSTRAINT "a";',
        ]
    )
