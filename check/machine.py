"""Machinery: the student's machine: what each of their files did, in which version, and with which number."""

from typing import NamedTuple

from check.runs import LoggedRun, read_logged_runs
from course.text import clipped

FILES = {  # file of exercises/ -> the setting of a run that names it
    "my_score.py": "rubric",
    "pick_best.py": "pick",
    "reinforce.py": "update",
    "loop.py": "step",
    "patched_rubric.py": "rubric",
}
DID = {"rubric": "measured", "pick": "chose", "update": "learned", "step": "learned"}


class Work(NamedTuple):
    """What one version of a file did. ``run``: the newest such run, ``number``: its main number."""

    file: str
    version: str
    did: str
    run: str
    number: str


def list_works() -> list[Work]:
    """The newest run for each file, version and deed, in the order of the files; a file without one is idle."""
    newest: dict[tuple[str, str, str], Work] = {}
    for run in read_logged_runs():
        for file, setting in FILES.items():
            if setting == "pick" and run.manifest.loop != "B":
                continue  # the number of a run that also learns is not the choice's
            if str(run.manifest.settings.get(setting)).startswith(f"{file}:"):
                work = describe(run, file, setting)
                newest.setdefault(work[:3], work)
    idle = [Work(file, "", "nothing yet", "", "") for file in FILES if file not in {file for file, *_ in newest}]
    order = list(FILES)
    return sorted([*newest.values(), *idle], key=lambda work: (order.index(work.file), work.version, work.did))


def describe(run: LoggedRun, file: str, setting: str) -> Work:
    """``version``: what the file calls it, if it does, and how its digest begins."""
    settings = run.manifest.settings
    version = f"{clipped(settings.get(f'{setting}_version', ''), 6)} {settings[f'{setting}_sha256'][:4]}".strip()
    did = DID[setting]
    if setting == "rubric" and run.manifest.loop == "C":
        did = "taught"  # a policy, which may have found its holes
    number = ", ".join(f"{value:.3g} {name}" for name, value in run.headline.items())
    return Work(file, version, did, run.folder, number)
