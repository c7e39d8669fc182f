"""The addresses of memories and reviews under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from memories.api import commits, reviews, views

_HERE = "projects/<slug:slug>"
_MEMORY = f"{_HERE}/memories/<int:number>"
_REVIEW = f"{_HERE}/reviews/R<int:number>"

app_name = "memories_api"
urlpatterns = [
    path("projects", views.ProjectList.as_view(), name="projects"),
    path(_HERE, views.Overview.as_view(), name="project"),
    path(f"{_HERE}/recall", views.Recall.as_view(), name="recall"),
    path(f"{_HERE}/rules", views.Rules.as_view(), name="rules"),
    path(f"{_HERE}/rules/scoped", views.ScopedRules.as_view(), name="scoped_rules"),
    path(f"{_HERE}/search", views.Search.as_view(), name="search"),
    path(f"{_HERE}/memories", views.MemoryList.as_view(), name="memories"),
    path(f"{_HERE}/memories/suggest", views.Suggest.as_view(), name="suggest"),
    path(_MEMORY, views.OneMemory.as_view(), name="memory"),
    path(f"{_MEMORY}/archive", views.Archive.as_view(), name="archive"),
    path(f"{_MEMORY}/restore", views.Restore.as_view(), name="restore"),
    path(f"{_MEMORY}/verify", views.Verify.as_view(), name="verify"),
    path(f"{_MEMORY}/revisions", views.Revisions.as_view(), name="revisions"),
    path(f"{_HERE}/commits", commits.CommitList.as_view(), name="commits"),
    path(f"{_HERE}/reviews", reviews.ReviewList.as_view(), name="reviews"),
    path(_REVIEW, reviews.OneReview.as_view(), name="review"),
    path(f"{_REVIEW}/decision", reviews.Decision.as_view(), name="decision"),
]
