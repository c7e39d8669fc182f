from django.apps import AppConfig


class HygieneConfig(AppConfig):
    """The rules, the score and its history: detects, never repairs."""

    name = "hygiene"
    verbose_name = "Hygiene"

    def ready(self) -> None:
        from hygiene import doctor, tools  # noqa: F401 - declares the tool
        from hygiene.line import closing_line, overview_entry, tried_line
        from hygiene.parts import finding_filter, gauge, last_scores, memory_part, overview_part
        from hygiene.services import forget_reports, watch
        from hygiene.services.upkeep import keep_up
        from memories.overview import register_overview
        from memories.parts import (
            register_finding_filter,
            register_gauge,
            register_memory_part,
            register_overview_part,
        )
        from memories.recall.closing import register_closing_line
        from memories.services import register_forgetter, register_watcher
        from memoryhub.kernel.doctor import register_check
        from memoryhub.kernel.jobs import Job, register_job
        from projects.home import register_home_facts

        register_watcher(watch)
        register_forgetter(forget_reports)
        register_closing_line(closing_line, place=1, trying=tried_line)
        register_overview("hygiene", overview_entry)
        register_overview_part("hygiene", overview_part)
        register_memory_part("hygiene", memory_part)
        register_finding_filter(finding_filter())
        register_gauge(gauge())
        register_home_facts("hygiene", last_scores)
        register_check("hygiene", doctor.check_derived)
        register_job(Job("upkeep", lambda stopped: keep_up(stopped=stopped).summary))
