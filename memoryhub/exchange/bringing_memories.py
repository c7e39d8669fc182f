"""Memories, their revisions and links, on their way in."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from memories.keys import duplicate_key
from memories.models import CommitReport, Link, Memory, Origin, Revision, ScopePath, Status, Tag, Visibility
from memories.search import index
from memories.services.commits import bring_commits, note_scopes
from memories.services.reviews.data import value_of
from memories.services.watching import Was, Written, tell
from memories.versions import FIELDS
from memoryhub.exchange import table
from memoryhub.exchange.conflicts import Version, said
from memoryhub.exchange.plan import Outcome
from memoryhub.exchange.run import Appending, Meeting, Run, Values, meet
from memoryhub.exchange.shapes import renumbered
from memoryhub.exchange.survey import mark
from projects.services import name_at_home

# What two versions of a memory are compared by.
SAID = (
    "title",
    "summary",
    "kind",
    "body",
    "details",
    "hardness",
    "scope_paths",
    "tags",
    "retrieval_hints",
    "weight",
    "visibility",
    "status",
)
_PLAIN = tuple(name for name in SAID if name not in ("tags", "scope_paths"))
_NOT_COPIED = ("uid", "number", "parent")


class Memories:
    """Takes memories, revisions and links in batches."""

    def __init__(self, run: Run) -> None:
        self.run = run

    # --- memories ------------------------------------------------------------------------

    def memories(self, batch: list[Values]) -> None:
        run = self.run
        known = run.here.known["memory"]
        here = self._rows_here([known[values["uid"]] for values in batch if values["uid"] in known])
        histories = histories_of(Revision, "memory", here)
        new: list[Values] = []
        for values in batch:
            pk = known.get(values["uid"])
            if pk is None:
                run.note("memory", Outcome.CREATED, values)
                run.plan.touches_public |= values["visibility"] == Visibility.PUBLIC
                new.append(values)
            else:
                self._meet(values, here[pk], histories[pk])
        if run.writing:
            # A child needs the id of its bag.
            self._create([values for values in new if values["parent"] is None])
            self._create([values for values in new if values["parent"] is not None])

    def _rows_here(self, pks: list[int]) -> dict[int, Memory]:
        rows = Memory.objects.filter(pk__in=pks).select_related("author", "verified_by", "parent", "project")
        return {memory.pk: memory for memory in rows.prefetch_related("tags", "scopes")}

    def _create(self, new: list[Values]) -> None:
        run = self.run
        names = [name for name in table.MEMORY.columns if name not in _NOT_COPIED]
        rows = []
        for values in new:
            columns = run.columns("memory", values, names)
            if not run.by_operator:
                columns["origin"] = Origin.IMPORT
            memory = Memory(
                project=run.project,
                uid=run.here.uid(values["uid"]),
                number=run.here.number(values["number"]),
                parent_id=run.pks["memory"].get(values["parent"]) if values["parent"] else None,
                touched_at=max(values["updated_at"], values["verified_at"] or values["updated_at"]),
                **columns,
            )
            memory.duplicate_key = duplicate_key(memory)
            rows.append(memory)
        Memory.objects.bulk_create(rows)
        pairs = list(zip(rows, new, strict=True))
        _store_lists(pairs)
        for memory, values in pairs:
            run.pks["memory"][values["uid"]] = memory.pk
            if values["scope_paths"] and not run.plan.is_new:
                note_scopes(memory)
            if memory.status != Status.ARCHIVED and memory.erased_at is None:
                index(memory, tags=values["tags"], is_new=True)

    # --- one that is here ----------------------------------------------------------------

    def _meet(self, values: Values, memory: Memory, history: list[tuple[bytes, dict[str, Any]]]) -> None:
        run = self.run
        if memory.erased_at is not None or values["erased_at"] is not None:
            self._meet_erased(values, memory)
            return
        met = meet(run.survey.told["memory"][values["uid"]].marks, [one for one, _ in history])
        file = Version(said(values, SAID), values["updated_at"])
        local = Version({name: _value(memory, name) for name in SAID}, memory.updated_at)
        if not met.file_moved or (met.here_moved and file.said == local.said):
            outcome = Outcome.KEPT if met.here_moved else Outcome.SAME
            if self._verify(values, memory):
                outcome = Outcome.TAKEN
            run.note("memory", outcome, values, memory.number)
            return
        if met.here_moved:
            wins = file.wins_over(local)
            outcome = Outcome.CONFLICT_TAKEN if wins else Outcome.CONFLICT_KEPT
            run.note("memory", outcome, values, memory.number)
            run.conflict(memory, "memory", file, local)
            if not wins:
                return
        else:
            run.note("memory", Outcome.TAKEN, values, memory.number)
        run.plan.touches_public |= Visibility.PUBLIC in (memory.visibility, values["visibility"])
        if run.writing:
            self._take(values, memory, met, history)

    def _meet_erased(self, values: Values, memory: Memory) -> None:
        run = self.run
        if memory.erased_at is None:
            run.note("memory", Outcome.ERASED, {**values, "title": ""}, memory.number)
            run.erasing.append(memory)
        else:
            same = values["erased_at"] is not None
            run.note("memory", Outcome.SAME if same else Outcome.KEPT, {**values, "title": ""}, memory.number)

    def _verify(self, values: Values, memory: Memory) -> bool:
        """Verifying moves no version: the later of the two stands."""
        at = values["verified_at"]
        if at is None or (memory.verified_at is not None and memory.verified_at >= at):
            return False
        if self.run.writing:
            memory.verified_at, memory.verified_by = at, self.run.people.find(values["verified_by"])
            memory.touched_at = max(memory.touched_at, at)
            memory.save(update_fields=["verified_at", "verified_by", "touched_at"])
        return True

    def _take(
        self, values: Values, memory: Memory, met: Meeting, history: list[tuple[bytes, dict[str, Any]]]
    ) -> None:
        """Make the memory what the file says, and let its history go on with the file's."""
        run, writing = self.run, self.run.writing
        assert writing is not None
        was = Was(memory.parent_id, memory.visibility, memory.status)
        changed = {name for name in SAID if _value(memory, name) != values[name]}
        version = memory.version
        if met.here_moved:
            version += 1
            self._set_back(memory, version, [fields for _, fields in history], met.common_here)
        run.appending[values["uid"]] = appending = Appending(met.common, version)
        for name in _PLAIN:
            setattr(memory, name, values[name])
        for name in ("updated_at", "summary_changed_at", "archived_at", "archive_reason"):
            setattr(memory, name, values[name])
        memory.parent_id = run.pks["memory"].get(values["parent"]) if values["parent"] else None
        told = len(run.survey.told["memory"][values["uid"]].marks) // 8
        memory.version = appending.version + told - met.common
        if values["verified_at"] and (
            memory.verified_at is None or memory.verified_at < values["verified_at"]
        ):
            memory.verified_at = values["verified_at"]
            memory.verified_by = run.people.find(values["verified_by"])
        memory.touched_at = max(memory.updated_at, memory.verified_at or memory.updated_at)
        memory.duplicate_key = duplicate_key(memory)
        memory.save()
        memory.tags.all().delete()
        memory.scopes.all().delete()
        _store_lists([(memory, values)])
        memory.refresh_from_db()
        tokens = index(memory, tags=values["tags"])
        if was.parent_id != memory.parent_id:
            changed.add("parent")
        tell(Written(writing, memory, frozenset(changed), was, tuple(values["tags"]), tokens))

    def _set_back(self, memory: Memory, version: int, history: list[dict[str, Any]], common: int) -> None:
        """Say in the history that what changed here since is set back: the file's revisions follow."""
        writing = self.run.writing
        assert writing is not None
        state: dict[str, Any] = {}
        for fields in history[:common]:
            state |= fields
        names = {name for fields in history[common:] for name in fields} & set(FIELDS)
        fields = {name: state.get(name, _EMPTY.get(name, value_of(memory, name))) for name in sorted(names)}
        actor = writing.actor
        Revision.objects.create(
            memory=memory,
            version=version,
            fields=fields,
            visibility=min((memory.visibility, state.get("visibility", memory.visibility)), key=_rank),
            reason="A snapshot had a newer version, which follows. What this hub had is in the conflicts.",
            actor=actor.user,
            actor_kind=actor.kind,
            token_name=actor.token_name,
            door=actor.door,
            created_at=writing.at,
            **actor.context.as_dict(),
        )

    # --- revisions -----------------------------------------------------------------------

    def revisions(self, batch: list[Values]) -> None:
        run = self.run
        if not run.writing:
            return
        rows = []
        for values in batch:
            version = values["version"]
            if not run.is_new("memory", values["memory"]):
                appending = run.appending.get(values["memory"])
                version = appending.next() if appending else None
            if version is not None:
                columns = run.columns("revision", values, table.REVISION.columns)
                columns["fields"] = renumbered(values["fields"], run.here.number)
                rows.append(Revision(**{**columns, "version": version}))
        Revision.objects.bulk_create(rows)

    # --- links ---------------------------------------------------------------------------

    def links(self, batch: list[Values]) -> None:
        run, known = self.run, self.run.here.known["memory"]
        here = [values for values in batch if values["source"] in known and values["target"] in known]
        rows = Link.objects.filter(
            source__in={known[values["source"]] for values in here},
            target__in={known[values["target"]] for values in here},
        )
        standing, dated = {}, {}
        for row in rows:
            key = (row.source_id, row.target_id, row.type)
            dated[(*key, row.created_at)] = row
            if row.resolved_at is None:
                standing[key] = row
        new: list[Values] = []
        for values in batch:
            if {values["source"], values["target"]} & run.here.erased["memory"]:
                continue
            key = (known.get(values["source"], 0), known.get(values["target"], 0), values["type"])
            if (known_row := dated.get((*key, values["created_at"]))) is not None:
                self._resolve(known_row, values)
            elif values["resolved_at"] is not None or key not in standing:
                run.plan.note("link", Outcome.CREATED, "")
                new.append(values)
            else:
                run.plan.note("link", Outcome.SAME, "")
        if run.writing:
            columns = table.LINK.columns
            Link.objects.bulk_create(Link(**run.columns("link", values, columns)) for values in new)

    # --- commits -------------------------------------------------------------------------

    def commits(self, batch: list[Values]) -> None:
        """Each is known by its hash; what was reported here stands."""
        run = self.run
        hashes = [values["commit"] for values in batch]
        here = CommitReport.objects.filter(project=run.project, commit__in=hashes)
        known = set(here.values_list("commit", flat=True)) if run.project else set()
        new = [values for values in batch if values["commit"] not in known]
        for values in batch:
            run.plan.note("commit", Outcome.SAME if values["commit"] in known else Outcome.CREATED, "")
        if run.writing:
            columns = [run.columns("commit", values, table.COMMIT.columns) for values in new]
            bring_commits(run.into, [CommitReport(project=run.into, **each) for each in columns])

    def _resolve(self, row: Link, values: Values) -> None:
        run = self.run
        if row.resolved_at is not None or values["resolved_at"] is None:
            run.plan.note("link", Outcome.SAME, "")
            return
        run.plan.note("link", Outcome.TAKEN, f"#{row.source.number} to #{row.target.number}")
        if run.writing:
            names = ("resolved_at", "resolved_by", "resolved_reason")
            for name, value in run.columns("link", values, names).items():
                setattr(row, name, value)
            row.save(update_fields=list(names))


