"""Machinery: one update of the bandit as text, in slow motion and in one line, and other text of the small loops.

Every sentence follows from the numbers beside it, so no sentence can report what did not happen in the run.
"""

from collections.abc import Sequence
from math import isclose

from course.artifacts.learning_rows import EpisodeRow, UpdateRow
from course.text import clipped

BASELINE_OPTION = (
    "compare each reward with the mean reward so far (default), or with 0. The mean cancels a constant that is added "
    "to every reward. The mean lowers the variance of an update only while it is below 2 b* (best_baseline in "
    "policies/reinforce.py)"
)


def has_changed(rows: Sequence[UpdateRow] | Sequence[EpisodeRow]) -> bool:
    return any(row.new_probs != row.probs for row in rows)


def heading(rows: Sequence[UpdateRow] | Sequence[EpisodeRow]) -> str:
    """The loop, and whether the policy changed."""
    return f"Loop C, learn: {'the policy itself changed' if has_changed(rows) else 'no update changed the policy'}."


def knob_of(rows: Sequence[UpdateRow] | Sequence[EpisodeRow]) -> str | None:
    """For the run's page: the knob, if it is not the one that Loop C turns; else None."""
    return None if has_changed(rows) else "none (no update changed the policy)"


def state_text(prompt: str, more: str = "") -> str:
    """The state that the policy gets in each step."""
    return f"The state is the prompt{more}:\n  {clipped(prompt, 74)}"


def how_to_read(lr: float, own_update: str | None = None) -> str:
    """What the sign of the advantage does with a learning rate of this sign.

    ``own_update``: the name of the student's function that changes theta, if there is one.
    """
    head = "How to read an update: the advantage is the reward minus the baseline.\n"
    if own_update is not None:
        head += f"Here {clipped(own_update, 60)} changes theta. REINFORCE would do this:\n"
    if lr == 0:
        return f"{head}The learning rate is 0, so nothing changes, whatever the advantage is."
    up, down = ("up", "down") if lr > 0 else ("down", "up")
    backwards = "" if lr > 0 else "The learning rate is negative, so a better arm becomes less probable.\n"
    return f"""\
{head}{backwards}  advantage > 0   above the baseline: sampled arm's theta {up}, the others' {down}
  advantage < 0   below the baseline: sampled arm's theta {down}, the others' {up}
  advantage = 0   equal to the baseline: no theta changes
The probability of the sampled arm moves in the same direction as its theta. The
probability of a different arm may not, because all probabilities add up to 1."""


def update_start(row: UpdateRow, steps: int, arms: Sequence[str]) -> str:
    """The facts before theta changes: the policy, the sampled arm, its reward and its advantage."""
    offset = row.reward - row.verifier_reward
    source = ", from the verifier"
    if offset:
        source = f": {row.verifier_reward:.1f} from the verifier, the offset {offset:+g}"
    return (
        f"step {row.step} of {steps}\n{probabilities(row.probs, arms)}\n"
        f"  sampled    arm {row.action}, {clipped(row.completion, 60)}\n"
        f"  reward     {row.reward:.3f}{source}\n"
        f"  baseline   {row.baseline:.3f}\n"
        f"  advantage  {row.reward:.3f} - {row.baseline:.3f} = {row.advantage:+.3f}"
    )


def update_outcome(row: UpdateRow) -> str:
    """The rule of the update, what it does to each arm, and the update in words."""
    columns = zip(row.grad_log_prob, row.theta, row.new_theta, row.probs, row.new_probs, strict=True)
    lines = [
        f"  {arm}  d log p / d theta {grad:+.3f}   theta {theta:+.3f} -> {new_theta:+.3f}   p {p:.3f} -> {new_p:.3f}"
        for arm, (grad, theta, new_theta, p, new_p) in enumerate(columns)
    ]
    changes = "changes" if is_reinforce(row) else "does not change"
    change = f"theta {changes} by lr * advantage * d log p = {row.lr:g} * {row.advantage:+.3f} * d log p"
    return "\n".join([change, *lines, update_in_words(row)])


def is_reinforce(row: UpdateRow) -> bool:
    """Whether theta has changed by lr * direction, which a student's own update may not do."""
    return all(
        isclose(new_theta, theta + row.lr * direction, rel_tol=1e-9, abs_tol=1e-9)
        for theta, direction, new_theta in zip(row.theta, row.direction, row.new_theta, strict=True)
    )


def update_in_words(row: UpdateRow) -> str:
    """The update in words: the reward against the baseline, and the change of the sampled arm."""
    old, new = row.probs[row.action], row.new_probs[row.action]
    if not is_reinforce(row):
        comparison = "equal to the baseline"
        if row.advantage:
            comparison = "above the baseline" if row.advantage > 0 else "below the baseline"
        went = "stays"
        if new != old:
            went = "goes up" if new > old else "goes down"
        return f"{comparison}: arm {row.action} {went}, and this is not REINFORCE"
    if not any(row.direction):
        why = "the policy is certain of the sampled arm" if row.advantage else "the reward equals the baseline"
        return f"{why}: no theta changes"
    comparison = "above the baseline" if row.advantage > 0 else "below the baseline"
    backwards = " (the learning rate is negative)" if row.lr < 0 else ""
    if new == old:
        why = "the learning rate is 0" if row.lr == 0 else "the change is rounded away"
        return f"{comparison}, but arm {row.action} stays: {why}"
    return f"{comparison}: arm {row.action} goes {'up' if new > old else 'down'}{backwards}"


def update_line(row: UpdateRow) -> str:
    return (
        f"step {row.step:3}  arm {row.action}  reward {row.reward:g}  baseline {row.baseline:.3f}  "
        f"advantage {row.advantage:+.3f}  p {row.probs[row.action]:.3f} -> {row.new_probs[row.action]:.3f}"
    )


def before_and_after(rows: Sequence[UpdateRow], arms: Sequence[str]) -> str:
    """The policy before the first update and after the last."""
    before = probabilities(rows[0].probs, arms)
    after = probabilities(rows[-1].new_probs, arms)
    steps = "1 step" if len(rows) == 1 else f"{len(rows)} steps"
    return f"{state_text(rows[0].prompt)}\n\nbefore\n{before}\n\nafter {steps}\n{after}"


def probabilities(probs: Sequence[float], arms: Sequence[str]) -> str:
    """The policy, one arm a line, each with a bar of up to ten plus signs."""
    lines = []
    for arm, (p, text) in enumerate(zip(probs, arms, strict=True)):
        bar = "+" * round(10 * p)
        lines.append(f"  {arm}  {p:.3f}  {bar:10}  {clipped(text, 54)}")
    return "\n".join(lines)
