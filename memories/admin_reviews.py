"""The admin's door to proposals: staff read them, and decide several with one note, through the services."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString, mark_safe

from memories.admin_records import MemoryFilter
from memories.forms_reviews import DecisionForm
from memories.models import ChangeKind, Review
from memories.reviews.differing import shown_fields
from memories.reviews.rows import Row, rows_of
from memories.reviews.showing import proposal_of
from memories.services import REVIEWS_MAX, decide_several, erase_review
from memories.wording import change_name
from memoryhub.kernel.actor import Door
from memoryhub.kernel.admin import ExactFilter, ReadOnlyAdmin, choice_filter
from memoryhub.kernel.errors import DomainError
from memoryhub.kernel.refs import read_number
from memoryhub.kernel.requests import web_actor
from memoryhub.kernel.text import in_one_line, visible_marks
from projects.admin import ProjectFilter

# The filter offers so many of those who proposed something; any other can stand in the address.
PROPOSERS_OFFERED = 50


class ProposerFilter(ExactFilter):
    """Of one person and his agents."""

    title = "proposer"
    parameter_name = "proposer"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        rows = Review.objects.visible_to_staff().order_by("proposer__username")
        names = list(rows.values_list("proposer__username", flat=True).distinct()[:PROPOSERS_OFFERED])
        chosen = request.GET.get(self.parameter_name, "")
        if chosen and chosen not in names and chosen.isprintable():
            names.append(chosen)
        return [(name, name) for name in names]

    def narrowed(self, queryset: Any, value: str) -> Any:
        return queryset.filter(proposer__username=value)


class SessionFilter(admin.SimpleListFilter):
    """Of one session, by its name in the address: each row links to it. It offers no list of its own."""

    title = "session"
    parameter_name = "session"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return ((self.used_parameters["session"], "this one"),) if self.used_parameters else ()

    def has_output(self) -> bool:
        return bool(self.used_parameters)

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        value = self.value()
        if value is None:
            return queryset
        return queryset.from_session(value) if value.isprintable() else queryset.none()


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    """Proposed changes: read with their difference, approved and rejected; never written by a form."""

    list_display = (
        "ref",
        "what",
        "shown_title",
        "project",
        "status",
        "who",
        "session",
        "branch",
        "created_at",
        "decider",
        "decided_at",
    )
    list_display_links = ("ref", "shown_title")
    list_filter = (
        choice_filter("status", Review.Status),
        choice_filter("kind", ChangeKind),
        ProjectFilter,
        ProposerFilter,
        SessionFilter,
        MemoryFilter,
    )
    search_fields = ("title", "reason", "session", "branch")
    search_help_text = "A number such as R12, or words of the title, the reason, the session or the branch."
    ordering = ("-pk",)
    actions = ("approve", "reject", "erase")
    fieldsets = (
        (None, {"fields": ("ref", "project", "what", "about", "status", "based_on", "difference")}),
        (
            "Proposed",
            {
                "fields": (
                    "who",
                    "door",
                    "session",
                    "client",
                    "model",
                    "branch",
                    "commit",
                    "shown_reason",
                    "created_at",
                )
            },
        ),
        ("Decided", {"fields": ("decider", "decided_from", "shown_note", "decided_at")}),
    )

    class Media:
        css = {"all": ("css/components/difference.css",)}

    # --- reading ---------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = Review.objects.visible_to_staff().with_marks_for_staff()
        return rows.whole().order_by(*self.ordering)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        if "\x00" in search_term:  # no database takes it
            return queryset.none(), False
        found, duplicates = super().get_search_results(request, queryset, search_term)
        number = read_number(search_term, review=True)
        return (found | queryset.filter(number=number) if number else found), duplicates

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Staff with Django's permission to change reviews; whether they review there, the service says."""
        user: Any = request.user
        return bool(user.has_perm("memories.change_review"))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) or self.has_decide_permission(request)

    @admin.display(description="number", ordering="number")
    def ref(self, review: Review) -> str:
        return review.ref

    @admin.display(description="does")
    def what(self, review: Any) -> str:
        row = _row(review)
        return f"{row.says} #{row.memory.number}" if row.memory else row.says

    @admin.display(description="title", ordering="title")
    def shown_title(self, review: Review) -> str:
        return visible_marks(review.title)

    @admin.display(description="title")
    def about(self, review: Review) -> str:
        return visible_marks(review.title)

    @admin.display(description="proposed by", ordering="proposer__username")
    def who(self, review: Review) -> str:
        return review.actor_name

    @admin.display(description="decided by", empty_value="")
    def decider(self, review: Review) -> str:
        return review.decider_name

    @admin.display(description="from", empty_value="")
    def decided_from(self, review: Review) -> str:
        said = review.decision()
        return ", ".join(
            f"{name} {said[name]}" for name in ("door", *Review.DECISION_PROVENANCE) if name in said
        )

    @admin.display(description="reason", empty_value="none was given")
    def shown_reason(self, review: Review) -> str:
        return visible_marks(review.reason)

    @admin.display(description="note", empty_value="")
    def shown_note(self, review: Review) -> str:
        return visible_marks(review.note)

    @admin.display(description="difference")
    def difference(self, review: Review) -> SafeString:
        """What it changes, word by word, as far as the admin shows it."""
        # What staff see is the same for all of them, whoever asks.
        proposal = proposal_of(review, review.proposer, staff=True)
        context = {"proposal": proposal, "review": review, "fields": shown_fields(proposal)}
        return mark_safe(render_to_string("admin/memories/review/difference.html", context))

    # --- deciding --------------------------------------------------------------------

    @admin.action(description="Approve…", permissions=["decide"])
    def approve(self, request: HttpRequest, queryset: QuerySet[Review]) -> HttpResponse | None:
        return self._decide(request, queryset, "approve")

    @admin.action(description="Reject…", permissions=["decide"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Review]) -> HttpResponse | None:
        return self._decide(request, queryset, "reject")

    def _decide(self, request: HttpRequest, chosen: QuerySet[Review], decision: str) -> HttpResponse | None:
        """Asks for a note on a page of its own; with it decides each by itself and says what became of it."""
        reviews = sorted(chosen[: REVIEWS_MAX + 1], key=lambda review: review.pk)
        sent = request.POST if "decided" in request.POST else None
        form = DecisionForm({**sent.dict(), "decision": decision}) if sent is not None else DecisionForm()
        if sent is None or not form.is_valid():
            return self._ask(request, reviews, decision, form)
        try:
            done = decide_several(
                actor=web_actor(request, Door.ADMIN),
                reviews=reviews,
                decision=decision,
                note=form.cleaned_data["note"],
            )
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return None
        for one in done:
            if one.refusal is not None:
                sentence = f"{_name(one.review)}: {one.refusal.message}"
                self.message_user(request, visible_marks(in_one_line(sentence)), messages.ERROR)
            else:
                self.log_change(request, one.review, f"{one.review.status.capitalize()}.")
        if many := sum(one.ok for one in done):
            self.message_user(request, f"{many} {_DONE[decision]}.", messages.SUCCESS)
        return None

    def _ask(
        self, request: HttpRequest, reviews: list[Review], decision: str, form: DecisionForm
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{decision.capitalize()} {len(reviews)} proposal{'' if len(reviews) == 1 else 's'}?",
            "rows": rows_of(reviews, request.user, staff=True),  # type: ignore[arg-type]
            "decision": decision,
            "form": form,
        }
        return TemplateResponse(request, "admin/memories/review/decide.html", context)

    # --- erasing ---------------------------------------------------------------------

    @admin.action(description="Erase…", permissions=["decide"])
    def erase(self, request: HttpRequest, queryset: QuerySet[Review]) -> HttpResponse | None:
        """Asks, and with the answer takes the texts out for good, of each proposal by itself."""
        reviews = sorted(queryset[:REVIEWS_MAX], key=lambda review: review.pk)
        if "erased" not in request.POST:
            context = {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": f"Erase {len(reviews)} proposal{'' if len(reviews) == 1 else 's'}?",
                "rows": rows_of(reviews, request.user, staff=True),  # type: ignore[arg-type]
            }
            return TemplateResponse(request, "admin/memories/review/erase.html", context)
        many = 0
        for review in reviews:
            try:
                erase_review(actor=web_actor(request, Door.ADMIN), review=review)
            except DomainError as refusal:
                self.message_user(request, f"{_name(review)}: {refusal.message}", messages.ERROR)
                continue
            many += 1
            self.log_change(request, review, "Erased.")
        if many:
            self.message_user(request, f"{many} erased.", messages.SUCCESS)
        return None

    def logged_as(self, obj: Any) -> Review:
        """The proposal without its title: the log outlives it, also when it is erased."""
        return Review(pk=obj.pk, number=obj.number, title=f"in {obj.project.slug}")


_DONE = {"approve": "approved", "reject": "rejected"}


def _name(review: Review) -> str:
    return f"{review.ref} in {review.project.slug}"


def _row(review: Any) -> Row:
    """A row by the marks that the list was loaded with; whether it moved on is for its page."""
    says = change_name(review.kind, publishes=review.publishes, restores=bool(review.restores))
    return Row(review, review.memory if review.is_readable else None, says, False)
