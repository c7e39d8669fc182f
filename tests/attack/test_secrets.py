"""More of what the secret scan refuses, and of what it must not take for a secret, as people paste it.

What stands in tests/kernel goes by shapes; here it is lines of settings, lock files, code and addresses.
"""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from memoryhub.kernel.secret_scan import find_secret
from tests.kernel.test_secret_scan import ALNUM, HEX, LOGIN, PEM, UPPER, URLSAFE, fill, some, some_uuid
from tests.test_reference import ROOT


def coded(count: int) -> str:
    """So many bytes by chance, in base64."""
    return base64.b64encode(some(ALNUM, count).encode()).decode()


# In two pieces, so that no scanner takes this file for one that has them.
SECRETS = {
    "discord, as made today": "M" + "Tk4NjIyNDgzNDcxOTI1MjQ4." + some(URLSAFE, 6) + "." + some(ALNUM, 38),
    "hubspot": "pa" + "t-na1-" + some_uuid(),
    "mapbox": "s" + "k.eyJ" + some(ALNUM, 60) + "." + some(URLSAFE, 22),
    "launchdarkly": "sd" + "k-" + some_uuid(),
    "plaid": "acce" + "ss-production-" + some_uuid(),
    "aws mws": "amzn" + ".mws." + some_uuid(),
    "asana": "1" + "/1200000000000000:" + some(HEX, 32),
    "clickup": "p" + "k_1234567_" + some(UPPER, 32),
    "neon": "nap" + "i_" + some("abcdefghijklmnopqrstuvwxyz0123456789", 64),
    "dropbox": "s" + "l." + some(URLSAFE, 135),
    "a key in kubernetes": "client-key-data: "
    + base64.b64encode((PEM + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + some(ALNUM, 60)).encode()).decode(),
    "docker": '{"auths": {"https://index.docker.io/v1/": {"au' + 'th": "' + LOGIN + '"}}}',
    "netrc": "machine api.example.org login ada pass" + "word Tr0ub4" + "dor3",
    "netrc in lines": "machine api.example.org\n  login ada\n  pass" + "word Tr0ub4" + "dor3",
    "datadog": "DD_APPLICATION_" + "KEY=" + some(HEX, 40),
    "jdbc": "jdbc:postgresql://db/app?user=ada&pass" + "word=Tr0ub4" + "dor3",
    "mongodb": "mongodb+srv://admin:" + some(ALNUM, 16) + "@cluster0.abcde.mongodb.net/db",
    "upstash": "UPSTASH_REDIS_REST_TO" + "KEN=" + some(ALNUM, 56) + "==",
    "wireguard": "Private" + "Key = " + coded(32),
}

