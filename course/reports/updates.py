"""One update of the bandit as text: in slow motion, and in one line. Shared by the commands that learn on it."""

from collections.abc import Sequence

from course.artifacts.learning import UpdateRow
from course.reports.tables import table
from course.text import clipped

_BAR = 10  # characters of a bar for the value 1
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
    return "\n".join(
        [
            f"step {row.step} of {steps}",
            probabilities(row.probs, arms),
            f"  sampled    arm {row.action}, {clipped(row.completion, 60)}",
            f"  reward     {row.reward:.1f}, from the verifier",
            f"  baseline   {row.baseline:.3f}",
            f"  advantage  {row.reward:.1f} - {row.baseline:.3f} = {row.advantage:+.3f}",
        ]
    )


def update_outcome(row: UpdateRow, arms: Sequence[str]) -> str:
    """The change of each arm: ∂ log p / ∂ theta as a bar, then theta and p after the update."""
    cells = [
        (
            f"{'->' if arm == row.action else '  '} {arm} {clipped(text, 18)}",
            f"{row.theta[arm]:+.3f}",
            f"{row.probs[arm]:.3f}",
            f"{row.grad_log_prob[arm]:+.3f} {bar(row.grad_log_prob[arm])}",
            f"{row.new_theta[arm]:+.3f}",
            f"{row.new_probs[arm]:.3f}",
        )
        for arm, text in enumerate(arms)
    ]
    header = ("arm", "theta", "p", "d log p / d theta", "new theta", "new p")
    change = f"theta changes by lr * advantage * d log p = {row.lr:g} * {row.advantage:+.3f} * d log p"
    return f"\n{table(header, cells, right=(1, 2, 4, 5))}\n{change}\n{update_in_words(row)}"


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


def probabilities(probs: Sequence[float], arms: Sequence[str]) -> str:
    """The policy, one arm a line."""
    return "\n".join(
        f"  {arm}  {p:.3f}  {bar(p):10}  {clipped(text, 54)}"
        for arm, (p, text) in enumerate(zip(probs, arms, strict=True))
    )


def bar(value: float) -> str:
    """A value from -1 to 1 as up to ten ``+`` or ``-``."""
    return ("+" if value > 0 else "-") * min(_BAR, round(abs(value) * _BAR))
