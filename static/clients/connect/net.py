"""Speaking to the hub: one connection, bounded in time and size, and to no other host."""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse

from .head import LIMIT, PLACE, STARTED, VERSION

ANSWER_MAX_SIZE = 4 * 1024 * 1024
# Seconds that are left for what comes after the last answer.
AFTERWARDS = 0.4
SENTENCE_LENGTH = 200


class Away(Exception):
    """The hub can't be reached, doesn't answer in time, or what answers isn't a hub.

    `is_failure`: it was reached, and failed at what was asked.
    """

    is_failure = False


# Never accepted, however often it is sent.
FINAL = (400, 409, 410, 412, 413, 415, 422, 428)


class Refused(Exception):
    """The hub answered no: `status`, and its sentence. `is_final`: it will never say anything else."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{answer.status}: {sentence_of(answer)}")
        self.status = answer.status
        # What lies between may say no as well: a proxy, somebody's Wi-Fi.
        self.is_final = answer.status in FINAL and answer.is_json


class Answer:
    def __init__(self, status: int, etag: str, text: str) -> None:
        self.status, self.etag, self.text = status, etag, text

    @property
    def is_json(self) -> bool:
        """A hub says everything but texts and this file in JSON objects."""
        try:
            return isinstance(self.value, dict)
        except Away:
            return False

    @property
    def value(self) -> dict[str, object]:
        """The JSON object that was answered. Raises Away: a hub answers nothing else."""
        try:
            value = json.loads(self.text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Away("What answers isn't a hub: no JSON object came back.")
        return value


class Hub:
    """The hub that the environment names."""

    def __init__(self, seconds: float = LIMIT - AFTERWARDS) -> None:
        self.ends_at = STARTED + seconds
        self.connection = None  # type: http.client.HTTPConnection | None
        self.prefix = ""

    def ask(
        self, method: str, path: str, body: object = None, etag: str = "", most: int = ANSWER_MAX_SIZE
    ) -> Answer:
        """The answer to a request, of `most` bytes. Raises Away, Refused."""
        try:
            answer = self._ask(method, path, body, etag, most)
        except (OSError, ValueError, http.client.HTTPException) as wrong:
            self.close()
            said = getattr(wrong, "strerror", None) or str(wrong) or type(wrong).__name__
            raise Away(f"The hub can't be reached: {said.rstrip('.')}.") from None
        if 300 <= answer.status < 400:
            raise Away(f"The address redirects ({answer.status}). Set MEMORYHUB_URL to where it leads.")
        if answer.status >= 500:
            failed = Away(f"The hub answered {answer.status}.")
            failed.is_failure = True
            raise failed
        if answer.status >= 400:
            raise Refused(answer)
        return answer

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _ask(self, method: str, path: str, body: object, etag: str, most: int) -> Answer:
        # A connection that the hub closed meanwhile is opened anew by itself.
        connection = self.connection or self._connected()
        connection.timeout = self._left()
        if connection.sock is not None:
            connection.sock.settimeout(self._left())
        headers = {
            "Authorization": "Bearer " + PLACE.token,
            "Accept": "application/json, text/plain",
            "User-Agent": "memoryhub-connect/" + VERSION,
        }
        data = None
        if body is not None:
            data = json.dumps(body).encode("ascii")
            headers["Content-Type"] = "application/json"
        if etag:
            headers["If-Match"] = etag
        connection.request(method, self.prefix + path, body=data, headers=headers)
        response = connection.getresponse()
        parts, size = [], 0
        while True:
            if connection.sock is not None:
                connection.sock.settimeout(self._left())
            part = response.read1(1 << 16)
            if not part:
                break
            size += len(part)
            if size > most:
                raise ValueError(f"its answer is larger than {most} bytes")
            parts.append(part)
        response.close()
        text = b"".join(parts).decode("utf-8", "replace")
        return Answer(response.status, response.headers.get("ETag") or "", text)

    def _connected(self) -> http.client.HTTPConnection:
        parsed = urllib.parse.urlsplit(PLACE.url)
        if parsed.scheme not in ("http", "https") or not parsed.hostname or parsed.username is not None:
            raise ValueError("MEMORYHUB_URL isn't an address such as https://hub.example.com")
        if not PLACE.token.isascii() or not PLACE.token.isprintable() or " " in PLACE.token:
            raise ValueError("MEMORYHUB_TOKEN isn't a token")
        kind = http.client.HTTPSConnection if parsed.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(parsed.hostname, parsed.port, timeout=self._left())
        self.prefix = parsed.path.rstrip("/")
        return self.connection

    def left(self) -> float:
        """Seconds until it gives up."""
        return self.ends_at - time.monotonic()

    def _left(self) -> float:
        left = self.left()
        if left <= 0.02:
            raise TimeoutError("no answer in time")
        return left


def in_project(path: str, **query: object) -> str:
    """An address of the project's."""
    said = "?" + urllib.parse.urlencode(query) if query else ""
    return f"/api/v1/projects/{PLACE.project}{path}{said}"


def sentence_of(answer: Answer) -> str:
    """What the hub says was wrong, in a line."""
    try:
        value = answer.value
    except Away:
        return "what answers isn't a hub, or there is no such address."
    details = value.get("details")
    fields = details.get("fields") if isinstance(details, dict) else None
    said = [str(value.get("message", ""))]
    said += [f"{name}: {says}" for name, says in fields.items()] if isinstance(fields, dict) else []
    return in_a_line(" ".join(said))[:SENTENCE_LENGTH]


def in_a_line(text: object) -> str:
    """A text without line breaks and marks that would forge the lines around it."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())


def moment_body(**more: object) -> dict[str, object]:
    """What every moment of the lifecycle is told."""
    return {"session": PLACE.session_id, "stream": PLACE.stream, "client": PLACE.host, **more}


def write_context() -> dict[str, str]:
    return {"session": PLACE.session_id, "client": PLACE.host}
