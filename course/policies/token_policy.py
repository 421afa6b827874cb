"""Machinery: a policy that writes a completion token by token, the bandit plus time plus tokens.

At each prefix the policy reads the prompt and the last few tokens that it wrote, and samples the next token from a
softmax. The new idea is that a small network computes theta (Bengio et al. 2003: a vector for each token that is read,
a hidden layer, a theta for each token of the vocabulary), so an update at one prefix changes the probabilities at
others.

Only ``Vocabulary`` turns tokens into text, and text into tokens: a policy samples tokens, and the verifier reads text.
The way back is not unique, as with any tokenizer: the tokens of ``1`` and ``2`` decode to ``12``, without a token
``12``.

Notation
    V         size of the vocabulary; a token is an int below V
    END       the token that ends a completion; its text is empty
    V itself  padding: a position before the first token, and a character of a prompt that no token has
    N, T      completions side by side; the tokens of the longest
    M         prefixes, Σ lengths of the completions: the first one's, then the next one's
    C         tokens that are read: P of the prompt and the RECENT last ones of the completion
    D, H      width of a vector, of the hidden layer
    theta     [V] at one prefix: next-token preferences (a language model's logits)

A language model also has, and this policy leaves out: attention (here the prompt and the last RECENT tokens are read),
more layers, dropout, an optimiser with a memory. Plain gradient ascent is enough here.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from course.errors import UserError
from course.policies.softmax import Floats, Ints, sample

END = 0
ANSWER_TOKENS = ("", *"0123456789", "Final", ":", " ", "-", "\n", "The answer is", ".")  # what each policy can write
RECENT = 3  # tokens of the completion that are read
LARGEST = 1e6  # a weight; those of a trained policy stay below 100
_WORD_OR_CHARACTER = re.compile("[A-Za-z]+|.", re.DOTALL)


class Vocabulary(tuple[str, ...]):
    """The text of each of V tokens, in order."""

    @classmethod
    def of(cls, prompts: Iterable[str]) -> Self:
        """``ANSWER_TOKENS``, and what else the prompts need: whole words, all other text character by character."""
        needed = {text for prompt in prompts for text in _WORD_OR_CHARACTER.findall(prompt)}
        return cls((*ANSWER_TOKENS, *sorted(needed.difference(ANSWER_TOKENS))))

    @cached_property
    def _longest_first(self) -> "re.Pattern[str]":
        texts = sorted(filter(None, self), key=len, reverse=True)
        return re.compile("|".join([*map(re.escape, texts), "."]), re.DOTALL)

    @cached_property
    def _token(self) -> dict[str, int]:
        return {text: token for token, text in enumerate(self)}

    def encode(self, text: str) -> list[int]:
        """Text → tokens, the longest that fits first. A character that no token has becomes V, padding."""
        return [self._token.get(part, len(self)) for part in self._longest_first.findall(text)]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join([self[token] for token in tokens])


class Weights(NamedTuple):
    """The parameters, or a gradient with respect to them, which has the same shapes."""

    vectors: Floats  # [V + 1, D]; the last is that of padding
    hidden: Floats  # [C · D, H]
    hidden_bias: Floats  # [H]
    out: Floats  # [H, V]
    out_bias: Floats  # [V]


class Completions(NamedTuple):
    """N completions as tokens. Beyond its length a row holds V, padding."""

    tokens: Ints  # [N, T]
    lengths: Ints  # [N], the END included

    @property
    def mask(self) -> NDArray[np.bool_]:
        """[N, T] whether there is a token."""
        return np.arange(self.tokens.shape[1]) < self.lengths[:, None]


class Policy(NamedTuple):
    """A vocabulary, the positions of a prompt that are read, the longest completion, and the weights."""

    vocabulary: Vocabulary
    positions: tuple[int, ...]  # P of them
    max_tokens: int
    weights: Weights

    def encode_prompts(self, prompts: Sequence[str]) -> Ints:
        """[N, P] the tokens that this policy reads of each prompt."""
        rows = [dict(enumerate(self.vocabulary.encode(prompt))) for prompt in prompts]
        read = [[row.get(position, len(self.vocabulary)) for position in self.positions] for row in rows]
        return np.array(read, dtype=np.int64).reshape(len(rows), len(self.positions))

    def encode_completions(self, texts: Sequence[str]) -> Completions:
        """Texts as tokens, each with its END."""
        rows = [[*self.vocabulary.encode(text), END] for text in texts]
        lengths = np.array([len(row) for row in rows])
        tokens = np.full((len(rows), lengths.max()), len(self.vocabulary))
        tokens[Completions(tokens, lengths).mask] = np.concatenate(rows)
        return Completions(tokens, lengths)

    def decode_completions(self, completions: Completions) -> list[str]:
        """Tokens as texts: what the verifier is given of each completion."""
        pairs = zip(completions.tokens.tolist(), completions.lengths.tolist(), strict=True)
        rows = [tuple(tokens[:length]) for tokens, length in pairs]
        text_of = {row: self.vocabulary.decode(row) for row in set(rows)}  # a policy repeats itself
        return [text_of[row] for row in rows]

    def apply_gradient(self, direction: Weights, lr: float) -> Self:
        """weights + lr · direction. Raises UserError if a weight grows beyond ``LARGEST``, long before it overflows."""
        pairs = zip(self.weights, direction, strict=True)
        weights = Weights(*(weight + lr * change for weight, change in pairs))
        if not all((abs(weight) <= LARGEST).all() for weight in weights):
            raise UserError(
                f"expected weights up to {LARGEST:,.0f} after the update, got larger ones or NaN; if the direction is "
                "right, use a smaller --lr or --kl-coef"
            )
        return self._replace(weights=weights)


def initial_policy(
    prompts: Sequence[str], width: int, hidden: int, max_tokens: int, rng: np.random.Generator
) -> Policy:
    """An untrained policy for prompts like these: it writes every token with the same probability.

    The policy reads only the positions at which the prompts differ, because the other positions say nothing.
    """
    vocabulary = Vocabulary.of(prompts)
    columns = zip_longest(*map(vocabulary.encode, prompts))
    positions = tuple(position for position, column in enumerate(columns) if len(set(column)) > 1)
    inputs = (len(positions) + RECENT) * width
    weights = Weights(
        vectors=rng.normal(0, 0.7, (len(vocabulary) + 1, width)),
        hidden=rng.normal(0, inputs**-0.5, (inputs, hidden)),
        hidden_bias=np.zeros(hidden),
        out=np.zeros((hidden, len(vocabulary))),
        out_bias=np.zeros(len(vocabulary)),
    )
    return Policy(vocabulary, positions, max_tokens, weights)


class Activations(NamedTuple):
    """The network at M prefixes."""

    context: Ints  # [M, C]
    inputs: Floats  # [M, C · D]
    hidden: Floats  # [M, H]
    p: Floats  # [M, V] probability of each next token
    theta: Floats  # [M, V] less the largest of each row
    total: Floats  # [M, 1] Σ exp theta

    @property
    def log_p(self) -> Floats:
        """[M, V] finite where p is too small for a float."""
        return np.asarray(self.theta - np.log(self.total))


def forward(weights: Weights, context: Ints) -> Activations:
    """p ∝ exp theta, where theta = tanh(x · hidden + bias) · out + bias, and x the vectors of the tokens that are read.

    The vectors are looked up: to multiply a one-hot row by the table gives the same, and takes V times as long.
    """
    inputs = np.take(weights.vectors, context, axis=0).reshape(len(context), len(weights.hidden))
    hidden = np.tanh(inputs @ weights.hidden + weights.hidden_bias)
    theta = hidden @ weights.out + weights.out_bias
    theta -= theta.max(axis=1, keepdims=True)  # against overflow
    p = np.exp(theta)
    total = p.sum(axis=1, keepdims=True)
    return Activations(context, inputs, hidden, p / total, theta, total)


def forward_completions(policy: Policy, prompts: Ints, completions: Completions) -> Activations:
    """The network at each of the M prefixes of N completions. ``prompts``: [N, P]."""
    tokens = completions.tokens
    padding = np.full((len(tokens), RECENT), len(policy.vocabulary))
    before = np.concatenate([padding, tokens[:, :-1]], axis=1)
    recent = np.lib.stride_tricks.sliding_window_view(before, RECENT, axis=1)[completions.mask]  # [M, RECENT]
    prompt = np.repeat(prompts, completions.lengths, axis=0)  # [M, P]
    return forward(policy.weights, np.concatenate([prompt, recent], axis=1))


def log_probs(policy: Policy, prompts: Ints, completions: Completions) -> Floats:
    """[N, T] log-probability of each token given all before it, 0 beyond the last; a row sums to log p(completion)."""
    log_p = forward_completions(policy, prompts, completions).log_p
    per_token = np.zeros(completions.tokens.shape)
    per_token[completions.mask] = log_p[np.arange(len(log_p)), completions.tokens[completions.mask]]
    return per_token


def log_ratio(policy: Policy, reference: Policy, prompts: Ints, completions: Completions) -> Floats:
    """[N] log p(completion) − log p_reference(completion). Its mean over the policy's completions estimates the KL."""
    ratio = log_probs(policy, prompts, completions) - log_probs(reference, prompts, completions)
    return np.asarray(ratio.sum(axis=1))


