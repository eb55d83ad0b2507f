"""Print what a service is made of, as a CycloneDX bill of materials: every package installed here.

Run it in the environment that is shipped: ``python deploy/sbom.py > lobandits.cdx.json``.
"""

import json
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement

ROOT = "lobandits[service]"


def installed(root: str) -> dict[str, Distribution]:
    """Return the packages that ``root`` needs, near or far, by name."""
    found: dict[str, Distribution] = {}
    waiting, seen = [Requirement(root)], set()
    while waiting:
        need = waiting.pop()
        if (key := (need.name.lower(), frozenset(need.extras))) in seen:
            continue
        seen.add(key)
        try:
            package = found[need.name.lower()] = distribution(need.name)
        except PackageNotFoundError:
            continue
        for text in package.requires or ():
            further = Requirement(text)
            extras = need.extras or {""}
            if further.marker is None or any(further.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(further)
    return found


def component(package: Distribution) -> dict[str, Any]:
    """Return a package as CycloneDX has it."""
    name, version = package.metadata["Name"], package.version
    license_name = package.metadata.get("License-Expression") or package.metadata.get("License")
    part = {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
    }
    if license_name and len(license_name) < 80:
        part["licenses"] = [{"license": {"name": license_name}}]
    return part


def bill() -> dict[str, Any]:
    """Return the bill of materials of the service."""
    found = installed(ROOT)
    itself = component(found.pop("lobandits")) | {"type": "application"}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": itself},
        "components": [component(found[name]) for name in sorted(found)],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=2)
    print()
