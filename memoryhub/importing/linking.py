"""Links between entries of one source: by position, and an order in which each can be made on creation."""

from __future__ import annotations

from memoryhub.importing.candidates import Candidate, Read

# By position: the field, the one that names, the one that is named.
Links = list[tuple[str, int, int]]
# Of one entry to others; a hub of thousands says nothing, and each is a row.
LINKS_MAX = 200


def resolve_links(read: Read) -> tuple[list[int], Links]:
    """The order in which to create, and the links. What isn't in the source is said in the entry's text.

    What replaces another comes after it, and one that is replaced by another is in use until that comes. An
    entry that is out of use replaces nothing: it is related.
    """
    candidates = read.candidates
    at = {candidate.key: position for position, candidate in reversed(list(enumerate(candidates)))}
    _say_at_one_end(candidates, at)
    named: dict[tuple[str, int, int], None] = {}
    for position, candidate in enumerate(candidates):
        for name, keys in candidate.links.items():
            others = [at[key] for key in keys if key in at and at[key] != position]
            named |= {(name, position, other): None for other in others[:LINKS_MAX]}
            missing = [_said(key) for key in keys if key not in at]
            if missing and not candidate.names_in_text:
                candidate.elsewhere.append(f"{_LABELS[name]}: {', '.join(missing[:LINKS_MAX])}")
    replacing = [(one, other) for name, one, other in named if name == "supersedes"]
    order, circular = _in_order(len(candidates), replacing)
    standing = _put_in_use(candidates, order, set(replacing) - circular)
    links = dict.fromkeys(("supersedes", one, other) for one, other in replacing if (one, other) in standing)
    for name, one, other in named:
        # What replaces another need not be related to it as well.
        if not standing & {(one, other), (other, one)}:
            both = "related_to" if name == "supersedes" else name
            links[both, min(one, other), max(one, other)] = None
    return order, list(links)


def _put_in_use(
    candidates: list[Candidate], order: list[int], replacing: set[tuple[int, int]]
) -> set[tuple[int, int]]:
    """The pairs whose first end can replace the second; what is replaced so isn't archived before."""
    replaced: dict[int, list[int]] = {}
    for one, other in replacing:
        replaced.setdefault(one, []).append(other)
    standing = set()
    # What replaces others comes later: whether it is in use is known before they are looked at.
    for position in reversed(order):
        if candidates[position].archived is None:
            for other in replaced.get(position, ()):
                candidates[other].archived = None
                standing.add((position, other))
    # Replacing it here is its latest change.
    for candidate in (candidates[other] for other in {other for _, other in standing}):
        if candidate.updated_at:
            candidate.elsewhere.append(f"Last changed there: {candidate.updated_at:%Y-%m-%d}")
    return standing


_LABELS = {"related_to": "Related to", "supersedes": "Supersedes", "contradicts": "Contradicts"}


def _said(key: str) -> str:
    """A key for people: without the folder that a reader put before it."""
    return key.rpartition("/")[2]


def _say_at_one_end(candidates: list[Candidate], at: dict[str, int]) -> None:
    """What says by whom it is replaced is said by that one, so that it is said once."""
    for candidate in candidates:
        successor = candidate.superseded_by
        if successor and successor in at:
            candidates[at[successor]].link("supersedes", candidate.key)
        elif successor:
            candidate.archived = candidate.archived or "It was replaced there."
            if candidate.names_in_text:
                continue
            candidate.elsewhere.append(f"Superseded by: {_said(successor)}")


def _in_order(many: int, supersedes: list[tuple[int, int]]) -> tuple[list[int], set[tuple[int, int]]]:
    """Positions with the replaced before what replaces them, and the links that close a circle."""
    replaces: dict[int, list[int]] = {}
    for one, other in supersedes:
        replaces.setdefault(one, []).append(other)
    order: list[int] = []
    done: dict[int, bool] = {}  # False while it is being looked at
    circular: set[tuple[int, int]] = set()
    for start in range(many):
        if start in done:
            continue
        stack = [(start, iter(replaces.get(start, ())))]
        done[start] = False
        while stack:
            position, others = stack[-1]
            other = next(others, -1)
            if other < 0:
                done[position] = True
                order.append(position)
                stack.pop()
            elif other not in done:
                done[other] = False
                stack.append((other, iter(replaces.get(other, ()))))
            elif not done[other]:
                circular.add((position, other))
    return order, circular