def gradient(policy: Policy, prompts: Ints, completions: Completions, credit: Floats) -> Weights:
    """Σ_i Σ_t credit_it · ∂ log p(token t of completion i) / ∂ weights.

    ``credit``: [N, T], a number for each token, or [N, 1], one for all tokens of a completion. Raises ValueError for
    another number of dimensions.

    The chain rule by hand: at each prefix ∂ log p_a / ∂ theta_b = [a = b] − p_b, as in ``softmax.grad_log_prob``, and
    from there back through the network. A credit of 1/N is maximum likelihood, one of advantage/N is REINFORCE. A
    completion without credit adds nothing, and costs nothing.
    """
    if credit.ndim != 2:
        raise ValueError(f"expected credit of the shape [N, T] or [N, 1], got {list(credit.shape)}")
    counts = (credit != 0).any(axis=1)
    prompts = prompts[counts]
    completions = Completions(completions.tokens[counts], completions.lengths[counts])
    credit = np.broadcast_to(credit[counts], completions.tokens.shape)
    network = forward_completions(policy, prompts, completions)
    token = completions.tokens[completions.mask]  # [M]
    per_token = credit[completions.mask][:, None]  # [M, 1]
    theta = -per_token * network.p
    theta[np.arange(len(token)), token] += per_token[:, 0]
    hidden = theta @ policy.weights.out.T
    hidden *= 1 - network.hidden**2
    rows, width = policy.weights.vectors.shape
    vectors = (hidden @ policy.weights.hidden.T).reshape(network.context.size, width)  # [M · C, D]
    return Weights(
        vectors=np.stack([np.bincount(network.context.ravel(), column, rows) for column in vectors.T], axis=1),
        hidden=network.inputs.T @ hidden,
        hidden_bias=hidden.sum(axis=0),
        out=network.hidden.T @ theta,
        out_bias=theta.sum(axis=0),
    )


