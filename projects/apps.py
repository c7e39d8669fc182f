from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    """Users, projects, members, access tokens: who may see and do what."""

    name = "projects"
    verbose_name = "Projects"
