"""The version of xgrammar whose names this package has, for programs that ask; that of grammask is `__version__`."""

from __future__ import annotations

__all__ = ["__commit_id__", "__version__", "__version_tuple__", "commit_id", "version", "version_tuple"]

version = __version__ = "0.2.8"
version_tuple = __version_tuple__ = (0, 2, 8)
commit_id: str | None
"""A package from an index has none."""
commit_id = __commit_id__ = None
