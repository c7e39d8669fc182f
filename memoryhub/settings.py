"""The one settings file, read top to bottom. `.env.example` lists what an operator may set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from memoryhub import __version__
from memoryhub.env import env_bool, env_database, env_int, env_list, env_str, env_url
from memoryhub.logs import FORMATTERS
from memoryhub.secret_key import kept_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Where it runs -----------------------------------------------------------------

DEBUG = env_bool("DEBUG", default=False)

# What this hub keeps on disk: the SQLite file, the signing key, collected static files.
DATA_DIR = Path(env_str("MEMORYHUB_DATA", default=str(BASE_DIR / "data"))).expanduser().absolute()
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)

# The address people and agents use, for the lines that connect an agent.
PORT = env_int("PORT", default=8000, least=1, most=65535)
MEMORYHUB_URL = env_url("MEMORYHUB_URL", default=f"http://127.0.0.1:{PORT}")

# --- Database ----------------------------------------------------------------------

_postgresql = env_database("DATABASE_URL")

_SQLITE_ON_CONNECT = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA foreign_keys = ON;
    PRAGMA busy_timeout = 20000;
    PRAGMA cache_size = -20000;
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 268435456;
"""

DATABASES: dict[str, dict[str, Any]]
if _postgresql is None:
    DATABASES = {
        "default": {
            "ENGINE": "memoryhub.kernel.sqlite",
            "NAME": str(DATA_DIR / "memoryhub.sqlite3"),
            # Opening the file anew for every request costs more than most answers.
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "timeout": 20,
                "transaction_mode": "IMMEDIATE",
                "init_command": _SQLITE_ON_CONNECT,
            },
        }
    }
else:
    # One for each thread, and a few for what a worker does beside them.
    _threads = env_int("WEB_THREADS", default=16, least=1, most=256)
    _pool_max = env_int("DB_POOL_MAX", default=_threads + 4, least=1, most=500)
    # What each call asks is planned once a connection: a third off a search, a seventh off a write.
    # No answer is worth compiling its plan for: of a union of counts that alone takes longer than running it.
    # Rows are looked up by keys that are mostly in memory, or on disks that don't turn.
    _planned = "-c jit=off -c random_page_cost=1.1"
    _prepared = {"server_side_binding": True, "prepare_threshold": 5, "options": _planned}
    if not env_bool("DB_PREPARE", default=True):
        _prepared = {}
    # A call waits so long for a database that restarts. Tries to connect are begun anew after a few seconds:
    # left to themselves they come ever more seldom, and find a database minutes after it is back.
    _pool = {"min_size": min(2, _pool_max), "max_size": _pool_max, "timeout": 10, "reconnect_timeout": 5}
    DATABASES = {
        "default": {
            "ENGINE": "memoryhub.kernel.postgres",
            **_postgresql,
            # The pool keeps connections; Django refuses to keep them as well.
            "CONN_MAX_AGE": 0,
            # The pool looks before it lends: a restarted server is not met as an error.
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": {"pool": _pool, **_prepared, **_postgresql["OPTIONS"]},
        }
    }

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- The signing key ---------------------------------------------------------------

SECRET_KEY = env_str("SECRET_KEY")
if not SECRET_KEY:
    if _postgresql is not None and not DEBUG:
        # Several servers share one PostgreSQL: a key of each server's own would sign
        # people out at every other request.
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. With DATABASE_URL every server needs the same long random "
            "text in it, such as `openssl rand -base64 48` prints."
        )
    SECRET_KEY = kept_secret_key(DATA_DIR / "secret_key")

# --- The web -----------------------------------------------------------------------

# The machine's own names always: a container asks itself for its health.
ALLOWED_HOSTS = list(dict.fromkeys([*env_list("ALLOWED_HOSTS"), "localhost", "127.0.0.1", "[::1]"]))
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
CSRF_FAILURE_VIEW = "memoryhub.failing.csrf_failure"

# What a proxy says about a request is believed only where there is a proxy.
MEMORYHUB_BEHIND_PROXY = env_bool("MEMORYHUB_BEHIND_PROXY", default=False)
if MEMORYHUB_BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

