"""A token policy as a file: what ``course.token_train`` writes and ``course.sample_rollouts`` reads.

An npz of arrays, with the vocabulary as JSON in one of them; nothing in it is executed when it is read.

Covered
    A file that is no policy, is cut off, or holds arrays that do not fit each other: one line says so.
Not covered
    A policy made by hand to be slow: 64 MB is the most that is read, and NumPy may ask for what a header claims.
"""

import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from course.errors import UserError
from course.policies.token_policy import LARGEST, RECENT, Policy, Weights
from course.policies.vocabulary import ANSWER_TOKENS, Vocabulary
from course.text import visible

_ABOUT = ("vocabulary", "positions", "max_tokens")
_LARGEST = 64 * 2**20  # bytes, unpacked
_WIDEST = 10_000  # tokens of a completion, positions of a prompt


def policy_bytes(policy: Policy) -> bytes:
    """The file's content: the same policy gives the same bytes."""
    about = json.dumps({name: getattr(policy, name) for name in _ABOUT}).encode()
    out = io.BytesIO()
    np.savez(out, about=np.frombuffer(about, np.uint8), **policy.weights._asdict())
    return out.getvalue()


def read_policy(path: Path) -> Policy:
    """Read a policy. Raises UserError where the file is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise _refused(path, (error.strerror or str(error)).lower()) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return _unpacked(data)
    except Exception as error:  # zip, npy, JSON and NumPy each have exceptions of their own, for much the same fault
        raise _refused(path, str(error) or type(error).__name__) from None


def _unpacked(data: bytes) -> Policy:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        if len(data) > _LARGEST or sum(part.file_size for part in file.infolist()) > _LARGEST:
            raise ValueError(f"more than {_LARGEST >> 20} MB")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        about = json.loads(arrays["about"].tobytes())
        return _checked(about, Weights(*(arrays[name] for name in Weights._fields)))


def _checked(about: Any, weights: Weights) -> Policy:
    """The policy, if its parts fit. Raises what comes up where they do not."""
    listed, positions, max_tokens = about["vocabulary"], tuple(about["positions"]), about["max_tokens"]
    texts = type(listed) is list and all(type(text) is str for text in listed)
    if not texts or tuple(listed[: len(ANSWER_TOKENS)]) != ANSWER_TOKENS or len(set(listed)) < len(listed):
        raise ValueError("its vocabulary is not one of this lab")
    "".join(listed).encode()  # whole characters, or this raises
    if not all(type(number) is int and 0 <= number <= _WIDEST for number in (*positions, max_tokens)) or not max_tokens:
        raise ValueError("its positions or max_tokens are no whole numbers of a reasonable size")
    (_, width), (units,) = weights.vectors.shape, weights.hidden_bias.shape
    shapes = [(len(listed) + 1, width), ((len(positions) + RECENT) * width, units), (units,), (units, len(listed))]
    if [weight.shape for weight in weights] != [*shapes, (len(listed),)]:
        raise ValueError("its arrays do not fit each other")
    if not all(weight.dtype == np.float64 and (abs(weight) <= LARGEST).all() for weight in weights):
        raise ValueError("its weights are not all numbers of a reasonable size")
    return Policy(Vocabulary(listed), positions, max_tokens, weights)


def _refused(path: Path, what: str) -> UserError:
    return UserError(
        f"{path}: expected a policy that course.token_train wrote (policy.npz), got: {visible(what)[:200]}"
    )
