"""Machinery: one update of the bandit as text, in slow motion and in one line, for the commands that learn on it."""

from collections.abc import Sequence

from course.artifacts.learning import UpdateRow
from course.text import clipped

HOW_TO_READ = """\
How to read an update: the advantage is the reward minus the baseline.
  advantage > 0   better than expected: sampled arm's theta up, the others' down
  advantage < 0   worse than expected: sampled arm's theta down, the others' up
  advantage = 0   as expected: nothing changes
With a negative learning rate, up and down change places. The sampled arm's
probability always follows its theta. Another arm's may not, since all
probabilities add up to 1."""


def update_start(row: UpdateRow, steps: int, arms: Sequence[str]) -> str:
    """What is known before theta changes: the policy, the sampled arm, its reward and its advantage."""
    return (
        f"step {row.step} of {steps}\n{probabilities(row.probs, arms)}\n"
        f"  sampled    arm {row.action}, {clipped(row.completion, 60)}\n"
        f"  reward     {row.reward:.1f}, from the verifier\n"
        f"  baseline   {row.baseline:.3f}\n"
        f"  advantage  {row.reward:.1f} - {row.baseline:.3f} = {row.advantage:+.3f}"
    )


def update_outcome(row: UpdateRow) -> str:
    """The rule of the update, what it does to each arm, and the update in words."""
    columns = zip(row.grad_log_prob, row.theta, row.new_theta, row.probs, row.new_probs, strict=True)
    lines = [
        f"  {arm}  d log p / d theta {grad:+.3f}   theta {theta:+.3f} -> {new_theta:+.3f}   p {p:.3f} -> {new_p:.3f}"
        for arm, (grad, theta, new_theta, p, new_p) in enumerate(columns)
    ]
    change = f"theta changes by lr * advantage * d log p = {row.lr:g} * {row.advantage:+.3f} * d log p"
    return "\n".join([change, *lines, update_in_words(row)])


def update_in_words(row: UpdateRow) -> str:
    """The update in words, with the sign of the learning rate."""
    change = row.lr * row.advantage
    if change == 0:
        return "nothing changes"
    comparison = "better than expected" if row.advantage > 0 else "worse than expected"
    backwards = " (the learning rate is negative)" if row.lr < 0 else ""
    return f"{comparison}: arm {row.action} goes {'up' if change > 0 else 'down'}{backwards}"


def update_line(row: UpdateRow) -> str:
    """The update in one line."""
    return (
        f"step {row.step:3}  arm {row.action}  reward {row.reward:.0f}  baseline {row.baseline:.3f}  "
        f"advantage {row.advantage:+.3f}  p {row.probs[row.action]:.3f} -> {row.new_probs[row.action]:.3f}"
    )


def before_and_after(rows: Sequence[UpdateRow], arms: Sequence[str]) -> str:
    """The policy before the first update and after the last."""
    before, after = probabilities(rows[0].probs, arms), probabilities(rows[-1].new_probs, arms)
    return f"before\n{before}\n\nafter {len(rows)} steps\n{after}"


def probabilities(probs: Sequence[float], arms: Sequence[str]) -> str:
    """The policy, one arm a line, each with a bar of up to ten plus signs."""
    return "\n".join(
        f"  {arm}  {p:.3f}  {'+' * round(10 * p):10}  {clipped(text, 54)}"
        for arm, (p, text) in enumerate(zip(probs, arms, strict=True))
    )
