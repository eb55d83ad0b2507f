"""HTML pages of one file, without anything to fetch, and the tables in them."""

from collections.abc import Iterable, Sequence
from html import escape


def html_page(title: str, style: str, body: Iterable[str]) -> str:
    """Return a whole page; ``style`` is CSS, and the parts of ``body`` are HTML already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n'
        f"<style>\n{style.strip()}\n</style>\n</head>\n<body>\n{chr(10).join(body)}\n</body>\n"
        "</html>\n"
    )


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts, which may scroll sideways; without a head where that is empty."""
    top = f"<thead><tr>{html_cells('th', head)}</tr></thead>" if head else ""
    lines = "".join(f"<tr>{html_cells('td', row)}</tr>" for row in rows)
    return f"<div class=scroll><table>{top}<tbody>{lines}</tbody></table></div>"


def html_cells(tag: str, texts: Iterable[str]) -> str:
    """Return the cells of a row of texts."""
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
