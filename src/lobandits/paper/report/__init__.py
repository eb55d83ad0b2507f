"""What a run leaves behind: index.html, report.json, verdicts.md, CSV files and figures."""

from lobandits.paper.report.files import write_report

__all__ = ["write_report"]
