"""The environment: what is read, what is refused, and what each refusal says."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryhub.env import env_bool, env_database, env_int, env_list, env_str, env_url
from memoryhub.secret_key import kept_secret_key

ROOT = Path(__file__).resolve().parent.parent
POSTGRES = "postgres://hub:pass@db.example.com:5433/memories"


@pytest.fixture
def refused(monkeypatch):
    """Reads NAME with a value that must be refused, and gives back the sentence."""

    def read(reader: Any, value: str, **options: Any) -> str:
        monkeypatch.setenv("NAME", value)
        with pytest.raises(ImproperlyConfigured) as refusal:
            reader("NAME", **options)
        return str(refusal.value)

    return read


# --- The readers -------------------------------------------------------------------


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_value_counts_as_absent(monkeypatch, value):
    monkeypatch.setenv("NAME", value)

    assert env_str("NAME", default="x") == "x"
    assert env_bool("NAME", default=True) is True
    assert env_int("NAME", default=7, least=1, most=9) == 7
    assert env_list("NAME", default=("a", "b")) == ["a", "b"]
    assert env_url("NAME", default="http://localhost") == "http://localhost"
    assert env_database("NAME") is None


def test_an_absent_value_is_the_default(monkeypatch):
    monkeypatch.delenv("NAME", raising=False)

    assert env_str("NAME") == ""
    assert env_bool("NAME", default=False) is False
    assert env_list("NAME") == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [("true", True), ("True", True), ("1", True), (" false ", False), ("FALSE", False), ("0", False)],
)
def test_a_yes_or_no_is_true_or_false(monkeypatch, value, expected):
    monkeypatch.setenv("NAME", value)

    assert env_bool("NAME", default=not expected) is expected


@pytest.mark.parametrize("value", ["yes", "no", "on", "2", "truee"])
def test_other_yes_and_no_is_refused(refused, value):
    assert refused(env_bool, value, default=False) == f"NAME={value!r}: use 'true' or 'false'."


@pytest.mark.parametrize(("value", "expected"), [("1", 1), (" 8000 ", 8000), ("-5", -5), ("007", 7)])
def test_a_whole_number_is_read(monkeypatch, value, expected):
    monkeypatch.setenv("NAME", value)

    assert env_int("NAME", default=0, least=-5, most=8000) == expected


@pytest.mark.parametrize("value", ["0", "65536", "80.5", "1e3", "8_000", "٣", "--5", "-", "eighty", "0x50"])
def test_other_numbers_are_refused(refused, value):
    sentence = refused(env_int, value, default=1, least=1, most=65535)

    assert sentence == f"NAME={value!r}: use a whole number from 1 to 65535."


def test_a_word_is_one_of_the_choices(refused):
    sentence = refused(env_str, "LOUD", choices=("INFO", "ERROR"))

    assert sentence == "NAME='LOUD': use one of INFO, ERROR."


def test_a_list_is_split_at_commas(monkeypatch):
    monkeypatch.setenv("NAME", "a.example.com, b.example.com")

    assert env_list("NAME") == ["a.example.com", "b.example.com"]


@pytest.mark.parametrize("value", [",", "a,,b", "a,"])
def test_a_list_with_a_hole_is_refused(refused, value):
    assert "one comma between" in refused(env_list, value)


def test_an_address_loses_its_last_slash(monkeypatch):
    monkeypatch.setenv("NAME", "https://hub.example.com/")

    assert env_url("NAME", default="") == "https://hub.example.com"


@pytest.mark.parametrize(
    "value",
    [
        "hub.example.com",
        "ftp://hub.example.com",
        "https://",
        "https://a b",
        "https://hub:0",
        "https://hub:99999",
        "https://hub/?a=1",
        "https://hub/#a",
        "https://me:pass@hub",
        "https://[::1",
    ],
)
def test_what_is_no_address_is_refused(refused, value):
    assert "use an address like" in refused(env_url, value, default="")


# --- DATABASE_URL ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgres://hub:pass@db.example.com:5433/memories?sslmode=require",
            ("memories", "hub", "pass", "db.example.com", "5433", {"sslmode": "require"}),
        ),
        ("postgresql://hub@db/memories", ("memories", "hub", "", "db", "", {})),
        ("postgres://u%40x:p%2F%23%3A%3F@[::1]/m%20h", ("m h", "u@x", "p/#:?", "::1", "", {})),
        ("postgres:///memories", ("memories", "", "", "", "", {})),
        (
            "postgresql://postgres:@/postgres?host=/srv/Some%20Folder",
            ("postgres", "postgres", "", "/srv/Some Folder", "", {}),
        ),
        (
            "postgres://hub@db/m?connect_timeout=5&application_name=hub",
            ("m", "hub", "", "db", "", {"connect_timeout": "5", "application_name": "hub"}),
        ),
    ],
)
def test_a_database_url_is_taken_apart(monkeypatch, url, expected):
    monkeypatch.setenv("NAME", url)

    assert env_database("NAME") == dict(
        zip(("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS"), expected, strict=True)
    )


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("mysql://hub:hunter2@db/m", "'mysql' is not a database"),
        ("sqlite:///hunter2.sqlite3", "'sqlite' is not a database"),
        ("hunter2", "'no scheme' is not a database"),
        ("postgres://hub:hunter2@db", "name of one database"),
        ("postgres://hub:hunter2@db/", "name of one database"),
        ("postgres://hub:hunter2@db/a/b", "name of one database"),
        ("postgres://hub:hunter2@db:port/m", "host or port"),
        ("postgres://hub:hunter2@db:0/m", "host or port"),
        ("postgres://hub:hunter2@db:70000/m", "host or port"),
        ("postgres://hub:hunter/2@db/m", "host or port"),
        ("postgres://hub:hunter2@[::1/m", "host or port"),
        ("postgres://hub:hunter2@db/m#x", "'%23'"),
        ("postgres://hub:hunter2@db/m?host=/run", "host twice"),
        ("postgres://hub:hunter2@%2Frun/m", "?host=/folder"),
        ("postgres://hub:hunter2@db/m?sslmode=maybe", "sslmode must be one of"),
        ("postgres://hub:hunter2@db/m?sslmode", "key=value"),
        ("postgres://hub:hunter2@db/m?sslmode=", "empty or there twice"),
        ("postgres://hub:hunter2@db/m?sslmode=allow&sslmode=require", "empty or there twice"),
        ("postgres://hub:hunter2@db/m?pool=9", "'pool' is none of"),
    ],
)
def test_a_bad_database_url_is_refused_without_telling_the_password(refused, url, problem):
    sentence = refused(env_database, url)

    assert problem in sentence
    assert "Use postgres://user:password@host:port/name" in sentence
    assert "hunter" not in sentence


# --- The signing key ---------------------------------------------------------------


def test_the_signing_key_is_made_once_for_its_owner_alone(tmp_path):
    path = tmp_path / "secret_key"

    key = kept_secret_key(path)

    assert len(key) >= 50
    assert kept_secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_starting_many_at_once_makes_one_signing_key(tmp_path):
    paths = [tmp_path / "secret_key"] * 32

    with ThreadPoolExecutor(32) as threads:
        assert len(set(threads.map(kept_secret_key, paths))) == 1

    assert list(tmp_path.iterdir()) == paths[:1]


def test_losing_the_race_takes_the_winners_key(tmp_path):
    path = tmp_path / "secret_key"
    path.write_text("the winner's")

    with patch.object(Path, "exists", return_value=False):
        assert kept_secret_key(path) == "the winner's"


def test_an_empty_signing_key_is_refused(tmp_path):
    path = tmp_path / "secret_key"
    path.touch()

    with pytest.raises(ImproperlyConfigured, match="is empty"):
        kept_secret_key(path)


# --- The settings, in a process of their own ----------------------------------------


def load(tmp_path: Path, names: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Import the settings under `environment` and nothing else; print `names` as JSON."""
    script = f"import json, memoryhub.settings as s; print(json.dumps([{names}], default=str))"
    base = {"PATH": os.environ["PATH"], "MEMORYHUB_DATA": str(tmp_path / "data")}
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=base | environment,
        text=True,
        capture_output=True,
        check=False,
    )


