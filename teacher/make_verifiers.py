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
from check.mutation import answer, difference, load  # noqa: E402
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
GOLDS, MORE_GOLDS = (0, 323, -7), (10, 7, 1234567, 10**9, 2**53 + 1)
CALLS: list[tuple[Any, Any]] = [  # and what is no text, or no expected answer
    *((323, completion) for completion in (None, 323, True, ["Final: 323"])),
    *((gold, text) for gold in (None, True, "323", 323.0, "x") for text in ("", "Final: 323", "Final: 1", "Final: 0")),
    (323.0, "Final: 323.0"),
    ("x", "Final: x"),
]


def source_of(template: str, code: str) -> str:
    """The whole of a verifier's file."""
    body = BODIES[template].replace("CODE", code)
    if template == "renames":
        body = body.replace("OLD", code.split()[0]).replace("NEW", code.split()[1])
    modules = "".join(f"import {name}\n" for name in ("re", "time", "unicodedata") if f"{name}." in body)
    calls = "calls = []\n\n\n" if template == "flips" else ""
    return f"{modules}from course.score import score\n\n{calls}\ndef verify(example, completion):\n{body}"


def rows() -> Iterator[tuple[str, VerifierSource]]:
    """Set and verifier, the witness still to be found."""
    kind, number = "", 0
    for line in (LAB / "teacher" / "verifiers.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            kind, number = line[3:], 0
        elif kind and line:
            head, code, believes = line.split(" | ")
            number += 1
            yield head[0], VerifierSource(f"{kind}_{number}", kind, source_of(head[2:], code), believes, None)


def example_of(gold: Any) -> dict[str, Any]:
    return {"id": "witness", "prompt": "p", "expected_answer": gold}


def errs(verify: Callable[..., Any], gold: Any, completion: Any, times: int = 1) -> str:
    """In what a verifier is wrong about a call, asked so many times. ``reward`` where it is slow, too."""
    ticks: list[float] = []

    def next_second() -> float:
        ticks.append(len(ticks))
        return ticks[-1]

    verify.__globals__["time"] = SimpleNamespace(thread_time=next_second)
    right = score(example_of(gold), completion)
    found = [answer(verify, example_of(gold), completion) for _ in range(times)]
    if ticks:
        return "reward"
    if all(not raised and result == right and type(result["reward"]) is float for raised, result in found):
        return ""  # as most are
    return max((difference(one, (False, right)) for one in found), key=["", "details", "reward"].index)


@cache
def texts(gold: int) -> tuple[str, ...]:
    return tuple(candidates(gold))


def witness(verifier: VerifierSource) -> Witness | None:
    """The shortest call on which its reward is wrong, else that on which its details are; None for a correct one."""
    if verifier.kind == CORRECT_CLASS:
        return None
    times = 3 if verifier.kind == "not_deterministic" else 1
    found: dict[str, Witness] = {}
    for gold in (*GOLDS, *MORE_GOLDS):
        if gold in MORE_GOLDS and found:
            break
        verify = load(verifier)
        for text in texts(gold):
            if (best := found.get("reward")) and len(text) >= len(best.completion):
                break
            wrong = errs(verify if times == 1 else load(verifier), gold, text, times)
            if wrong and (wrong == "reward" or wrong not in found):
                found[wrong] = Witness(gold, text)
    for gold, completion in CALLS:
        if "reward" not in found and (wrong := errs(load(verifier), gold, completion)):
            found.setdefault(wrong, Witness(gold, completion))
    return found.get("reward") or found.get("details")


def breadth(verifier: VerifierSource, witnesses: Iterable[Witness | None]) -> int:
    """On how many of all witnesses it is wrong: of two verifiers, the one with fewer says more of what was believed."""
    return sum(one is not None and errs(load(verifier), one.expected_answer, one.completion) != "" for one in witnesses)


def files() -> dict[Path, str]:
    """Path from the lab's root -> content, of all that is made."""
    made: dict[Path, str] = dict.fromkeys(FILES.values(), "")
    sets, verifiers = zip(*rows(), strict=True)
    with ProcessPoolExecutor() as pool:
        witnesses = list(pool.map(witness, verifiers, chunksize=4))
    for set_, verifier, found in zip(sets, verifiers, witnesses, strict=True):
        wrong = replace(verifier, witness=found, breadth=breadth(verifier, witnesses))
        made[FILES[set_]] += msgspec.json.encode(wrong).decode() + "\n"
        if found is None and verifier.kind != CORRECT_CLASS:
            print(f"{verifier.id}: equivalent to the spec")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the sets of verifiers by which tests are judged.")
    parser.add_argument("--out", type=Path, default=LAB, help="another folder to write to (default: the lab)")
    args = parser.parse_args()
    for path, text in files().items():
        (args.out / path).parent.mkdir(parents=True, exist_ok=True)
        (args.out / path).write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main()
