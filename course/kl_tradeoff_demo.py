"""Loop C on a leash: how much reward a policy gains, and how far it drifts from where it started.

    python -m course.kl_tradeoff_demo
    python -m course.kl_tradeoff_demo --rewards graded

A reference policy chooses among six completions of one prompt. For each beta the policy that maximises

    J = mean reward − beta · KL(policy ‖ reference)

is computed twice: in closed form, and by gradient ascent from the reference. Best-of-N of the reference stands beside
them, to compare learning (Loop C) with choosing (Loop B) at the same drift. Nothing is drawn, every number is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from course.artifacts.conditions import manifest_of
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.reports.kl_tradeoff_demo import (
    Kind,
    Point,
    actions_text,
    best_of_n_text,
    csv_text,
    reading_text,
    sweep_text,
)
from course.reports.kl_tradeoff_demo_figure import kl_plane
from course.reports.run_page import run_page
from course.score import score
from course.stats import best_of_n_kl_bound
from course.text import visible_path

if TYPE_CHECKING:
    from course.policies.softmax import Floats

SPREADSHEET, ROWS, PLANE = "kl_tradeoff.csv", "kl_tradeoff.jsonl", "kl_tradeoff.png"

EXAMPLE = {"prompt": "Compute 17 * 19. Answer with exactly one line: Final: <int>", "expected_answer": 323}
# A completion, the reference's probability of it, and a graded reward. The grades are invented numbers, such as a
# careless judge might give: they like the right value, and they like it best said three times.
ACTIONS = (
    ("17 * 19 is 323.", 0.34, 0.35),
    ("The answer is 332.", 0.24, 0.0),
    ("Final: 332", 0.20, 0.2),
    ("Final: 323", 0.15, 0.8),
    ("Final: 323\n", 0.05, 0.7),
    ("Final: 323, 323, 323!", 0.02, 1.0),
)
COMPLETIONS, REFERENCE, GRADES = zip(*ACTIONS, strict=True)
REWARDS = {"graded": "graded: invented numbers", "verifier": "paid by the verifier"}

BETAS = (10.0, 5.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03)
CANDIDATES = (1, 2, 4, 8, 16, 32)  # N of best-of-N
STEPS = 60  # of gradient ascent: each halves the distance to the optimum


def verifier_rewards() -> list[float]:
    """What the verifier pays for each completion."""
    return [score(EXAMPLE, completion)["reward"] for completion in COMPLETIONS]


def ascend(reference: Floats, rewards: Floats, beta: float) -> Floats:
    """Loop C, whole: gradient ascent on J, from the reference.

    The step is the natural gradient's. Along the plain one what the reference seldom writes hardly moves: for beta
    below 0.1, steps of 1 / beta are still 1e-5 from the optimum after 20,000 of them.
    """
    import numpy as np

    from course.policies.kl_regularised import natural_gradient
    from course.policies.softmax import softmax

    theta = np.log(reference)
    for _ in range(STEPS):
        theta = theta + natural_gradient(softmax(theta), reference, rewards, beta) / (2 * beta)
    return softmax(theta)


def points_of(rewards: Sequence[float]) -> list[Point]:
    """Every policy of the demo: the reference, the leash from tight to none, and best-of-N."""
    import numpy as np

    from course.policies.kl_regularised import best_of_n, closed_form

    reference, paid = np.array(REFERENCE), np.array(rewards)
    points = [point_of("reference", reference, paid)]
    for beta in BETAS:
        points.append(point_of("closed_form", closed_form(reference, paid, beta), paid, beta=beta))
        points.append(point_of("gradient_ascent", ascend(reference, paid, beta), paid, beta=beta))
    best = paid == paid.max()
    if best.sum() == 1:  # where several are, any mix of them is optimal: no single policy is
        points.append(point_of("best_action", best.astype(np.float64), paid, beta=0.0))
    points += [point_of("best_of_n", best_of_n(reference, paid, n), paid, n=n) for n in CANDIDATES]
    return points


def frontier_of(rewards: Sequence[float]) -> list[Point]:
    """The closed form for as many betas as make a smooth line."""
    import numpy as np

    from course.policies.kl_regularised import closed_form

    reference, paid = np.array(REFERENCE), np.array(rewards)
    betas = np.geomspace(100, 0.005, 400).tolist()
    return [point_of("closed_form", closed_form(reference, paid, beta), paid, beta=beta) for beta in betas]


def point_of(kind: Kind, p: Floats, rewards: Floats, *, beta: float | None = None, n: int | None = None) -> Point:
    """What is told of one policy."""
    import numpy as np

    from course.policies.softmax import expected_reward, kl

    top = sorted(range(len(p)), key=lambda action: (-p[action], action))[:3]
    return Point(
        kind=kind,
        beta=beta,
        n=n,
        mean_reward=float(expected_reward(p, rewards)),
        verifier_reward=float(expected_reward(p, np.array(verifier_rewards()))),
        kl=float(kl(p, np.array(REFERENCE))),
        kl_bound=None if n is None else best_of_n_kl_bound(n),
        top3=[(action, float(p[action])) for action in top],
        probs=p.tolist(),
    )


def largest_difference(points: Sequence[Point]) -> float:
    """Between closed form and gradient ascent, over all betas and actions."""
    exact = [point.probs for point in points if point.kind == "closed_form"]
    found = [point.probs for point in points if point.kind == "gradient_ascent"]
    pairs = zip(chain(*exact), chain(*found), strict=True)
    return max(abs(p - q) for p, q in pairs)


def main() -> int:
    parser = Parser("course.kl_tradeoff_demo", "Loop C on a leash: more reward against more drift.")
    parser.add_argument(
        "--rewards", choices=REWARDS, default="verifier", help="0 and 1 from the verifier (default), or invented grades"
    )
    parser.add_run_options()
    args = parser.parse_args()

    with RunWriter(args.outdir) as writer:
        verifier = verifier_rewards()
        rewards = list(GRADES) if args.rewards == "graded" else verifier
        points = points_of(rewards)
        writer.write_rows(ROWS, points)
        writer.write_bytes(SPREADSHEET, csv_text(points, COMPLETIONS).encode("utf-8"))
        writer.write_bytes(PLANE, kl_plane(points, frontier_of(rewards), REWARDS[args.rewards]))
        curve = [point for point in points if point.kind == "closed_form"]
        difference = largest_difference(points)
        summary: dict[str, Any] = {
            "rewards": REWARDS[args.rewards],
            "reference_reward": points[0].mean_reward,
            "tightest_leash": told(curve[0]),
            "weakest_leash": told(curve[-1]),
            "most_for_the_verifier": told(max(curve, key=lambda point: point.verifier_reward)),
            "ascent_max_difference": difference,
        }
        writer.write_json(SUMMARY, summary)
        settings = {
            "rewards": args.rewards,
            "actions": [list(action) for action in zip(COMPLETIONS, REFERENCE, rewards, strict=True)],
            "betas": BETAS,
            "candidates": CANDIDATES,
            "ascent_steps": STEPS,
        }
        manifest = manifest_of(
            loop="C", command="course.kl_tradeoff_demo", settings=settings, change=args.change, outputs=writer.outputs
        )
        path = writer.publish(manifest, run_page("C", summary, room_conditions(manifest), args.change, [], 0))

    print("Loop C, learn: the policy itself changes, here on a leash to its reference.\n")
    print(f"prompt: {EXAMPLE['prompt']}\nreward: {REWARDS[args.rewards]}\n")
    print(actions_text(COMPLETIONS, REFERENCE, rewards, verifier))
    print("\nthe best policy by mean reward - beta * KL, from a tight leash to none\n")
    print(sweep_text(points))
    print("\nLoop B beside it: best-of-N of the reference, which stays as it is\n")
    print(best_of_n_text(points))
    print(f"\n{reading_text(points, difference)}")
    print(f"\nrun: {visible_path(path)}\nlook at: {visible_path(path / PLANE)}")
    return 0


def told(point: Point) -> dict[str, float | None]:
    """A point in the summary."""
    return {
        "beta": point.beta,
        "mean_reward": point.mean_reward,
        "verifier_reward": point.verifier_reward,
        "kl": point.kl,
    }


if __name__ == "__main__":
    run_command(main)