def value_of(tmp_path: Path, names: str, **environment: str) -> list[Any]:
    done = load(tmp_path, names, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_with_nothing_set_the_hub_runs_on_sqlite_for_itself_alone(tmp_path):
    database, debug, hosts, key, secure = value_of(
        tmp_path,
        "s.DATABASES['default'], s.DEBUG, s.ALLOWED_HOSTS, s.SECRET_KEY, s.SESSION_COOKIE_SECURE",
    )

    assert database["ENGINE"] == "memoryhub.kernel.sqlite"
    assert database["NAME"] == str(tmp_path / "data" / "memoryhub.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert debug is False
    assert hosts == ["localhost", "127.0.0.1", "[::1]"]
    assert key == (tmp_path / "data" / "secret_key").read_text()
    assert secure is False
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_on_postgresql_without_a_secret_key_the_start_is_refused(tmp_path):
    done = load(tmp_path, "1", DATABASE_URL=POSTGRES)

    assert done.returncode != 0
    assert "SECRET_KEY is not set" in done.stderr
    assert "openssl rand" in done.stderr


def test_on_postgresql_debug_makes_a_key_of_its_own(tmp_path):
    [key] = value_of(tmp_path, "s.SECRET_KEY", DATABASE_URL=POSTGRES, DEBUG="true")

    assert key == (tmp_path / "data" / "secret_key").read_text()


def test_a_given_secret_key_is_used_and_none_is_kept(tmp_path):
    [key] = value_of(tmp_path, "s.SECRET_KEY", SECRET_KEY="given")

    assert key == "given"
    assert not (tmp_path / "data" / "secret_key").exists()


def test_postgresql_is_pooled(tmp_path):
    [database] = value_of(
        tmp_path,
        "s.DATABASES['default']",
        DATABASE_URL=POSTGRES + "?sslmode=require",
        SECRET_KEY="given",
        DB_POOL_MAX="1",
    )

    assert database["ENGINE"] == "memoryhub.kernel.postgres"
    assert (database["HOST"], database["PORT"]) == ("db.example.com", "5433")
    assert database["CONN_MAX_AGE"] == 0
    assert database["OPTIONS"] == {
        "pool": {"min_size": 1, "max_size": 1, "timeout": 10, "reconnect_timeout": 5},
        "server_side_binding": True,
        "prepare_threshold": 5,
        "options": "-c jit=off -c random_page_cost=1.1",
        "sslmode": "require",
    }


def test_postgresql_prepares_nothing_behind_a_pooler_that_can_not(tmp_path):
    [options] = value_of(
        tmp_path,
        "s.DATABASES['default']['OPTIONS']",
        DATABASE_URL=POSTGRES,
        SECRET_KEY="given",
        DB_PREPARE="false",
    )

    assert set(options) == {"pool"}


@pytest.mark.parametrize(("behind", "expected"), [("true", True), ("false", False)])
def test_a_proxy_is_believed_only_where_there_is_one(tmp_path, behind, expected):
    [believed] = value_of(tmp_path, "hasattr(s, 'SECURE_PROXY_SSL_HEADER')", MEMORYHUB_BEHIND_PROXY=behind)

    assert believed is expected


def test_https_makes_cookies_secure(tmp_path):
    values = value_of(
        tmp_path,
        "s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SECURE_SSL_REDIRECT, s.SECURE_HSTS_SECONDS > 0",
        MEMORYHUB_HTTPS="true",
    )

    assert all(values)


def test_nonsense_stops_the_start(tmp_path):
    done = load(tmp_path, "1", DEBUG="yes")

    assert done.returncode != 0
    assert "DEBUG='yes': use 'true' or 'false'." in done.stderr


def test_sqlite_is_served_by_one_process():
    conf = "runpy.run_path('memoryhub/gunicorn.conf.py')"

    def workers(**environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", f"import runpy; print({conf}['workers'])"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)} | environment,
            text=True,
            capture_output=True,
            check=False,
        )

    assert workers().stdout == "1\n"
    assert workers(DATABASE_URL=POSTGRES).stdout == "2\n"
    assert workers(DATABASE_URL=POSTGRES, WEB_WORKERS="4").stdout == "4\n"
    assert "SQLite is served by one process" in workers(WEB_WORKERS="2").stderr


def test_every_setting_is_in_the_example():
    sources = [
        ROOT / "memoryhub" / name for name in ("settings.py", "gunicorn.conf.py", "serving.py", "run.py")
    ]
    read = {
        name
        for source in sources
        for name in re.findall(r"""\benv_\w+\(\s*['"]([A-Z_]+)['"]""", source.read_text())
    }
    listed = set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    assert read
    assert listed == read
