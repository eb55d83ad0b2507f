"""Print the lowest versions that pyproject.toml allows, as constraints: ``name==version``."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\w.]+)")
EXTRAS = ("learn", "service")


def lowest() -> list[str]:
    """Return the lower bounds of what a service needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needs = [*project["dependencies"], *(need for extra in EXTRAS for need in extras[extra])]
    found = [BOUND.match(need) for need in needs]
    return sorted(f"{match[1]}=={match[2]}" for match in found if match)


if __name__ == "__main__":
    print("\n".join(lowest()))
