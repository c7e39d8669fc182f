from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Memories, their bags, links and revisions; recall and search."""

    name = "memories"
    verbose_name = "Memories"

    def ready(self) -> None:
        from memories import activity, doctor, tools, tools_reviews, tools_suggest  # noqa: F401 - declare the tools
        from memories.overview import held_in, register_overview
        from memories.recall.closing import register_closing_line
        from memories.reviews.counting import waiting_by_project
        from memories.reviews.telling import (
            outcome_line,
            overview_entry,
            tried_outcome_line,
            tried_waiting_line,
            waiting_line,
        )
        from memories.search.upkeep import tidy
        from memories.services.curating import drop_marks
        from memories.services.watching import register_watcher
        from memories.settings_part import recall_part
        from memoryhub.kernel.doctor import register_check
        from memoryhub.kernel.jobs import Job, register_job
        from projects.activity import register_activity
        from projects.home import register_home_facts
        from projects.parts import register_settings_part

        register_home_facts("memories", held_in)
        register_home_facts("reviews", waiting_by_project)
        register_settings_part("recall", recall_part)
        for kept in activity.KINDS:
            register_activity(kept)
        register_watcher(drop_marks)
        register_closing_line(waiting_line, place=2, trying=tried_waiting_line)
        register_closing_line(outcome_line, place=3, trying=tried_outcome_line)
        register_overview("reviews", overview_entry)
        register_job(Job("index", tidy))
        register_check("bags", doctor.check_bags)
        register_check("commits", doctor.check_commits)
        register_check("history", doctor.check_history)
        register_check("links", doctor.check_links)
        register_check("reviews", doctor.check_reviews)
        register_check("index", doctor.check_index)
