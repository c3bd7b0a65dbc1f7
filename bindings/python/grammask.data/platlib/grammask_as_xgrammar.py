"""Puts grammask in the place of xgrammar when something first imports xgrammar.

Engines import xgrammar before they load plugins, so a plugin comes too late. ``grammask_as_xgrammar.pth`` imports
this module while Python starts, where ``GRAMMASK_AS_XGRAMMAR`` is set. Nothing else is imported then: a process that
never needs a grammar does not pay for one.
"""

import sys


class _FirstImport:
    """Waits for the first import of xgrammar, then gives way."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "xgrammar":
            return None
        sys.meta_path.remove(_FirstImport)
        from grammask._plugins import first_import

        return first_import()


sys.meta_path.insert(0, _FirstImport)
