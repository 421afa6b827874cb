"""A lab of its own for each test: an empty folder, small files in it, and the commands run there."""

import hashlib
import importlib
import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from course.artifacts import run_log, writing
from course.command import run_command
from teacher.student_conftest import pick_best, reinforce_step, rubric  # noqa: F401  (fixtures of a student's tests)

ROOT = Path(__file__).parents[1]
COMMANDS = [
    path.stem
    for path in sorted((ROOT / "course").glob("[!_]*.py"))
    if "run_command(main)" in path.read_text(encoding="utf-8")
]
SAMPLING: dict[str, object] = {"temperature": 1.0, "top_p": 1.0, "seed": 7, "n": 1}
# They begin the run, so that none of them is left for one worker alone at its end.
LONGEST_FIRST = ("tests/test_terminal.py", "tests/docs/", "tests/pages/", "tests/check/", "tests/teacher/")
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    help_ = "every test of the lab, the slow ones too, with more examples of each property"
    parser.getgroup("lab").addoption("--all", action="store_true", help=help_)
    help_ = "commands of the pages that take minutes, as they stand, and trainings that take minutes"
    parser.getgroup("lab").addoption("--long", action="store_true", help=help_)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run files in parallel where pytest-xdist is installed and nothing else was asked for.

    A file is the unit: its tests run one after the other in one process, and share its fixtures. Groups across files
    (--dist=loadgroup) are ignored in silence by pytest-xdist 3.8 under pytest 9.2: its issue 1386.
    """
    is_worker = hasattr(config, "workerinput")  # a worker that started workers would do so without end
    if config.pluginmanager.hasplugin("xdist") and not is_worker:
        if config.option.numprocesses is None:
            config.option.numprocesses = "auto"
        if config.option.dist == "no":
            config.option.dist = "loadfile"
            config.option.loadscopereorder = False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No workers for one file, which one of them would run alone: to start them takes longer than most files."""
    words = config.option.file_or_dir
    a_file = len(words) == 1 and os.path.isfile(words[0].partition("::")[0])  # noqa: PTH113  (of any length)
    return 0 if a_file else None


def pytest_configure(config: pytest.Config) -> None:
    """NumPy with one thread, as in a command, because two would change last bits; Ctrl-C as at a terminal.

    What a shell starts in the background ignores SIGINT, and so does everything that it starts.
    """
    if config.getoption("--all") and config.args_source is config.ArgsSource.TESTPATHS:
        config.args = ["tests"]
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if importlib.util.find_spec("hypothesis"):
        load_hypothesis_profile(config)
    environment = dict(os.environ)
    os.environ |= ONE_THREAD
    importlib.import_module("numpy")
    restore(environment)


def load_hypothesis_profile(config: pytest.Config) -> None:
    """More examples with ``--all``. A student's own tests run without Hypothesis."""
    from hypothesis import HealthCheck, settings

    examples = 300 if config.getoption("--all") else 30
    too_slow = [HealthCheck.too_slow]  # a verdict about how busy the machine is
    settings.register_profile(
        "lab", derandomize=True, deadline=None, max_examples=examples, suppress_health_check=too_slow
    )
    settings.load_profile("lab")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests but for ``--all``, and long ones but for ``--long``.

    Neither is left out if a test is named by its id, ``file::test``.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST_FIRST))
    if any("::" in argument for argument in config.args):
        return
    options = {"slow": "--all", "long": "--long"}
    left_out = [marker for marker, option in options.items() if not config.getoption(option)]
    deselected = [item for item in items if any(item.get_closest_marker(marker) for marker in left_out)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in deselected]


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


def module_of(command: str) -> str:
    """What is typed after ``python3 -m``."""
    return "check" if command == "check" else f"course.{command}"


