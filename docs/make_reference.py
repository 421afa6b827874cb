"""Write the pages of docs/reference/ that are taken from the code, so that they cannot say another thing than it does.

    .venv/bin/python docs/make_reference.py

Commands from their parsers, files from the types of their rows and from runs that are made on the way, the spec and the
gate's reasons from the source. Where the code has a name and no sentence about it, the sentence stands in
docs/taken_from_code/, and a name without one, or a sentence without a name, is an error.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
REFERENCE = LAB / "docs" / "reference"


def pages() -> dict[str, Callable[[], str]]:
    """Name of a page -> what writes it."""
    from docs.taken_from_code import artifacts, metrics, summaries
    from docs.taken_from_code.commands import PAGES, commands_page
    from docs.taken_from_code.gate import gate_page
    from docs.taken_from_code.reward_spec import reward_spec_page

    found = {name: partial(commands_page, name) for name in PAGES}
    found |= {name: partial(metrics.metrics_page, name) for name in metrics.PAGES}
    return found | {
        "artifacts": artifacts.artifacts_page,
        "artifacts_manifest": artifacts.manifest_page,
        "artifacts_rows": artifacts.rows_page,
        "artifacts_token_rows": artifacts.token_rows_page,
        "artifacts_summary": summaries.summary_page,
        "reward_spec": reward_spec_page,
        "gate": gate_page,
    }


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for name, write in pages().items():
        (REFERENCE / f"{name}.md").write_text(write(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.path[:0] = [str(LAB), str(LAB / "tests")]
    main()
