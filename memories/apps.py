from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Memories, their bags, links and revisions; recall and search."""

    name = "memories"
    verbose_name = "Memories"

    def ready(self) -> None:
        from memories import tools  # noqa: F401 - declares the tools