HARMLESS = {
    "uv lock": f'{{ url = "https://files.pythonhosted.org/a/x-1.0.whl", hash = "sha256:{some(HEX, 64)}" }}',
    "yarn lock": f'resolved "https://registry.yarnpkg.com/a/-/a-1.3.0.tgz#{some(HEX, 40)}"'
    f"\nintegrity sha512-{coded(64)}",
    "pnpm lock": f"/left-pad@1.3.0:\n    resolution: {{integrity: sha512-{coded(64)}}}",
    "cargo lock": f'checksum = "{some(HEX, 64)}"',
    "composer lock": f'"content-hash": "{some(HEX, 32)}"',
    "gem checksums": f"CHECKSUMS\n  rails (7.1) sha256={some(HEX, 64)}",
    "integrity of a script": f'<script src="/x.js" integrity="sha384-{coded(48)}" crossorigin="anonymous">',
    "an image": f"data:image/svg+xml;base64,{coded(3000)}",
    "a font": f"background: url(data:font/woff2;base64,{coded(4000)})",
    "a certificate in kubernetes": "certificate-authority-data: "
    + base64.b64encode(("-----BEGIN " + "CERTIFICATE-----\n" + some(ALNUM, 90)).encode()).decode(),
    "a fingerprint": f"SHA256:{coded(32).rstrip('=')}",
    "an etag": f'ETag: "{some(HEX, 32)}-5"',
    "a trace": f"traceparent: 00-{some(HEX, 32)}-{some(HEX, 16)}-01",
    "a ulid and a nanoid": "01ARZ3NDEKTSV4RRFFQ69G5FAV and V1StGXR8_Z5jdHi6B-myT",
    "an object id": "ObjectId('507f1f77bcf86cd799439011')",
    "a playlist": f"https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PL{some(URLSAFE, 32)}",
    "a page of notion": f"https://www.notion.so/team/Page-{some(HEX, 32)}",
    "a sheet": f"https://docs.google.com/spreadsheets/d/{some(URLSAFE, 44)}/edit#gid=0",
    "ids of stripe": f"cus_{some(ALNUM, 14)} price_{some(ALNUM, 24)} evt_{some(ALNUM, 24)}",
    "ids of aws": "i-0abcd1234ef567890, vpc-0a1b2c3d4e5f67890, subnet-0123456789abcdef0",
    "code": "const passwordField = useRef(null); setToken(await res.json().token)",
    "a setting's name": "self.token_secret = TokenSecret.from_settings(settings.TOKEN_SECRET_NAME)",
    "a constant": 'private static final String PASSWORD_KEY = "user.password.hash";',
    "sql": "ALTER TABLE users ADD COLUMN password_hash varchar(255); token_expires_at timestamptz",
    "terraform": 'password = var.db_password\ntoken = data.vault_generic_secret.t.data["token"]',
    "helm": "{{ .Values.auth.password | b64enc | quote }}",
    "patterns": r"ghp_[A-Za-z0-9]{36} and AKIA[0-9A-Z]{16} and sk-[a-zA-Z0-9]{48} and eyJ[A-Za-z0-9_-]+\.",
    "models": "sk-learn, hf-internal-testing/tiny-random-bert, gpt-4o-mini-2024-07-18, claude-sonnet-4-5",
    "a chunk": "main.3f2a9c1b7d8e.chunk.js, vendors~main.a1b2c3d4.js",
    "numbers": "2001:0db8:85a3::8a2e:0370:7334, 00:1B:44:11:3A:B7, DE89370400440532013000, 1.0.0-alpha.1",
    "a login to do": "machine example.org login <user> password <password>; login as ada, password needed",
    "an auth header": '"auth": "basic", "auth": "none-is-needed-here"',
    "accessible": "access-production-logs-before-noon, sdk-version-2, pat-terns, 1/2 of it",
    "ours in prose": "tokens begin with mh_ and have 46 more characters; mh_public8 is not one",
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_as_it_is_pasted(name: str) -> None:
    for text in (SECRETS[name], f"# Notes\n\nUse this:\n{SECRETS[name]}\nThe end.", f"    {SECRETS[name]}"):
        assert find_secret(text) is not None, text


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_like_one_is_stored(name: str) -> None:
    for text in (HARMLESS[name], f"# Notes\n\n{HARMLESS[name]}\n", f"- `{HARMLESS[name]}`"):
        assert find_secret(text) is None, text


def test_our_own_documents_and_lock_file_can_be_remembered() -> None:
    """Every page of the documents, and the list of libraries: what a project would import of itself."""
    pages: list[Path] = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "constraints.txt"]
    assert len(pages) > 50
    assert not [page.name for page in pages if find_secret(page.read_text(encoding="utf-8"))]


def test_this_file_holds_none() -> None:
    assert find_secret(Path(__file__).read_text(encoding="utf-8")) is None


@pytest.mark.parametrize(
    "start", ["auth: '", "login a password ", "MT", "LS0tLS1CRUdJTi", "pk_1", "1/1", "sl.", "sk.eyJ"]
)
def test_no_line_made_of_their_beginnings_takes_long(start: str) -> None:
    """Its time grows with its length: a test would hang else."""
    for text in (fill(start), start + fill("a"), start + fill("A1.-"), fill(start + "A1"), start + fill(" ")):
        find_secret(text)
