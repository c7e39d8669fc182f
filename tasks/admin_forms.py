"""What the admin's forms for tasks and checkpoints read: exactly what was typed, as the services take it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import prefetch_related_objects

from memories.form_fields import LinesField, NumberField, NumbersField, TagsField, TextField
from memoryhub.kernel.actor import WriteContext
from memoryhub.kernel.admin import ServiceForm
from memoryhub.kernel.errors import Problems
from memoryhub.kernel.refs import MAX_NUMBER
from projects.models import Project
from tasks.models import Checkpoint, CheckpointFields, Priority, Task, TaskStatus
from tasks.querysets import row_lookups
from tasks.services.checkpoints import check_checkpoint
from tasks.services.tasks import check_task


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "cols": 100})


class _VersionedForm(ServiceForm):
    """A change of what was read at `expected_version`; fields that weren't touched stay untouched."""

    expected_version = forms.IntegerField(min_value=1, max_value=MAX_NUMBER, widget=forms.HiddenInput)

    def given(self) -> dict[str, Any]:
        """What was changed and could be read."""
        names = [name for name in self.changed_data if name in self.cleaned_data]
        return {name: self.cleaned_data[name] for name in names if name != "expected_version"}

    def clean(self) -> dict[str, Any]:
        # A hidden field has no place of its own on the page.
        if "expected_version" in self.errors:
            self.add_error(None, "The page has lost the version that you read. Open it again.")
        return self.cleaned_data


class _TaskForm(ServiceForm):
    """The fields of a task. The service checks limits and texts, so that every door says the same."""

    title = TextField(
        required=False,
        widget=forms.TextInput(attrs={"size": 80}),
        help_text=f"1 to {Task.TITLE_MAX_LENGTH} characters in one line.",
    )
    summary = TextField(
        required=False,
        widget=_area(3),
        help_text=f"1 to {Task.SUMMARY_MAX_LENGTH} characters of plain text in one paragraph.",
    )
    description = TextField(
        required=False,
        widget=_area(16),
        help_text=f"Markdown, up to {Task.DESCRIPTION_MAX_LENGTH:,} characters.",
    )
    priority = forms.ChoiceField(choices=Priority.choices, initial=Priority.NORMAL)
    tags = TagsField(help_text="One a line or with commas: a-z, 0-9 and hyphens.")
    parent = NumberField(help_text="The number of the task that it is a part of; empty for none.")
    blocked_by = NumbersField(help_text="Numbers of the tasks that it waits for.")
    assignee = TextField(required=False, help_text="The name of a member; empty for nobody.")
    reason = TextField(required=False, widget=_area(2), help_text="Why: kept with the history.")

    class Meta:
        model = Task
        fields = ()

    FIELDS = ("title", "summary", "description", "priority", "tags", "parent", "blocked_by", "assignee")

    def given(self) -> dict[str, Any]:
        """What the services take."""
        raise NotImplementedError

    def check_shape(self) -> None:
        problems = Problems()
        is_new = self.instance.pk is None
        check_task(context=WriteContext(), problems=problems, is_new=is_new, **self.given())
        problems.raise_if_any()


class AddTaskForm(_TaskForm):
    """A new task of a project."""

    project = forms.ModelChoiceField(Project.objects.current())

    def given(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name != "project" and (name in ("title", "summary") or value not in ("", [], 0))
        }


class ChangeTaskForm(_VersionedForm, _TaskForm):
    """A change of a task."""

    status = forms.ChoiceField(choices=TaskStatus.choices)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        task = self.instance
        # What it waits for is told by number, each in one query otherwise.
        prefetch_related_objects([task], *row_lookups())
        now = {
            name: getattr(task, name) for name in ("title", "summary", "description", "priority", "status")
        }
        linked = {
            "tags": task.tag_names,
            "parent": task.parent.number if task.parent else 0,
            "blocked_by": ", ".join(str(blocker.number) for blocker in task.blockers),
            "assignee": task.assignee.username if task.assignee else "",
        }
        self.initial = {**self.initial, **now, **linked, "expected_version": task.version}


class CheckpointForm(_VersionedForm):
    """A change of somebody's checkpoint."""

    objective = TextField(required=False, widget=_area(2))
    current_step = TextField(required=False, widget=_area(2))
    key_decisions = LinesField(help_text=f"At most {CheckpointFields.MAX_DECISIONS}, one a line.")
    next_action = TextField(required=False, widget=_area(2))
    blockers = TextField(required=False, widget=_area(4))
    unsurfaced_results = TextField(required=False, widget=_area(4))

    class Meta:
        model = Checkpoint
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        version = {"expected_version": self.instance.version}
        self.initial = {**self.initial, **self.instance.values, **version}

    def check_shape(self) -> None:
        problems = Problems()
        if given := self.given():
            stream = self.instance.stream
            check_checkpoint(context=WriteContext(), problems=problems, stream=stream, **given)
        problems.raise_if_any()
