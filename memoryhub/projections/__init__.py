"""Files for a repository: the decisions and the rules of a project as Markdown.

Generated whole and never read back. They say what every member reads; somebody's private memories only where
that is asked for by name (decision 0048).
"""

from memoryhub.projections.kept import decisions_file, rules_files

__all__ = ["decisions_file", "rules_files"]