class Lab:
    """Commands run in ``folder``, which is the working directory: ``runs/`` and ``exercises/`` are the folder's own.

    ``root``: where the package and the data stand for a process of its own, so that its runs and their log are there
    too and not in this checkout.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder.with_name(f"{folder.name}-root")
        self.runs = self.root / "runs"  # of processes; of commands in this process: runs/ in folder
        self.log = self.runs / "log.jsonl"
        self.pick: list[str] = []  # the options by which Loop B chooses

    def __call__(self, command: str, *arguments: object) -> Done:
        """Run a command in this process, ended as a real one is. An exception that escapes fails the test."""
        main = importlib.import_module("check.__main__" if command == "check" else module_of(command)).main
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
        environment = dict(os.environ)
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "argv", [command, *self.words(command, arguments)])
                patch.setattr(sys, "stdout", out)
                patch.setattr(sys, "stderr", err)
                with pytest.raises(SystemExit) as leaving:
                    run_command(main)
        finally:
            restore(environment)
        printed = []
        for stream in (out, err):
            stream.seek(0)
            printed.append(stream.read())
        return Done(int(leaving.value.code or 0), *printed)

    def path(self) -> dict[str, str]:
        """What a process of its own needs in its environment, to find the package at this lab's root."""
        self.root.mkdir(exist_ok=True)
        for name in ("course", "check", "data"):
            if not (self.root / name).exists():
                (self.root / name).symlink_to(ROOT / name, target_is_directory=True)
        return {"PYTHONPATH": str(self.root)}

    def words(self, command: str, arguments: Iterable[object]) -> list[str]:
        """What is typed behind a command: Loop B chooses by the student's rule, where there is one."""
        more = self.pick if command == "selection_demo" else []
        return [*map(str, arguments), *more]

    def start(self, command: str, *arguments: object, **more: Any) -> "subprocess.Popen[bytes]":
        """Start ``python3 -m course.command`` (or check) as a process. ``env`` is added to the environment."""
        environment = os.environ | self.path() | more.pop("env", {})
        line = [sys.executable, "-m", module_of(command), *self.words(command, arguments)]
        more.setdefault("cwd", self.folder)
        pipe = subprocess.PIPE
        if os.name == "posix":  # Ctrl-C is ignored in what a shell runs in the background, and in all its children
            more.setdefault("preexec_fn", partial(signal.signal, signal.SIGINT, signal.SIG_DFL))
        return subprocess.Popen(line, env=environment, stdout=pipe, stderr=pipe, **more)

    def process(self, command: str, *arguments: object, **more: Any) -> Done:
        """The same, to its end."""
        return ended(self.start(command, *arguments, **more))

    def refused(self, command: str, *arguments: object) -> str:
        """Run a command that must end with status 2, one line on stderr and nothing changed on disk: the line."""
        before = files(self.folder)
        done = self(command, *arguments)
        assert done.status == 2
        assert done.out == ""
        assert done.err.startswith("error: ")
        assert done.err.endswith("\n")
        assert done.err.count("\n") == 1
        assert files(self.folder) == before
        return done.err

    def write(self, name: str, data: bytes | str | Iterable[object]) -> Path:
        """A file of these bytes, of this text, or of these records as JSONL."""
        if not isinstance(data, (bytes, str)):
            data = "".join(json.dumps(record) + "\n" for record in data)
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return Path(name)

    def dataset(self, answers: Sequence[int], split: str | None = None, name: str = "dataset.jsonl") -> Path:
        """Examples q1, q2, … with these answers."""
        said = {} if split is None else {"metadata": {"split": split}}
        examples = [
            {"id": f"q{i}", "prompt": f"Question {i}?", "expected_answer": n} | said for i, n in enumerate(answers, 1)
        ]
        return self.write(name, examples)

    def completions(
        self,
        texts: Sequence[str],
        name: str = "completions",
        sampling: dict[str, object] | None = SAMPLING,
        policy: str = "a hand that wrote these tests",
    ) -> Path:
        """One completion for each of q1, q2, …; with a .meta.json beside it, unless ``sampling`` is None."""
        path = self.write(f"{name}.jsonl", [{"id": f"q{i}", "completion": text} for i, text in enumerate(texts, 1)])
        if sampling is not None:
            self.meta(name, sampling=sampling, policy=policy)
        return path

    def pack(self, groups: Sequence[Sequence[str]], name: str = "pack", policy: str = "a hand") -> Path:
        """A group of samples for each of q1, q2, …, with a .meta.json beside it."""
        path = self.write(f"{name}.jsonl", [{"id": f"q{i}", "samples": group} for i, group in enumerate(groups, 1)])
        self.meta(name, sampling=SAMPLING | {"n": len(groups[0])}, policy=policy)
        return path

    def meta(self, name: str, **said: object) -> None:
        """``NAME.meta.json`` for ``NAME.jsonl`` as it is now; ``said`` is more, or other, than is true of it."""
        digest = hashlib.sha256((self.folder / f"{name}.jsonl").read_bytes()).hexdigest()
        true = {"policy": "a hand", "created": "2026-01-31", "sampling": SAMPLING, "template": "{prompt}"}
        self.write(f"{name}.meta.json", json.dumps(true | {"completions_sha256": digest} | said))

    def picker(self, source: str | None) -> Path:
        """Let Loop B choose by this exercises/pick_best.py from here on; by the course's own rule for None."""
        path = "exercises/pick_best.py"
        self.pick = ["--pick", f"{path}:pick_best"] if source is not None else []
        return self.write(path, source or "")

    def red_team(self, start: str = "anywhere", patched: str = "", exploits: Iterable[object] = ()) -> None:
        """The red team's files in exercises/: untouched, or with this body of ``patched`` and these exploits."""
        body = patched or "return GAPS[STARTED_FROM].rubric(example, completion)"
        head = f'import re\nfrom course.rubrics.hackable import GAPS\nSTARTED_FROM = "{start}"\n'
        self.write("exercises/patched_rubric.py", f"{head}def patched(example, completion):\n    {body}\n")
        blank = {"id": "e0", "prompt": "?", "expected_answer": 1, "completion": "", "expected_reward": 0.0, "why": ""}
        self.write("exercises/exploits.jsonl", [blank, *exploits])

    def evaluate(self, answers: Sequence[int], texts: Sequence[str], *more: object) -> Done:
        """Loop A on these answers and completions."""
        return self("eval", "--dataset", self.dataset(answers), "--completions", self.completions(texts), *more)

    def select(self, answers: Sequence[int], groups: Sequence[Sequence[str]], n: int, *more: object) -> Done:
        """Loop B on these answers and samples."""
        files = ["--dataset", self.dataset(answers), "--samples", self.pack(groups)]
        return self("selection_demo", *files, "--n", n, *more)

    def measured(self, run: str, right: Sequence[bool], split: str | None = None) -> Path:
        """A Loop A run under this name, in which the examples pass where ``right`` is true."""
        dataset = self.dataset(range(len(right)), split, f"dataset-{len(right)}-{split}.jsonl")
        texts = [f"Final: {answer}" if passes else f"Final: {answer + 1}" for answer, passes in enumerate(right)]
        completions = self.completions(texts, f"of-{run}", policy=f"the hand of {run}")
        done = self("eval", "--dataset", dataset, "--completions", completions, "--outdir", run)
        assert done.status == 0, done.err
        return Path(run)


