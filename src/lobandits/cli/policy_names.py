"""Policies by name, separated by commas."""

import re


def policy_names(text: str) -> list[str]:
    """Return the policies named in ``text``, separated by commas; "all" means each one."""
    from lobandits.policies import POLICIES

    # commas inside brackets belong to a policy's options
    names = [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]
    return list(POLICIES) if names == ["all"] else names
