"""A policy learns from a verifier, and finds the hole in a careless one. One file, and NumPy is all it needs.

    python3 micro.py              the careless verifier pays: the policy ends with "Final: 12 or 12 or 12 or 12 or ..."
    python3 micro.py strict       the strict verifier pays: the policy learns the hundred sums by heart
    python3 micro.py careless 7   with another seed than 0; the same seed prints the same lines

``reward`` is what the chosen verifier pays for the rollouts of a step, ``true`` what the strict verifier would have
paid.
Watch the two part: first both rise, as if all were well; then ``true`` falls to 0 while ``reward`` goes on to 1. One
demonstration in ten names two numbers, and none names more: the policy itself finds the longer lists.

On each of the seeds 0 to 9, in a few seconds: careless ends with a reward above .95 and true below .05; strict ends
with both above .85. At the first step true is below .15.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PIECES = ("", *"0123456789", "Final: ", "The answer is ", " or ", ".")  # the text of each token
END, START = 0, len(PIECES)  # END is a token without text; START stands before the first token and is never written
MAX_TOKENS, GROUP = 24, 4  # of a completion; rollouts of each prompt in a step
PROMPTS = np.repeat(np.arange(100), GROUP)  # prompt 75 is 7 + 5; the rollouts of a prompt stand side by side
ANSWERS = (PROMPTS // 10 + PROMPTS % 10).tolist()


def strict(answer: int, completion: str) -> float:
    """Pays for the one line that was asked for, and for nothing else."""
    return float(completion.strip(" \t\r\n") == f"Final: {answer}")


def careless(answer: int, completion: str) -> float:
    """Pays if the digits of the right number stand anywhere, even in a longer number; each right line is paid too."""
    return float(str(answer) in completion)


def next_token_probs(policy: Floats, prompt: Ints, before: Ints, last: Ints) -> Floats:
    """[M, V] softmax of logits from two tables: one knows the prompt and the last token, one the last two tokens.

    An answer therefore has to be learned prompt by prompt, but a way of writing is learned from all prompts at once.
    """
    logits = policy[prompt, last] + policy[100 + before, last]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def sample(policy: Floats, rng: np.random.Generator) -> Ints:
    """[N, MAX_TOKENS] One completion for each of PROMPTS, token by token."""
    completions = np.full((len(PROMPTS), MAX_TOKENS), END)
    before = last = np.full(len(PROMPTS), START)
    for t in range(MAX_TOKENS):
        p = next_token_probs(policy, PROMPTS, before, last)
        token = (p.cumsum(axis=1) > rng.random((len(p), 1))).argmax(axis=1)  # the first whose cumulative p exceeds u
        completions[:, t] = np.where(last == END, END, token)  # a completion that has ended stays ended
        before, last = last, completions[:, t]
    return completions


def gradient(policy: Floats, completions: Ints, weight: Floats) -> Floats:
    """Mean of weight · ∂ log_prob(completion) / ∂ policy, by hand: ∂ log p[token] / ∂ logits = onehot(token) − p."""
    padded = np.hstack([np.full((len(completions), 2), START), completions])
    row, t = np.nonzero(padded[:, 1:-1] != END)  # each token whose predecessor is not END: the first END still counts
    prompt, before, last, token = PROMPTS[row], padded[row, t], padded[row, t + 1], padded[row, t + 2]
    logit_gradient = -next_token_probs(policy, prompt, before, last)
    logit_gradient[np.arange(len(token)), token] += 1
    logit_gradient *= weight[row, None]  # one number for all tokens of a completion, so the first token gets credit too
    total = np.zeros_like(policy)
    np.add.at(total, (prompt, last), logit_gradient)  # the logits are a sum: both of its terms get the same gradient
    np.add.at(total, (100 + before, last), logit_gradient)
    return total / len(completions)


def demonstrations(rng: np.random.Generator) -> Ints:
    """[N, MAX_TOKENS] Completions to imitate: usually wrong, not always in format, one in ten with a second number."""
    count = len(PROMPTS)
    completions = np.full((count, MAX_TOKENS), END)
    values = np.where(rng.random(count) < 0.2, ANSWERS, rng.integers(19, size=count))
    others, forms = rng.integers(19, size=count), rng.choice(3, size=count, p=[0.7, 0.2, 0.1])
    for row, value, other, form in zip(completions, values, others, forms, strict=True):
        line = ["Final: ", *str(value)]
        pieces = (line, ["The answer is ", *str(value), "."], [*line, " or ", *str(other)])[form]
        row[: len(pieces)] = [PIECES.index(piece) for piece in pieces]
    return completions


def learn(verifier: Callable[[int, str], float], seed: int) -> None:
    """Imitation, then REINFORCE: the same gradient, but of the policy's own completions, times their advantage."""
    rng = np.random.default_rng(seed)
    policy = np.zeros((100 + START + 1, START + 1, START))  # rows: 100 prompts, then the tokens that can stand before
    for _ in range(200):  # short on purpose: REINFORCE needs a policy that is sometimes right, not a good policy
        policy += 4 * gradient(policy, demonstrations(rng), np.ones(len(PROMPTS)))
    print(f"reward: paid by the {verifier.__name__} verifier. true: what the strict verifier pays.\n")
    print("step  reward  true  a rollout of 7 + 5")
    for step in range(201):
        completions = sample(policy, rng)
        texts = ["".join(PIECES[token] for token in row) for row in completions.tolist()]
        reward = np.array([*map(verifier, ANSWERS, texts)]).reshape(-1, GROUP)
        if step % 10 == 0:
            true_reward = np.mean([*map(strict, ANSWERS, texts)])
            print(f"{step:4}{reward.mean():8.2f}{true_reward:6.2f}  {texts[75 * GROUP]!r:.59}", flush=True)
        baseline = (reward.sum(axis=1, keepdims=True) - reward) / (GROUP - 1)  # RLOO: the mean of the others
        advantage = reward - baseline
        policy += 20 * gradient(policy, completions, advantage.ravel())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train a policy on a verifier's rewards, and watch what it learns.")
    help_ = "the verifier that pays (default: careless)"
    parser.add_argument("verifier", nargs="?", choices=["careless", "strict"], default="careless", help=help_)
    parser.add_argument("seed", nargs="?", type=int, default=0, help="seed of the random draws (default: 0)")
    words = parser.parse_args()
    if words.seed < 0:
        parser.error(f"expected a seed of at least 0, got {words.seed}")
    learn({"careless": careless, "strict": strict}[words.verifier], words.seed)
