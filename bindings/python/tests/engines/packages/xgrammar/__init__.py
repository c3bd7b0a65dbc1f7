"""Stands where xgrammar is installed. Who calls something of it fails."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return None
