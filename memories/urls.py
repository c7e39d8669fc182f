from django.urls import path

from memories import (
    views,
    views_acts,
    views_deciding,
    views_history,
    views_reviews,
    views_search,
    views_several,
    views_writing,
)

app_name = "memories"
_EVERYWHERE = {"everywhere": True}
urlpatterns = [
    path("p/<slug:slug>/", views.overview, name="overview"),
    path("p/<slug:slug>/memories/", views.memory_list, name="list"),
    path("p/<slug:slug>/memories/new/", views_writing.memory_new, name="new"),
    path("p/<slug:slug>/memories/similar/", views_writing.memory_similar, name="similar"),
    path("p/<slug:slug>/memories/findings/", views.finding_choices, name="finding_choices"),
    path("p/<slug:slug>/memories/several/", views_several.several, name="several"),
    path("p/<slug:slug>/memories/<int:number>/", views.memory, name="memory"),
    path("p/<slug:slug>/memories/<int:number>/children/", views.memory_children, name="children"),
    path("p/<slug:slug>/memories/<int:number>/edit/", views_writing.memory_edit, name="edit"),
    path("p/<slug:slug>/memories/<int:number>/act/", views_acts.memory_act, name="act"),
    path("p/<slug:slug>/memories/<int:number>/history/", views_history.memory_history, name="history"),
    path(
        "p/<slug:slug>/memories/<int:number>/versions/<int:version>/",
        views_history.memory_version,
        name="version",
    ),
    path("search/", views_search.search, name="search_everywhere"),
    path("p/<slug:slug>/search/", views_search.search, name="search"),
    # What waits in all projects that one is in: the same pages, which stay there.
    path("reviews/", views_reviews.review_list, name="every_reviews"),
    path("reviews/news/", views_reviews.review_news, name="every_review_news"),
    path("reviews/decide/", views_deciding.review_decide_several, name="every_review_decide_several"),
    path("reviews/<slug:slug>/R<int:number>/", views_reviews.review, _EVERYWHERE, name="every_review"),
    path(
        "reviews/<slug:slug>/R<int:number>/decide/",
        views_deciding.review_decide,
        _EVERYWHERE,
        name="every_review_decide",
    ),
    path(
        "reviews/<slug:slug>/R<int:number>/edit/",
        views_deciding.review_edit,
        _EVERYWHERE,
        name="every_review_edit",
    ),
    path("p/<slug:slug>/reviews/", views_reviews.review_list, name="reviews"),
    path("p/<slug:slug>/reviews/news/", views_reviews.review_news, name="review_news"),
    path("p/<slug:slug>/reviews/decide/", views_deciding.review_decide_several, name="review_decide_several"),
    path("p/<slug:slug>/reviews/R<int:number>/", views_reviews.review, name="review"),
    path("p/<slug:slug>/reviews/R<int:number>/decide/", views_deciding.review_decide, name="review_decide"),
    path("p/<slug:slug>/reviews/R<int:number>/edit/", views_deciding.review_edit, name="review_edit"),
]
