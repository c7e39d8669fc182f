"""Stored Markdown as HTML that is safe to show.

Raw HTML is never read as HTML; what comes out passes an allow-list once more; marks that turn the
direction of reading are written out. Nothing is loaded: an image becomes a link to it. What would take
long, or grow, is shown as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from memoryhub.kernel.markdown_cost import grows, takes_long
from memoryhub.kernel.text import visible_marks

_SCHEMES = {"http", "https", "mailto"}
_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "pre", "code"),
    *("strong", "em", "s", "a", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
# The page's title is h1 and the names of its parts are h2.
_FIRST_LEVEL, _LAST_LEVEL = 3, 6


def rendered(text: str) -> SafeString:
    """The text as HTML, in time and length that its own length bounds."""
    if takes_long(text):
        return _as_written(text)
    env: dict[str, Any] = {}
    tokens = _markdown.parse(text, env)
    if grows(text, tokens):
        return _as_written(text)
    html: str = _markdown.renderer.render(tokens, _markdown.options, env)
    return mark_safe(visible_marks(_cleaner.clean(html)))


def _as_written(text: str) -> SafeString:
    return format_html(
        "<p><em>Shown as it was written: its tables or links would take long to lay out.</em></p>"
        "<pre><code>{}</code></pre>",
        visible_marks(text),
    )


def _below_the_page(state: StateCore) -> None:
    """Headings under those of the page, without a level left out: they are an outline, not sizes."""
    outer: list[int] = []
    for token in state.tokens:
        if token.type not in ("heading_open", "heading_close"):
            continue
        level = int(token.tag[1])
        if token.type == "heading_open":
            while outer and outer[-1] >= level:
                outer.pop()
            outer.append(level)
        token.tag = f"h{min(_LAST_LEVEL, _FIRST_LEVEL + len(outer) - 1)}"


def _image_as_link(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """`![alt](https://…)` names the picture and leads to it; it isn't loaded from elsewhere."""
    image = tokens[at]
    said = renderer.renderInlineAsText(image.children or [], options, env)
    address = str(image.attrs.get("src", ""))
    return f'<a href="{escape(address)}">{escape(said or address)}</a>'


def _may_be_linked(url: str) -> bool:
    return _LINK.match(url.strip()) is not None


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # A refused address stays as it was written, for everybody to read.
    parser.validateLink = _may_be_linked  # type: ignore[method-assign]
    parser.core.ruler.push("below_the_page", _below_the_page)
    parser.add_render_rule("image", _image_as_link)
    return parser


_markdown = _parser()
_cleaner = nh3.Cleaner(
    tags=_TAGS,
    attributes={"a": {"href"}, "ol": {"start"}, "*": set()},
    url_schemes=_SCHEMES,
    link_rel="noopener noreferrer nofollow",
)
