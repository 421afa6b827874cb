"""The two-step world as text: who wrote what, what was paid, and which step got how much of it."""

from collections.abc import Sequence

from course.artifacts.learning import Episode
from course.text import clipped


def episode_text(episode: Episode) -> str:
    """One episode, step by step, and how the reward at the end moved the first choice."""
    lines = [f"episode {episode.episode}: {clipped(''.join(episode.pieces), 50)}"]
    for step in range(len(episode.pieces)):
        action = episode.actions[step]
        lines.append(
            f"  step {step + 1}  after {clipped(repr(episode.prefixes[step]), 12):12}"
            f" writes {clipped(repr(episode.pieces[step]), 12):12}"
            f" reward {episode.rewards[step]:.0f}  return from here {episode.return_[step]:.0f}"
        )
        if episode.credited[step]:
            lines.append(
                f"          advantage {episode.return_[step]:.0f} - {episode.baseline:.3f} = "
                f"{episode.advantage[step]:+.3f}: p {episode.probs[step][action]:.3f} -> "
                f"{episode.new_probs[step][action]:.3f}"
            )
        else:
            lines.append(f"          no credit: p stays {episode.probs[step][action]:.3f}, whatever was paid")
    return "\n".join(lines)


def mdp_story(episodes: Sequence[Episode]) -> str:
    """The whole run, to be read and annotated."""
    head = [
        "Two steps, one reward at the end. The first piece alone is paid nothing. It is credited with the return that",
        "followed it, and the advantage of that return multiplies the push on both steps alike.",
        "",
    ]
    return "\n".join([*head, *(episode_text(episode) for episode in episodes)]) + "\n"
