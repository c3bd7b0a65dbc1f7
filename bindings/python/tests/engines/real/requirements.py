"""Prints what an installed package asks for on this platform, one requirement a line.

requirements.py PACKAGE[==VERSION] LEFT_OUT...
"""

import importlib.metadata
import sys

from pip._vendor.packaging.requirements import Requirement

name, left_out = sys.argv[1].split("==")[0], set(sys.argv[2:])
for line in importlib.metadata.requires(name) or []:
    requirement = Requirement(line)
    applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    if applies and requirement.name not in left_out:
        requirement.marker = None
        print(requirement)
