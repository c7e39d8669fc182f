"""The formats, each a module with what it recognises and how it reads."""

from memoryhub.importing.readers.registry import FORMATS, Format, choose_format

__all__ = ["FORMATS", "Format", "choose_format"]