@pytest.fixture(scope="session", autouse=True)
def log_of_no_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What publishes a run without the fixture ``lab`` leaves no line in the log of this checkout either.

    In this process a run lies in the working folder by default, and not in this checkout. What a test starts finds
    modules as ever: lab.py starts pytest so that this folder is not first.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_log, "LOG", tmp_path_factory.mktemp("logged") / "log.jsonl")
        patch.setattr(writing, "RUNS", Path("runs"))
        patch.delenv("PYTHONSAFEPATH", raising=False)
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium for the tests of one file, closed after its file: playwright runs one at a time in a process."""
    from browsing import chromium

    with chromium() as one:
        yield one


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # a person's own file leaves its folder there
    lab = Lab(tmp_path)
    monkeypatch.setattr(run_log, "LOG", lab.log)
    return lab


def restore(environment: dict[str, str]) -> None:
    """Make the environment of this process what it was."""
    os.environ.clear()
    os.environ.update(environment)


def prompts_digest(prompts: Iterable[str]) -> str:
    """What the log knows a holdout by: SHA-256 over its distinct prompts, sorted, each a line of JSON, and their form.

    The prompts must be plain but for capitals and a final sign.
    """
    plain = sorted({prompt.lower().rstrip("?.:") for prompt in prompts})
    lines = "".join(json.dumps(prompt, ensure_ascii=False) + "\n" for prompt in plain)
    return f"{hashlib.sha256(lines.encode()).hexdigest()} form 2"


def ended(process: "subprocess.Popen[bytes]") -> Done:
    out, err = process.communicate()
    return Done(process.returncode, out.decode(), err.decode())


def files(folder: Path) -> dict[str, bytes | None]:
    """Everything under a folder: path to content, None for what is no file."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def lines_of(path: Path) -> list[Any]:
    """The records of a JSONL file. Split at newlines only: a completion may hold a U+2028."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def edited(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON file in place: ``change`` gets its value and alters it."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def manifest_edited(run: Path, **changes: object) -> None:
    """Change fields of a run's manifest in place, and the log to fit; None stands for null."""
    manifest = run / "manifest.json"
    before = hashlib.sha256(manifest.read_bytes()).hexdigest()
    edited(manifest, lambda fields: fields.update(changes))
    after = hashlib.sha256(manifest.read_bytes()).hexdigest()
    if run_log.LOG.exists():
        run_log.LOG.write_text(run_log.LOG.read_text("utf-8").replace(before, after), encoding="utf-8", newline="\n")


def rows_edited(run: Path, change: Callable[[list[Any]], object], *, forge: bool = True) -> None:
    """Change the results of a run in place, and by default forge their digest to fit."""
    rows = lines_of(run / "results.jsonl")
    change(rows)
    (run / "results.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    if forge:
        forged(run)


def forged(run: Path) -> None:
    """Make the digests in the manifest those of the files as they are now, and the log to fit."""
    names = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["outputs"]
    manifest_edited(run, outputs={name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in names})


def copied(run: Path, name: str) -> Path:
    shutil.copytree(run, name)
    return Path(name)
