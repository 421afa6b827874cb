"""Machinery: what course.toy_mdp prints, and its log as a story to be annotated."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import EpisodeRow
from course.reports.updates import heading, state_text
from course.text import clipped


def toy_mdp_text(rows: Sequence[EpisodeRow], summary: Mapping[str, Any]) -> str:
    """The first episode, the first with a reward, the last; then what was learned."""
    rewarded = [row for row in rows if row.return_[0] > 0]
    examples = {row.episode: row for row in (rows[0], *rewarded[:1], rows[-1])}
    parts = [heading(rows), head_text(rows[0]), *map(episode_text, examples.values())]
    parts.append(f"expected return {summary['expected_return_before']:.3f} -> {summary['expected_return_after']:.3f}")
    if not rows[0].credited[0]:
        parts.append(f"The first step was never updated: p of 'Final: ' stays {summary['first_step_probs'][1]:.3f}.")
    return "\n\n".join(parts)


def head_text(row: EpisodeRow) -> str:
    """The world: its state, its reward, and whether the first step gets credit for it."""
    credited = "credited" if row.credited[0] else "here not credited"
    return f"""\
{state_text(row.prompt, " and the text so far, at first nothing")}
Two steps, one reward at the end. The first token alone earns nothing. It is
{credited} with the return, the sum of the rewards from its step on."""


def episode_text(row: EpisodeRow) -> str:
    """One episode, step by step: the token, its reward and return, and what the update did to its probability."""
    lines = [f"episode {row.episode}: {clipped(''.join(row.tokens), 50)}"]
    for step, (token, action) in enumerate(zip(row.tokens, row.actions, strict=True)):
        lines.append(
            f"  step {step + 1}  after {clipped(repr(row.prefixes[step]), 12):12} writes {clipped(repr(token), 12):12}"
            f" reward {row.rewards[step]:.0f}  return from here {row.return_[step]:.0f}"
        )
        p, new_p = row.probs[step][action], row.new_probs[step][action]
        comparison = f"advantage {row.return_[step]:.0f} - {row.baseline:.3f} = {row.advantage[step]:+.3f}"
        pushed = "" if any(row.direction[step]) else ", nothing is pushed"
        comparison = f"{comparison}{pushed}" if row.credited[step] else "no credit, nothing is pushed"
        lines.append(f"          {comparison}: p {p:.3f} -> {new_p:.3f}")
    return "\n".join(lines)


def toy_mdp_story(rows: Sequence[EpisodeRow]) -> str:
    """The whole run as text, to be annotated."""
    return "\n".join([head_text(rows[0]), "", *map(episode_text, rows)]) + "\n"
