"""What is a table at heart: in print, as a data frame, and as HTML in notebooks."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 50  # rows in a notebook
Rows = Sequence[Mapping[str, Any]]


def text_table(rows: Rows, cells: Callable[[Sequence[Any]], list[str]], rule: str = "") -> str:
    """Return rows as aligned text: words to the left, numbers to the right.

    ``cells`` writes the values of a column; a ``rule``, a character, underlines the names.

    >>> rows = [{"arm": "tea", "mean": 4.5}, {"arm": "water", "mean": 12.0}]
    >>> print(text_table(rows, lambda values: [str(value) for value in values]))
    arm    mean
    tea     4.5
    water  12.0
    """
    columns = []
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        lines = [name, *cells(values)]
        width = max(map(len, lines))
        if rule:
            lines.insert(1, rule * width)
        align = str.ljust if isinstance(values[0], str) else str.rjust
        columns.append([align(line, width) for line in lines])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


class Tabular:
    """A value with rows, each a dict with the same keys."""

    @abstractmethod
    def _rows(self) -> Sequence[dict[str, Any]]:
        """Return the rows."""

    def _caption(self) -> str:
        """Return what stands above the table."""
        return ""

    def to_pandas(self) -> "pd.DataFrame":
        """Return the rows as a pandas data frame; pandas must be installed."""
        import pandas as pd

        return pd.DataFrame(list(self._rows()))

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        rows = self._rows()
        names = list(rows[0]) if rows else []
        lines = [_line("th", names), *(_line("td", row.values()) for row in rows[:SHOWN])]
        if len(rows) > SHOWN:
            lines.append(f"<tr><td colspan={len(names)}>and {len(rows) - SHOWN} more</td></tr>")
        caption = escape(self._caption()).replace("\n", "<br>")
        return f"<table><caption>{caption}</caption>{''.join(lines)}</table>"


def _line(tag: str, cells: Any) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(_cell(cell))}</{tag}>" for cell in cells) + "</tr>"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
