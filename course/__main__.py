"""Machinery: ``python3 -m course``, the map in the terminal."""

import re
import sys

from course.command import Parser, run_command
from course.errors import UserError
from course.starting import PYTHON
from course.text import did_you_mean, quote

MAP = """\
RL foundations for LLMs: one small instrument, three loops.

  dataset ──► policy ──► completions ──► scorer ──► results ──► A · B · C

Loop A  measure: what is true right now? Nothing changes.
  {python} -m course.eval             score recorded completions, leave a run
  {python} -m course.inspect_run      look at the failures, or verify a run
  {python} -m course.gate             may a candidate run replace the baseline?
  {python} -m course.validate_scorer  check the scorer and each of its rules
  {python} -m course.attack           find wrong answers that a verifier pays

Loop B  choose: what does looking at N samples buy? The policy stays the same.
  {python} -m course.selection_demo   best of N, by the course's rule or yours

Loop C  learn: the policy itself changes, driven by the scorer's rewards.
  {python} -m course.policy_gradient_demo  the loop, one update at a time
  {python} -m course.bandit_train          the same loop, N runs side by side
  {python} -m course.toy_mdp               plus time: credit for the first step
  {python} -m course.late_reward           the longer the text, the later it learns
  {python} -m course.kl_tradeoff_demo      reward against distance (KL)
  {python} -m course.token_inspect         the tokens that a policy chooses
  {python} -m course.token_train           plus tokens: a policy that writes

Also: {besides}

Your own work
  {python} -m check   what is done, what is next, hints, hand-in

Each command has --help. Always ask: which loop am I in? Which knob did I turn?

Yours to change
  exercises/my_score.py, pick_best.py           your verifier, your choice
  exercises/reinforce.py, loop.py               your updates
  exercises/exploits.jsonl, patched_rubric.py   break a verifier, then fix it
  exercises/kata_1.md      ten failures to diagnose; two more katas beside it
  notes/                   sheets to fill in, in your own words
  tests/test_rubric.py     your own tests of the reward spec
  runs/                    your measurements; each README.md has blanks to fill in
Not yours to change: course/, the instrument, and data/, its inputs. Read them.

Start here
  {python} -m course.eval --dataset data/datasets/math_dev.jsonl \\
      --completions data/rollouts/frozen_rollouts_dev.jsonl"""


BESIDES = ("report", "sample_rollouts", "policy_improvement_demo", "experiment")


def map_text() -> str:
    besides = ", ".join(BESIDES)
    return MAP.format(python=PYTHON, besides=besides)


def main() -> None:
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word and not word.startswith("-"):
        lines = {command: f"{PYTHON} -m course.{command}" for command in BESIDES}
        for line in re.findall(r"\S+ -m [a-z_.]+", map_text()):
            lines[re.split(r"[ .]", line)[-1]] = line
        mend = did_you_mean(word.removeprefix("course."), lines)
        raise UserError(f"{mend}{PYTHON} -m course: expected no argument, got {quote(word)}")
    Parser("course", "Print the map: the three loops, their commands, and what is yours to change.").parse_args()
    print(map_text())


if __name__ == "__main__":
    run_command(main)
