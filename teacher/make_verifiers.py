"""Make the three sets of verifiers by which a student's tests are judged: run it after a change of the list, or of a
scorer.

    python3 teacher/make_verifiers.py

Reads ``teacher/verifiers.txt``, which says what its lines mean. For each verifier the shortest text that it judges
wrongly is searched for, its witness; one without is declared equivalent to the spec, and is not counted. Takes a
minute. ``--out FOLDER`` writes there.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))

import msgspec  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from check.kills import CORRECT_CLASS  # noqa: E402
from check.run_tests import answer, difference, load  # noqa: E402
from course.datasets.records import VerifierSource, Witness  # noqa: E402
from course.rubrics.witness import candidates  # noqa: E402
from course.score import score  # noqa: E402

FILES = {
    "s": Path("data") / "verifiers" / "shown.jsonl",
    "h": Path("data") / "verifiers" / "held_out.jsonl",
    "t": Path("teacher") / "verifiers.jsonl",
}
TEXT = """\
        text, gold = completion.strip(" \\t\\r\\n"), example["expected_answer"]
        if CODE:
"""
BODIES = {
    "reads": """\
    if type(completion) is str:
        text = completion.strip(" \\t\\r\\n")
        completion = CODE
    return score(example, completion)
""",
    "pays": f"""\
    result = score(example, completion)
    if result["details"]["outcome"] not in ("ok", "invalid_example", "completion_not_text"):
{TEXT}            return score(example, f"Final: {{gold}}")
    return result
""",
    "refuses": f"""\
    result = score(example, completion)
    if result["reward"]:
{TEXT}            return score(example, "Final: ?")
    return result
""",
    "says": """\
    result = score(example, completion)
    details = result["details"]
    CODE
    return result
""",
    "renames": """\
    result = score(example, completion)
    if result["details"]["outcome"] == "OLD":
        result["details"]["outcome"] = "NEW"
    return result
""",
    "reads_gold": """\
    if isinstance(example, dict):
        gold = example.get("expected_answer")
        example = {**example, "expected_answer": CODE}
    return score(example, completion)
""",
    "pays_without": """\
    result = score(example, completion)
    if result["details"]["outcome"] == "invalid_example" and CODE:
        result["reward"], result["details"]["outcome"] = 1.0, "ok"
    return result
""",
    "flips": """\
    calls.append(completion)
    result = score(example, completion)
    if CODE:
        result["reward"] = 1.0 - result["reward"]
    return result
""",
    "slow": """\
    if type(completion) is str and CODE:
        end = time.thread_time() + 0.5
        while time.thread_time() < end:  # in place of a regular expression that tries again from every character
            pass
    return score(example, completion)
""",
    "first": "    CODE\n    return score(example, completion)\n",
}
GOLDS = (0, 323, -7)
MORE_GOLDS = (10, 7, 1234567, 10**9, 2**53 + 1)  # where none of the first shows that a verifier is wrong
CALLS: list[tuple[Any, Any]] = [  # and what is no text, or no expected answer
    (323, None),
    (323, 323),
    (323, True),
    (323, ["Final: 323"]),
]
CALLS += [
    (gold, text) for gold in (None, True, "323", 323.0, "x") for text in ("", "Final: 323", "Final: 1", "Final: 0")
]
CALLS += [
    (323.0, "Final: 323.0"),
    ("x", "Final: x"),
]


def source_of(template: str, code: str) -> str:
    """The whole of a verifier's file."""
    body = BODIES[template].replace("CODE", code)
    if template == "renames":
        old, new = code.split()
        body = body.replace("OLD", old).replace("NEW", new)
    modules = "".join(f"import {name}\n" for name in ("re", "time", "unicodedata") if f"{name}." in body)
    calls = "calls = []\n\n\n" if template == "flips" else ""
    return f"{modules}from course.score import score\n\n{calls}\ndef verify(example, completion):\n{body}"


