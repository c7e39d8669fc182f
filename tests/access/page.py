"""The page docs/reference/access.md, written from the tables by which every door is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from memoryhub.kernel.tools import Right, all_tools
from tests.access.api import API
from tests.access.world import PEOPLE
from tests.test_access_matrix import ADMIN_MODELS, PAGES, TYPED, Page, allowed

TESTS = "tests/test_access_matrix.py"

HEAD = f"""# Who may open what

Every address and every tool, as everybody: written from the tables in `{TESTS}` and `tests/access/`, by
which each cell is really tried. An address that isn't in them fails the tests, and so does one that is
there no more.

- Each is opened on a shared memory, a task, a receipt, a proposal and an upload of one project. *stranger*
  has an account and is no member of it; *reader* to *owner* are its members; *superuser* is a member of
  nothing.
- `yes` opens it or does it. `may` lets through to what then depends on what is sent, and what is sent here
  is no good. `leads on` goes to another page of the hub, as every address does that takes forms alone: to
  the one above it, whatever stands there. `sign in` asks for an account first. `404` says that there is no
  such thing, in the same words as of a thing that never was. `403` is said to those alone who may know
  that it is there. A method that isn't named is refused to everybody (405).
- With everything that is refused, the tests see that nothing was written and nothing told: no title, text,
  number or name of what is there.
- A private memory of somebody else answers every one of these people, at every address, like a number that
  isn't there: a superuser, too.
- A form that is sent from another site is refused at every address that takes one.

To write this page anew: `TEST_WRITE=1 pytest tests/test_access_page.py`.
"""

PUBLIC = """## A public memory

To whoever is signed in it shows itself, at its own page and in the search over all projects.
Every other address answers a stranger as the tables say: its history, its versions and its forms, REST and
a token of another project find nothing there, and its project doesn't open by it.

| address | method | stranger | superuser |
|---|---|---|---|
| `/p/<slug>/memories/<number>/` | GET | yes | yes |"""

# The addresses that a public memory opens to whoever is no member of its project.
PUBLIC_OPENS = {("p/<slug:slug>/memories/<int:number>/", "GET")}

NOTES = """## What may surprise

- Members see the pages of members, tokens, calls and settings, because who reads one's texts is no secret
  among them. They hold what is for everybody there: one's own tokens and calls, but all of them for
  owners, and of the settings no form.
- A reader may make an access token. Whatever rights it is given, it does no more than the role of its user.
- A member without a checkpoint gets `404` at the address of the checkpoint: it is one's own. Of the
  members here the owner alone has one.
- Proposals are `404` for readers and contributors because these are another member's. A proposer sees
  their own.
- A token that is revoked here is another member's: nobody's of these to revoke, but for an owner of a
  project that it reaches, on the page of that project.
- Whoever may read may keep a snapshot and the files for a repository: they hold what their reader may
  read. An import is for those who write, of a snapshot for owners; the one that is sent here is none, and
  they are told so.
- An upload waits for whoever sent it: to another owner of the project it is `404`. Here it is the owner's.
- The endpoint of agents is opened by an access token alone, never by a session.
- A superuser is a stranger outside of the admin, which shows private memories of nobody. What becomes of a
  form there, the services say as for everybody.
- Over REST a token that reviews needs the role as well, and never decides what its own user proposed."""


def access_page() -> str:
    """The whole page."""
    pages = {route: page for route, page in PAGES.items() if not route.startswith(("admin/", "api/"))}
    admin = {route: page for route, page in PAGES.items() if route.startswith("admin/")}
    ours = {route: page for route, page in admin.items() if not route.startswith(_OF_MODELS)}
    parts = [
        HEAD,
        "## Pages and files\n",
        *_people_table(pages),
        "",
        PUBLIC,
        "",
        "## The admin\n",
        "Whoever isn't staff is asked to sign in, at every address but those for signing in and out. Of each "
        "kind of row, what a superuser gets:\n",
        *_models_table(),
        "",
        "`shown` has no form: such rows are only read there.\n",
        *_people_table(ours),
        "",
        "## REST with a session\n",
        "The session of a page, of which writes carry the CSRF token.\n",
        *_people_table({route: page for route, page in PAGES.items() if route.startswith("api/")}),
        "",
        "## Access tokens\n",
        "The same for every tool and every address of REST, by the right that it needs. The last four are of "
        "a user in that role, and read and write; those of one who left and of another project have every "
        "right.\n",
        *_tokens_table(),
        "",
        "## REST with a token\n",
        *_rest_table(),
        "",
        "## Tools\n",
        "At `/mcp` and at `/mcp/p/<slug>` alike. The resources (recall, one memory) need `read`.\n",
        *_tools_table(),
        "",
        NOTES,
        "",
    ]
    return "\n".join(parts)


_OF_MODELS = tuple(f"admin/{model}/" for model in ADMIN_MODELS)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(head)
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _people_table(pages: Mapping[str, Page]) -> Iterator[str]:
    rows = []
    for route, page in sorted(pages.items()):
        for method, outcomes in _methods(page):
            cells = (_cell(outcomes[who], method) for who in PEOPLE)
            rows.append([f"`{_shown(route)}`", method, *cells])
    return _table(["address", "method", *PEOPLE], rows)


def _methods(page: Page) -> Iterator[tuple[str, Mapping[str, int | str]]]:
    for method, outcomes in (
        ("GET", page.get),
        ("POST", page.post),
        ("PATCH", page.patch),
        ("PUT", page.put),
    ):
        if outcomes is not None:
            yield method, outcomes


def _shown(route: str) -> str:
    """An address as it is written down elsewhere: without what its parts are made of."""
    path = TYPED.get(route) or f"/{route}"
    for kind in ("slug", "int", "str", "path", "uuid"):
        path = path.replace(f"<{kind}:", "<")
    return path


def _cell(outcome: int | str, method: str) -> str:
    if outcome in ("in", 422):
        return "may"
    if outcome in (200, 201):
        return "yes"
    if outcome == 302:
        return "leads on" if method == "GET" else "yes"
    return str(outcome)


def _models_table() -> Iterator[str]:
    said = {200: "yes", 302: "shown", 403: "403"}
    rows = []
    for model, (_, (add, change, delete)) in sorted(ADMIN_MODELS.items()):
        shown = "shown" if (add, delete) == (403, 403) else "yes"
        assert change in said, model
        rows.append([f"`/admin/{model}/`", said[add], shown, "yes" if delete != 403 else "403"])
    return _table(["address", "add", "change", "delete"], rows)


def _tokens_table() -> Iterator[str]:
    by_right = {right: allowed(right) for right in Right}
    rows = ([who, *(f"`{by_right[right][who]}`" for right in Right)] for who in by_right[Right.READ])
    return _table(["token", *(f"needs {right}" for right in Right)], rows)


def _rest_table() -> Iterator[str]:
    rows = []
    for route, there in sorted(API.items()):
        for method, use in there.uses.items():
            other = ", ".join(f"{who}: `{code}`" for who, code in use.tokens.items())
            rows.append([f"`{_shown(route)}`", method, use.right, other])
    return _table(["address", "method", "right", "other than in the table above"], rows)


def _tools_table() -> Iterator[str]:
    return _table(["tool", "right"], ([f"`{tool.name}`", tool.needs()] for tool in all_tools()))
