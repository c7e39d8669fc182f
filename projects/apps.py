import datetime as dt

from django.apps import AppConfig
from django.utils import timezone


class ProjectsConfig(AppConfig):
    """Users, projects, members, access tokens: who may see and do what."""

    name = "projects"
    verbose_name = "Projects"

    def ready(self) -> None:
        from memoryhub.kernel.jobs import Job, register_job
        from projects.calls.signing_in import listen

        listen()
        register_job(Job("calls", lambda stopped: _pruned(), every=dt.timedelta(hours=1)))


def _pruned() -> str:
    """A line where there was something to prune: a flood of calls doesn't wait for the day's upkeep."""
    from projects.services import prune_calls, prune_tallies

    prune_tallies()
    many = prune_calls(at=timezone.now())
    return f"Calls: pruned={many}" if many else ""