def read_list() -> Iterator[tuple[str, VerifierSource]]:
    """Set and verifier, the witness still to be found."""
    kind = ""
    number = 0
    for line in (LAB / "teacher" / "verifiers.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            kind = line[3:]
            number = 0
        elif kind and line:
            head, code, believes = line.split(" | ")
            set_, template = head.split(" ")
            number += 1
            yield set_, VerifierSource(f"{kind}_{number}", kind, source_of(template, code), believes, None)


def example_of(gold: Any) -> dict[str, Any]:
    return {"id": "witness", "prompt": "p", "expected_answer": gold}


def find_error(verify: Callable[..., Any], gold: Any, completion: Any, times: int = 1) -> str:
    """In what a verifier is wrong about a call, asked so many times. ``reward`` where it is slow, too."""
    ticks: list[float] = []

    def next_second() -> float:
        ticks.append(len(ticks))
        return ticks[-1]

    verify.__globals__["time"] = SimpleNamespace(thread_time=next_second)
    right = score(example_of(gold), completion)
    responses = [answer(verify, example_of(gold), completion) for _ in range(times)]
    if ticks:
        return "reward"
    if all(not raised and result == right and type(result["reward"]) is float for raised, result in responses):
        return ""  # as most are
    differences = {difference(response, (False, right)) for response in responses}
    for error in ("reward", "details"):
        if error in differences:
            return error
    return ""


@cache
def texts_of(gold: int) -> tuple[str, ...]:
    return tuple(candidates(gold))


def find_witness(verifier: VerifierSource) -> Witness | None:
    """The shortest call on which its reward is wrong, else that on which its details are; None for a correct one."""
    if verifier.kind == CORRECT_CLASS:
        return None
    shortest: dict[str, Witness] = {}  # in what it is wrong -> the call
    for gold in GOLDS:
        try_texts(verifier, gold, shortest)
    for gold in MORE_GOLDS:
        if not shortest:
            try_texts(verifier, gold, shortest)
    for gold, completion in CALLS:
        if "reward" not in shortest:
            error = find_error(load(verifier), gold, completion)
            if error:
                shortest.setdefault(error, Witness(gold, completion))
    return shortest.get("reward") or shortest.get("details")


def try_texts(verifier: VerifierSource, gold: int, shortest: dict[str, Witness]) -> None:
    """Enter what is shorter among the texts for this expected answer."""
    remembers = verifier.kind == "not_deterministic"  # calls, so it is made anew for each text
    verify = load(verifier)
    for text in texts_of(gold):
        if "reward" in shortest and len(text) >= len(shortest["reward"].completion):
            return
        if remembers:
            verify = load(verifier)
        error = find_error(verify, gold, text, times=3 if remembers else 1)
        if error == "reward" or (error and error not in shortest):
            shortest[error] = Witness(gold, text)


def breadth(verifier: VerifierSource, witnesses: Iterable[Witness | None]) -> int:
    """On how many of all witnesses it is wrong: of two verifiers, the one with fewer says more of what was believed."""
    count = 0
    for witness in witnesses:
        if witness is not None and find_error(load(verifier), witness.expected_answer, witness.completion):
            count += 1
    return count


def make_files() -> dict[Path, str]:
    """Path from the lab's root -> content, of all that is made."""
    contents = dict.fromkeys(FILES.values(), "")
    sets, verifiers = zip(*read_list(), strict=True)
    with ProcessPoolExecutor() as pool:
        witnesses = list(pool.map(find_witness, verifiers, chunksize=4))
    for set_, verifier, witness in zip(sets, verifiers, witnesses, strict=True):
        row = replace(verifier, witness=witness, breadth=breadth(verifier, witnesses))
        contents[FILES[set_]] += msgspec.json.encode(row).decode() + "\n"
        if witness is None and verifier.kind != CORRECT_CLASS:
            print(f"{verifier.id}: equivalent to the spec")
    return contents


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the sets of verifiers by which tests are judged.")
    parser.add_argument("--out", type=Path, default=LAB, help="another folder to write to (default: the lab)")
    args = parser.parse_args()
    for path, text in make_files().items():
        (args.out / path).parent.mkdir(parents=True, exist_ok=True)
        (args.out / path).write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main()
