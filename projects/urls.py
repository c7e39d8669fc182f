from django.urls import path

from projects import (
    views,
    views_account,
    views_activity,
    views_calls,
    views_connect,
    views_members,
    views_settings,
)

app_name = "projects"
urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("theme/", views.theme, name="theme"),
    path("density/", views.density, name="density"),
    path("shortcuts/", views.shortcuts, name="shortcuts"),
    path("profile/", views_account.profile, name="profile"),
    path("profile/password/", views_account.password, name="password"),
    path("tokens/", views_account.my_tokens, name="my_tokens"),
    path("tokens/<slug:public_part>/revoke/", views_account.my_token_revoke, name="my_token_revoke"),
    path("projects/new/", views_settings.project_new, name="new"),
    path("p/<slug:slug>/activity/", views_activity.activity, name="activity"),
    path("p/<slug:slug>/activity/session/", views_activity.session, name="session"),
    path("p/<slug:slug>/members/", views_members.members, name="members"),
    path("p/<slug:slug>/members/@<str:username>/", views_members.member, name="member"),
    path("p/<slug:slug>/members/@<str:username>/remove/", views_members.member_remove, name="member_remove"),
    path("p/<slug:slug>/settings/", views_settings.settings_page, name="settings"),
    path("p/<slug:slug>/settings/preview/", views_settings.settings_preview, name="settings_preview"),
    path("p/<slug:slug>/settings/archive/", views_settings.project_archive, name="archive"),
    path("p/<slug:slug>/settings/restore/", views_settings.project_restore, name="restore"),
    path("p/<slug:slug>/tokens/", views_connect.project_tokens, name="project_tokens"),
    path("p/<slug:slug>/calls/", views_calls.calls, name="calls"),
    path("p/<slug:slug>/connect/", views_connect.connect, name="connect"),
    path("p/<slug:slug>/connect/<slug:host>/<int:place>/file/", views_connect.host_file, name="host_file"),
    path("p/<slug:slug>/connect/<slug:public_part>/first-call/", views_connect.first_call, name="first_call"),
    path("p/<slug:slug>/connect/<slug:public_part>/revoke/", views_connect.token_revoke, name="token_revoke"),
]