def sequence_kl(policy: Policy, reference: Policy, prompts: Ints, completions: Completions) -> Floats:
    """[N] Σ_t KL(policy ‖ reference) of the next token at each prefix of completions of the policy, in nats.

    The mean of these values estimates KL(policy ‖ reference) over whole completions without bias, like the mean of
    ``log_ratio`` (chain rule of the relative entropy). On trained policies this estimate was less noisy than that of
    ``log_ratio``; that is an observation, not a theorem. Both policies must have the same vocabulary.
    """
    ours = forward_completions(policy, prompts, completions)
    theirs = forward_completions(reference, prompts, completions)
    per_token = (ours.p * (ours.log_p - theirs.log_p)).sum(axis=1)
    completion = np.repeat(np.arange(len(prompts)), completions.lengths)
    return np.asarray(np.bincount(completion, per_token, len(prompts)), np.float64)


def sampling_distribution(log_p: Floats, temperature: float, top_p: float) -> Floats:
    """[M, V] the distribution that is sampled from: the policy's, sharpened, then cut.

    ``temperature``: p ∝ exp(log p / temperature); at 0 the most probable token has probability 1 (of equals, the
    first).
    ``top_p``: the smallest set of most probable tokens whose sharpened probabilities add up to at least ``top_p`` is
    kept, and scaled to 1 (nucleus sampling, Holtzman et al. 2020). With both at 1 the result is the policy's own p.
    """
    if temperature == 0:
        return np.asarray(np.eye(log_p.shape[1])[log_p.argmax(axis=1)])
    sharpened = (log_p - log_p.max(axis=1, keepdims=True)) / temperature
    p = np.exp(sharpened)
    p /= p.sum(axis=1, keepdims=True)
    if top_p < 1:
        order = np.argsort(-p, axis=1, kind="stable")
        ranked = np.take_along_axis(p, order, axis=1)
        ranked[np.cumsum(ranked, axis=1) - ranked >= top_p] = 0.0  # the more probable ones hold enough already
        np.put_along_axis(p, order, ranked / ranked.sum(axis=1, keepdims=True), axis=1)
    return np.asarray(p)


def sample_completions(
    policy: Policy, prompts: Ints, u: Floats, temperature: float = 1.0, top_p: float = 1.0
) -> Completions:
    """N completions of N prompts. ``prompts``: [N, P] tokens; ``u``: [N, T] draws from [0, 1), T tokens at most.

    A completion that reaches the limit is cut there and has no END.
    """
    rows, limit = u.shape
    padding = len(policy.vocabulary)
    tokens = np.full((rows, limit), padding)
    lengths = np.full(rows, limit)
    open_ = np.arange(rows)  # the completions that have not ended
    recent = np.full((rows, RECENT), padding)
    for t in range(limit):
        network = forward(policy.weights, np.concatenate([prompts[open_], recent], axis=1))
        p = network.p if temperature == top_p == 1 else sampling_distribution(network.log_p, temperature, top_p)
        token = sample(p, u[open_, t])
        tokens[open_, t] = token
        ended = token == END
        lengths[open_[ended]] = t + 1
        recent = np.concatenate([recent, token[:, None]], axis=1)[~ended, 1:]
        open_ = open_[~ended]
        if not open_.size:
            break
    return Completions(tokens[:, : lengths.max()], lengths)


def sample_texts(
    policy: Policy, prompts: Sequence[str], rng: np.random.Generator, temperature: float = 1.0, top_p: float = 1.0
) -> list[str]:
    u = rng.random((len(prompts), policy.max_tokens))
    return policy.decode_completions(sample_completions(policy, policy.encode_prompts(prompts), u, temperature, top_p))