MEMORYHUB_HTTPS = env_bool("MEMORYHUB_HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = MEMORYHUB_HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if MEMORYHUB_HTTPS else 0
# A load balancer asks from inside, without TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
# W005, W021: sub-domains and the browsers' preload list are the domain owner's to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# --- Limits ------------------------------------------------------------------------

# 100,000 characters of a memory's body can be 1.2 MB when escaped as JSON.
MAX_BODY_BYTES = 2 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
MEMORYHUB_CALLS_PER_MINUTE = env_int("MEMORYHUB_CALLS_PER_MINUTE", default=600, least=1, most=1_000_000)

# A snapshot is refused above these, once unpacked, however small its file is.
SNAPSHOT_MAX_BYTES = env_int("MEMORYHUB_SNAPSHOT_MAX_BYTES", default=4 * 1024**3, least=1024, most=1024**4)
# The longest entry that a hub writes has a body and its details: 2 MB when escaped.
SNAPSHOT_MAX_LINE_BYTES = 8 * 1024 * 1024

# With PostgreSQL several workers and servers answer: what they allow in a minute they count together, in the
# database. SQLite is served by one process, which counts for itself.
LIMITS_SHARED = _postgresql is not None

# How long the record of calls goes back, and how many of people and their agents it holds at most. A tenth
# as many of nobody known are kept beside them.
MEMORYHUB_CALLS_KEPT_DAYS = env_int("MEMORYHUB_CALLS_KEPT_DAYS", default=30, least=1, most=3650)
MEMORYHUB_CALLS_KEPT = env_int("MEMORYHUB_CALLS_KEPT", default=500_000, least=1000, most=100_000_000)
# A thread of each worker writes them. Tests write them themselves.
CALLS_KEPT_IN_BACKGROUND = True

# What one upload may have. It is kept on disk until it is imported or a day has passed.
IMPORT_MAX_BYTES = env_int("MEMORYHUB_IMPORT_MAX_BYTES", default=100 * 1024 * 1024, least=1024, most=1024**4)
UPLOADS_DIR = DATA_DIR / "uploads"
# A thread of the server does what takes long. Tests wait for it.
IMPORTS_IN_BACKGROUND = True

# The folder of pg_dump, pg_restore and psql, where they aren't on the PATH.
PG_BIN = env_str("MEMORYHUB_PG_BIN")

# --- The application ---------------------------------------------------------------

ROOT_URLCONF = "memoryhub.urls"
WSGI_APPLICATION = "memoryhub.wsgi.application"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "django_filters",
    "memoryhub",
    "projects",
    "memories",
    "tasks",
    "hygiene",
    "memoryhub.exchange",
]

MIDDLEWARE = [
    "memoryhub.request_log.RequestLogMiddleware",
    # What adds headers stands outside of whatever answers by itself.
    "memoryhub.kernel.middleware.HeadersMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "projects.calls.middleware.CallsMiddleware",
    "memoryhub.kernel.middleware.BodyLimitMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "projects.middleware.TimeZoneMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memoryhub.kernel.middleware.DomainErrorMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "projects.context.shell",
            ],
        },
    }
]

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- The REST door -----------------------------------------------------------------

# REST framework reads requests and finds the method; what is allowed, refused and answered is ours. It has
# no pages here, so it is no installed app.
_REST, _SIGN_IN = "memoryhub.kernel.rest", "projects.rest_signing_in"
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [f"{_SIGN_IN}.TokenSignIn", f"{_SIGN_IN}.BrowserSignIn"],
    "DEFAULT_PERMISSION_CLASSES": [f"{_SIGN_IN}.SignedIn"],
    "DEFAULT_PARSER_CLASSES": [f"{_REST}.reading.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": [f"{_REST}.answering.JsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": f"{_REST}.answering.Negotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": f"{_REST}.documenting.EndpointSchema",
    "EXCEPTION_HANDLER": f"{_REST}.answering.on_exception",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "MemoryHub",
    "DESCRIPTION": "The shared memory of software projects: what agents do over MCP, for scripts.",
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
}

# --- Accounts ----------------------------------------------------------------------

AUTH_USER_MODEL = "projects.User"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "projects:sign_in"
LOGIN_REDIRECT_URL = "projects:home"

# --- Language and time -------------------------------------------------------------

LANGUAGE_CODE = "en"
# English only, with ISO dates.
USE_I18N = False
FORMAT_MODULE_PATH = "memoryhub.formats"
USE_TZ = True
TIME_ZONE = "UTC"

# --- Static files ------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Pages of other sites have no use for them.
WHITENOISE_ALLOW_ALL_ORIGINS = False
_STATIC_STORAGE = (
    # With DEBUG files come straight from the checkout, under their plain names.
    "django.contrib.staticfiles.storage.StaticFilesStorage"
    if DEBUG
    else "whitenoise.storage.CompressedManifestStaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _STATIC_STORAGE},
}

# --- Logging -----------------------------------------------------------------------

_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_LOG_FORMAT = env_str("LOG_FORMAT", default="text", choices=("text", "json"))
# Where logs are collected, each request has a line of its own.
LOG_REQUESTS = _LOG_FORMAT == "json"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": FORMATTERS,
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": _LOG_FORMAT}},
    "root": {
        "handlers": ["console"],
        "level": env_str("MEMORYHUB_LOG_LEVEL", default="INFO", choices=_LOG_LEVELS),
    },
    "loggers": {
        # Django's own handlers off: everything goes through the one above.
        "django": {"handlers": [], "propagate": True},
        # Its warnings of refusals say less than the lines of requests.
        "django.request": {"level": "ERROR" if LOG_REQUESTS else "NOTSET"},
        # Warns of every HEAD request: Django leaves cutting the body to the server.
        "gunicorn.http.wsgi": {"level": "ERROR"},
        # One line a call at INFO, and the server is stateless: nothing to tell.
        "mcp.server.streamable_http_manager": {"level": "WARNING"},
        "mcp.server.streamable_http": {"level": "WARNING"},
        "mcp.server.lowlevel.server": {"level": "WARNING"},
    },
}
