"""The history of the score: one entry a day, and one for each change."""

from __future__ import annotations

from hygiene.models import Report, Score


def note_score(report: Report) -> None:
    """Add an entry where the score changed or the day has none. Two at once leave one entry."""
    last = Score.objects.of(report.project).first()
    if last is not None:
        if (last.day, last.change_counter) >= (report.day, report.change_counter):
            return
        if last.day == report.day and last.score == report.score:
            return
    entry = Score(
        project=report.project,
        day=report.day,
        score=report.score,
        penalty=report.penalty,
        change_counter=report.change_counter,
    )
    Score.objects.bulk_create([entry], ignore_conflicts=True)
