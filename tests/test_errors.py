"""Every message that a user can meet: listed in docs/errors.md, each with a value or a fix."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "lobandits"
PAGE = ROOT / "docs" / "errors.md"
HEAD = """# Errors

Every error is a `LobError`; where the input is wrong, it is a `LobInputError`, which is also a
`ValueError`. On the command line it is one line, and the exit code is 2. Nothing is half-written.
Below is every message, by the module that raises it; `{...}` stands for the value in question.

"""


class Message(NamedTuple):
    """A message, and the module that raises it."""

    module: str
    text: str


def written(node: ast.expr) -> str:
    """Return a string expression as text, with its values in braces."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return written(node.left) + written(node.right)
    if isinstance(node, ast.FormattedValue):
        return "{" + ast.unparse(node.value) + "}"
    return "{" + ast.unparse(node) + "}"


def messages() -> Iterator[Message]:
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE).with_suffix("").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = ast.unparse(node.exc.func)
                if (
                    "Error" in name
                    and node.exc.args
                    and not name.startswith(("Type", "Attr", "Run", "Pydantic"))
                ):
                    yield Message(module, " ".join(written(node.exc.args[-1]).split()))
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Must":
                yield Message(module, f"{written(node.args[0])}, got {{value}}")


def page() -> str:
    """Return the text of docs/errors.md."""
    by_module: dict[str, list[str]] = {}
    for message in messages():
        by_module.setdefault(message.module, []).append(message.text)
    parts = [
        f"## {module}\n\n" + "".join(f"- `{text}`\n" for text in sorted(set(texts)))
        for module, texts in by_module.items()
    ]
    return HEAD + "\n".join(parts)


def test_page_lists_every_message() -> None:
    """To write it anew: ``.venv/bin/python tests/test_errors.py > docs/errors.md``."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_messages_show_a_value_or_say_what_is_needed() -> None:
    signs = ("{", ";", "must", "need", "give", "too", "missing", "corrupt", "no lobandits result")
    found = set(messages())
    assert len(found) > 400
    assert not [message for message in found if not any(sign in message.text for sign in signs)]


if __name__ == "__main__":
    print(page(), end="")
