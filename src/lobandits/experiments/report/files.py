"""The files of a report."""

from lobandits._files import write_text
from lobandits.experiments.drawing import standalone
from lobandits.experiments.outcome import Reproduction
from lobandits.experiments.report.as_json import report_json
from lobandits.experiments.report.number_tables import csv_text
from lobandits.experiments.report.page import report_page
from lobandits.experiments.report.verdict_table import verdicts_markdown


def write_report(found: Reproduction) -> None:
    """Write everything into the folder of the run."""
    texts = {
        "report.json": report_json(found),
        "verdicts.md": verdicts_markdown(found),
        "index.html": report_page(found),
    }
    for outcome in found.outcomes:
        name = outcome.experiment.name
        if outcome.records:
            texts[f"data/{name}.csv"] = csv_text(outcome)
        if outcome.pictures:
            texts[f"figures/{name}.svg"] = standalone(outcome.pictures["wide"])
    for folder in ("data", "figures"):
        (found.folder / folder).mkdir(exist_ok=True)
    for name, text in texts.items():
        write_text(found.folder / name, text)
