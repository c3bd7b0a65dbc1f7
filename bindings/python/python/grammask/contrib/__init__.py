"""Integrations that need other packages."""
