"""A policy that writes a completion token by token: the bandit plus time plus tokens.

At each step it looks at the prompt and at the last few tokens it wrote, and chooses the next one. Where a token is
chosen there is a softmax, as in every other policy here; what is new is that theta comes out of a small network, so
that what is learned at one prefix moves the choices at others. The network is that of Bengio et al. 2003: a table of
vectors, looked up for each token in view, a hidden layer, and a theta for each token of the vocabulary.

Notation
    N, T      completions side by side; the tokens of the longest
    C         tokens in view: P of the prompt and the RECENT last ones of the completion
    D, H, V   width of a vector, of the hidden layer; size of the vocabulary
    theta     [V] at one prefix: next-token preferences (a language model's logits)

Left out of a language model: attention (only the last RECENT tokens are seen, and the prompt always), layers, dropout,
an optimiser with a memory. Plain gradient ascent is enough here.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from course.errors import UserError
from course.policies.softmax import Floats, Ints
from course.policies.vocabulary import END, Pieces

# glibc returns freed blocks of this size to the system and takes them back, page by page, at the next step: a third of
# a training's time. Once it has seen one freed, it keeps them. Untouched, this one costs nothing.
np.empty(4_000_000)

RECENT = 3
LARGEST = 1e6  # a weight; what is learned stays below 100


class Weights(NamedTuple):
    """The parameters, or a gradient of them: something of the same shapes."""

    vectors: Floats  # [V + 1, D]; the last is the vector of nothing
    hidden: Floats  # [C · D, H]
    hidden_bias: Floats  # [H]
    out: Floats  # [H, V]
    out_bias: Floats  # [V]


class Completions(NamedTuple):
    """N completions as tokens. Beyond its length a row holds V, nothing."""

    tokens: Ints  # [N, T]
    lengths: Ints  # [N], with the END where one was written

    @property
    def written(self) -> NDArray[np.bool_]:
        """[N, T] whether there is a token."""
        return np.arange(self.tokens.shape[1]) < self.lengths[:, None]


class Policy(NamedTuple):
    """A vocabulary, the places of a prompt that are looked at, the longest completion, and the weights."""

    pieces: Pieces
    places: tuple[int, ...]  # P of them
    limit: int  # tokens of a completion at most
    weights: Weights

    def view(self, prompts: Sequence[str]) -> Ints:
        """[N, P] what this policy sees of each prompt."""
        nothing = len(self.pieces)
        rows = [self.pieces.tokens(prompt) for prompt in prompts]
        seen = [[row[place] if place < len(row) else nothing for place in self.places] for row in rows]
        return np.array(seen, dtype=np.int64).reshape(len(rows), len(self.places))

    def moved(self, direction: Weights, lr: float) -> Self:
        """The update: weights + lr · direction. Raises UserError where they run away, long before they overflow."""
        pairs = zip(self.weights, direction, strict=True)
        moved = Weights(*(weight + lr * change for weight, change in pairs))
        if not all((abs(weight) <= LARGEST).all() for weight in moved):
            raise UserError(f"expected weights up to {LARGEST:,.0f}, got larger ones: take a smaller --lr or --kl-coef")
        return self._replace(weights=moved)


def untrained(prompts: Sequence[str], width: int, hidden: int, limit: int, rng: np.random.Generator) -> Policy:
    """A policy for prompts like these, which writes every token with the same probability.

    It looks at the places where the prompts differ: what is the same in all of them says nothing.
    """
    pieces = Pieces.of(prompts)
    columns = zip_longest(*map(pieces.tokens, prompts))
    places = tuple(place for place, column in enumerate(columns) if len(set(column)) > 1)
    inputs = (len(places) + RECENT) * width
    weights = Weights(
        vectors=rng.normal(0, 0.7, (len(pieces) + 1, width)),
        hidden=rng.normal(0, inputs**-0.5, (inputs, hidden)),
        hidden_bias=np.zeros(hidden),
        out=np.zeros((hidden, len(pieces))),
        out_bias=np.zeros(len(pieces)),
    )
    return Policy(pieces, places, limit, weights)


def completions_of(pieces: Pieces, texts: Sequence[str]) -> Completions:
    """Texts as tokens, each with its END: what a demonstrator would have written."""
    rows = [[*pieces.tokens(text), END] for text in texts]
    lengths = np.array([len(row) for row in rows])
    tokens = np.full((len(rows), lengths.max()), len(pieces))
    for row, written in zip(tokens, rows, strict=True):
        row[: len(written)] = written
    return Completions(tokens, lengths)


def texts_of(pieces: Pieces, completions: Completions) -> list[str]:
    """Tokens as texts: what the verifier is given of each completion."""
    rows = zip(completions.tokens.tolist(), completions.lengths.tolist(), strict=True)
    return [pieces.text(tokens[:length]) for tokens, length in rows]


class Step(NamedTuple):
    """The network at M prefixes."""

    context: Ints  # [M, C]
    inputs: Floats  # [M, C · D]
    hidden: Floats  # [M, H]
    theta: Floats  # [M, V] the largest of each row is 0: against overflow
    total: Floats  # [M, 1] Σ exp theta
    p: Floats  # [M, V] probability of each next token, exp theta / total

    @property
    def log_p(self) -> Floats:
        """[M, V] theta − ln total. Finite where p is too small for a float."""
        return self.theta - np.log(self.total)


def forward(weights: Weights, context: Ints) -> Step:
    """p ∝ exp theta, where theta = tanh(x · hidden + bias) · out + bias, and x the vectors of the tokens in view.

    The vectors are looked up: to multiply a one-hot row by the table gives the same, and takes V times as long.
    """
    inputs = np.take(weights.vectors, context, axis=0).reshape(len(context), -1)
    hidden = inputs @ weights.hidden
    hidden += weights.hidden_bias
    np.tanh(hidden, out=hidden)
    theta = hidden @ weights.out
    theta += weights.out_bias
    theta -= theta.max(axis=1, keepdims=True)
    p = np.exp(theta)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    return Step(context, inputs, hidden, theta, total, p)


def steps_of(policy: Policy, view: Ints, completions: Completions) -> Step:
    """The network at every prefix of N completions, M = Σ lengths: the steps of the first, then of the next."""
    tokens, written = completions.tokens, completions.written
    nothing = np.full((len(tokens), RECENT), len(policy.pieces))
    before = np.concatenate([nothing, tokens[:, :-1]], axis=1)
    recent = np.lib.stride_tricks.sliding_window_view(before, RECENT, axis=1)[written]  # [M, RECENT]
    prompt = np.repeat(view, completions.lengths, axis=0)  # [M, P]
    return forward(policy.weights, np.concatenate([prompt, recent], axis=1))


def log_probs(policy: Policy, view: Ints, completions: Completions) -> Floats:
    """[N, T] log-probability of each token given all before it, 0 beyond the last; a row sums to log p(completion)."""
    step = steps_of(policy, view, completions)
    found = np.zeros(completions.tokens.shape)
    found[completions.written] = step.log_p[np.arange(len(step.log_p)), completions.tokens[completions.written]]
    return found


def gradient(policy: Policy, view: Ints, completions: Completions, push: Floats) -> Weights:
    """Σ_i push_i · ∂ log p(completion_i) / ∂ weights. ``push``: [N], one number for all tokens of a completion.

    The chain rule by hand: at each step ∂ log p_a / ∂ theta_b = [a = b] − p_b, as in ``softmax.grad_log_prob``, and
    from there back through the network. A push of 1/N is maximum likelihood, one of advantage/N is REINFORCE.
    """
    step = steps_of(policy, view, completions)
    chosen = completions.tokens[completions.written]  # [M]
    pushes = np.repeat(push, completions.lengths)[:, None]  # [M, 1] the same for each token of a completion
    theta = -pushes * step.p
    theta[np.arange(len(chosen)), chosen] += pushes[:, 0]
    hidden = theta @ policy.weights.out.T
    hidden *= 1 - step.hidden**2
    vectors = (hidden @ policy.weights.hidden.T).reshape(step.context.size, -1)  # [M · C, D]
    rows = len(policy.weights.vectors)
    return Weights(
        vectors=np.stack([np.bincount(step.context.ravel(), column, rows) for column in vectors.T], axis=1),
        hidden=step.inputs.T @ hidden,
        hidden_bias=hidden.sum(axis=0),
        out=step.hidden.T @ theta,
        out_bias=theta.sum(axis=0),
    )


def kl_along(policy: Policy, reference: Policy, view: Ints, completions: Completions) -> Floats:
    """[N] Σ_t KL(policy ‖ reference) of the next token at each prefix of completions that the policy wrote, in nats.

    Its mean is an estimate of KL(policy ‖ reference) over whole completions, without bias and with less noise than
    that of log p / p_ref (chain rule of the relative entropy). Both must have one vocabulary.
    """
    ours, theirs = (steps_of(one, view, completions) for one in (policy, reference))
    each = (ours.p * (ours.log_p - theirs.log_p)).sum(axis=1)
    return np.asarray(np.bincount(np.repeat(np.arange(len(view)), completions.lengths), each, len(view)), np.float64)