_EMPTY: dict[str, Any] = {"status": "active", "parent": 0, "hardness": "", "body": "", "details": {}}
_EMPTY |= {"tags": [], "scope_paths": [], "retrieval_hints": []}


def _rank(visibility: str) -> int:
    return Visibility(visibility).rank


def _value(memory: Memory, name: str) -> Any:
    value = value_of(memory, name)
    return str(value) if isinstance(value, str) else value


def _store_lists(pairs: list[tuple[Memory, Values]]) -> None:
    Tag.objects.bulk_create(
        Tag(memory=memory, name=name, position=place)
        for memory, values in pairs
        for place, name in enumerate(values["tags"])
    )
    ScopePath.objects.bulk_create(
        ScopePath(memory=memory, path=path, position=place)
        for memory, values in pairs
        for place, path in enumerate(values["scope_paths"])
    )


def histories_of(model: Any, of: str, rows: dict[int, Any]) -> dict[int, list[tuple[bytes, dict[str, Any]]]]:
    """By the id of what they belong to, the marks and fields of the revisions here, oldest first."""
    found: dict[int, list[tuple[bytes, dict[str, Any]]]] = defaultdict(list)
    for row in model.objects.filter(**{f"{of}__in": list(rows)}).select_related("actor").order_by("version"):
        actor = name_at_home(row.actor.username, row.actor.first_name) if row.actor else None
        names = ("created_at", "actor_kind", "token_name", "door", "session")
        values = {name: getattr(row, name) for name in names}
        found[getattr(row, f"{of}_id")].append((mark({**values, "actor": actor}), row.fields))
    return found
