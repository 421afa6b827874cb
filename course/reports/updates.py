"""Loop C as text: one update in slow motion, in one line, and as a story to be audited."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import Step
from course.reports.tables import table
from course.text import clipped

_BAR = 10  # characters of a bar for a push of 1
HOW_TO_READ = """\
How to read an update: the advantage is the reward less the baseline.
  advantage > 0   better than expected: sampled arm's theta up, the others' down
  advantage < 0   worse than expected: sampled arm's theta down, the others' up
  advantage = 0   as expected: nothing is pushed, nothing is learned
The sampled arm's probability always follows its theta. That of an unlikely
other arm may not, since all of them must add up to 1."""


def slow_step(step: Step, steps: int, arms: Sequence[str]) -> str:
    """One update with everything that went into it."""
    return f"{slow_question(step, steps, arms)}\n{slow_outcome(step, arms)}"


def slow_question(step: Step, steps: int, arms: Sequence[str]) -> str:
    """All that is known before the update: where the policy stands, what it did, and what came of it."""
    return "\n".join(
        [
            f"step {step.step} of {steps}",
            probabilities(step.probs, arms),
            f"  sampled    arm {step.action}, {clipped(step.completion, 60)}",
            f"  reward     {step.reward:.1f}, from the verifier",
            f"  baseline   {step.baseline:.3f}",
            f"  advantage  {step.reward:.1f} - {step.baseline:.3f} = {step.advantage:+.3f}",
        ]
    )


def slow_outcome(step: Step, arms: Sequence[str]) -> str:
    """The update: the direction of the push on each arm as a bar, times advantage and learning rate."""
    rows = [
        (
            f"{'->' if arm == step.action else '  '} {arm} {clipped(text, 18)}",
            f"{step.theta[arm]:+.3f}",
            f"{step.probs[arm]:.3f}",
            f"{step.direction[arm]:+.3f} {bar(step.direction[arm])}",
            f"{step.new_theta[arm]:+.3f}",
            f"{step.new_probs[arm]:.3f}",
        )
        for arm, text in enumerate(arms)
    ]
    header = ("arm", "theta", "p", "d log p / d theta", "new theta", "new p")
    push = f"theta moves by lr * advantage * d log p = {step.lr:g} * {step.advantage:+.3f} * d log p"
    return f"\n{table(header, rows, right=(1, 2, 4, 5))}\n{push}\n{meaning(step)}"


def bar(push: float) -> str:
    """The direction as a bar: ``+`` up, ``-`` down."""
    length = min(_BAR, round(abs(push) * _BAR))
    return ("+" if push > 0 else "-") * length


def meaning(step: Step) -> str:
    """The update in words: what is pushed where, with the sign of the learning rate taken in."""
    push = step.lr * step.advantage
    if push == 0:
        return "nothing is pushed"
    how = "better than expected" if step.advantage > 0 else "worse than expected"
    backwards = " (the learning rate is negative)" if step.lr < 0 else ""
    return f"{how}, arm {step.action} goes {'up' if push > 0 else 'down'}{backwards}"


def summary_line(step: Step) -> str:
    """One update in one line."""
    return (
        f"step {step.step:3}  arm {step.action}  reward {step.reward:.0f}  baseline {step.baseline:.3f}  "
        f"advantage {step.advantage:+.3f}  p {step.probs[step.action]:.3f} -> {step.new_probs[step.action]:.3f}"
    )


def story(steps: Sequence[Step], arms: Sequence[str]) -> str:
    """The whole run, to be read and annotated: what was reinforced or suppressed, and why."""
    lines = ["The arms", *(f"  {arm}  {clipped(text, 70)}" for arm, text in enumerate(arms)), "", HOW_TO_READ, ""]
    for step in steps:
        lines += [summary_line(step), f"          {meaning(step)}"]
    return "\n".join(lines) + "\n"


def probabilities(probs: Sequence[float], arms: Sequence[str]) -> str:
    """Where the policy stands, an arm a line."""
    return "\n".join(
        f"  {arm}  {p:.3f}  {bar(p):10}  {clipped(text, 54)}"
        for arm, (p, text) in enumerate(zip(probs, arms, strict=True))
    )


def ablation_text(ablation: Mapping[str, Any]) -> str:
    """The baseline's effect, in numbers."""
    names = [name for name in ablation if name != "runs"]
    rows = [
        (
            name,
            f"{ablation[name]['gradient_variance']:.4f}",
            f"{ablation[name]['curve_variance']:.5f}",
            f"{ablation[name]['expected_reward_after']:.3f}",
        )
        for name in names
    ]
    header = (f"{ablation['runs']:,} runs", "var of gradient", "var of curve", "reward at the end")
    return table(header, rows, right=(1, 2, 3))
