"""Turn the formulas of docstrings into plain text, so that pages need no JavaScript."""

import re
from typing import Any

from griffe import Extension, Object

SIGNS = {
    r"\\hat\\mu": "μ\N{COMBINING CIRCUMFLEX ACCENT}",
    r"\\tilde\\mu": "μ\N{COMBINING TILDE}",
    r"\\(?:mathrm|text)\{([^}]*)\}": r"\1",
    r"\\tfrac\{([^}]*)\}\{([^}]*)\}": r"(\1 / \2)",
    r"\\sqrt\{([^}]*)\}": r"√(\1)",
    r"\\mu": "μ",
    r"\\sigma": "σ",
    r"\\gamma": "γ",
    r"\\rho": "ρ",
    r"\\epsilon": "ε",
    r"\\delta": "δ",
    r"\\Phi": "Φ",
    r"\\sum": "Σ",
    r"\\prod": "Π",
    r"\\propto": "∝",
    r"\\sim": "~",
    r"\\le": "≤",
    r"\\neq": "≠",
    r"\\emptyset": "∅",
    r"\\in(?![a-z])": "∈",
    r"\\cap": "∩",
    r"\\cup": "∪",
    r"\\dots": "...",
    r"\\q?quad": "  ",
    r"\\,": "",
    r"\\([a-z]+)": r"\1",
    r"\\([{}])": r"\1",
}


def plain(formula: str) -> str:
    """Return a formula as one line of text."""
    text = " ".join(formula.split())
    for sign, word in SIGNS.items():
        text = re.sub(sign, word, text)
    return text


class PlainMath(Extension):
    """Rewrites the docstring of every object that is loaded."""

    def on_instance(self, *, obj: Object, **kwargs: Any) -> None:
        """Replace roles by code, and displayed formulas by indented lines."""
        if obj.docstring is None:
            return
        text = obj.docstring.value
        text = re.sub(
            r"^\.\. math:: ((?:.+\n?)+)",
            lambda found: f"    {plain(found[1])}\n",
            text,
            flags=re.MULTILINE,
        )
        text = re.sub(r":math:`([^`]+)`", lambda found: f"`{plain(found[1])}`", text)
        obj.docstring.value = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
