"""What a run leaves behind: index.html, report.json, verdicts.md, CSV files and figures."""

from typing import IO, TYPE_CHECKING

from lobandits._files import write_atomic
from lobandits.experiments.report.markdown import verdicts_markdown
from lobandits.experiments.report.numbers import report_json
from lobandits.experiments.report.page import page_html
from lobandits.experiments.report.tables import write_csv
from lobandits.experiments.svg import standalone

if TYPE_CHECKING:
    from lobandits.experiments.runner import Reproduction


def write_report(found: "Reproduction") -> None:
    """Write everything into the folder of the run."""
    for name in ("data", "figures"):
        (found.folder / name).mkdir(exist_ok=True)
    for outcome in found.outcomes:
        name = outcome.experiment.name
        if outcome.found:
            write_csv(found.folder / "data" / f"{name}.csv", outcome)
        if outcome.pictures:
            _write(found, f"figures/{name}.svg", standalone(outcome.pictures["wide"]))
    _write(found, "report.json", report_json(found))
    _write(found, "verdicts.md", verdicts_markdown(found))
    _write(found, "index.html", page_html(found))


def _write(found: "Reproduction", name: str, text: str) -> None:
    def fill(file: IO[bytes]) -> None:
        file.write(text.encode())

    write_atomic(found.folder / name, fill)
