"""Machinery: a token policy as a file, which ``course.token_train`` writes and ``course.sample_rollouts`` reads.

An npz of arrays, with the vocabulary and the training as JSON in one of them; nothing in it is executed when it is
read.

Covered
    A file that is no policy, is cut off, or holds arrays that do not fit each other: the error is one line.
Not covered
    A policy made by hand to be slow: at most 64 MB are read, but NumPy may allocate as much as a header claims.
    A training that was edited by hand, because nothing signs it. The policy then has a different name.
"""

import io
import warnings
import zipfile
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from course.datasets.files import open_regular
from course.datasets.records import Training
from course.errors import UserError
from course.policies.token_policy import ANSWER_TOKENS, LARGEST, RECENT, Policy, Vocabulary, Weights
from course.text import visible

_MOST_BYTES = 64 * 2**20  # unpacked


class _About(msgspec.Struct):
    """What a policy is besides its weights."""

    vocabulary: list[str]
    positions: tuple[Annotated[int, Meta(ge=0, le=10_000)], ...]
    max_tokens: Annotated[int, Meta(ge=1, le=10_000)]
    training: Training


def policy_bytes(policy: Policy, training: Training) -> bytes:
    """The file's content: the same policy and training give the same bytes."""
    about = msgspec.json.encode(_About(list(policy.vocabulary), policy.positions, policy.max_tokens, training))
    out = io.BytesIO()
    np.savez(out, about=np.frombuffer(about, np.uint8), **policy.weights._asdict())
    return out.getvalue()


def read_policy(path: Path) -> tuple[Policy, Training]:
    """Read a policy, and what it was trained on. Raises UserError if the file is not a policy."""
    if path.is_dir():
        inside = path / "policy.npz"
        mend = f"did you mean {inside}? " if inside.exists() else ""
        expected = "expected a policy that course.token_train wrote (policy.npz)"
        raise UserError(f"{mend}{path}: {expected}, got a folder")
    try:
        with open_regular(path) as file, warnings.catch_warnings():
            warnings.simplefilter("error")
            return _unpack_policy(file.read(_MOST_BYTES + 1))
    except Exception as error:  # the system, zip, npy, JSON and NumPy each have exceptions of their own for it
        got = visible(getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]
        got = got.replace("File is not a zip file", "a file of a different kind, or an incomplete one")
        raise UserError(f"{path}: expected a policy that course.token_train wrote (policy.npz), got: {got}") from None


def _unpack_policy(data: bytes) -> tuple[Policy, Training]:
    """Policy and training, if their parts fit each other. Raises any exception if they do not."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        if len(data) > _MOST_BYTES or sum(part.file_size for part in file.infolist()) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES >> 20} MB")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        about = msgspec.json.decode(arrays["about"].tobytes(), type=_About)
        weights = Weights(*(arrays[name] for name in Weights._fields))
    texts, positions, training = about.vocabulary, about.positions, about.training
    if tuple(texts[: len(ANSWER_TOKENS)]) != ANSWER_TOKENS or len(set(texts)) < len(texts):
        raise ValueError("its vocabulary is not one of this lab")
    _, width = weights.vectors.shape
    (units,) = weights.hidden_bias.shape
    shapes = [
        (len(texts) + 1, width),
        ((len(positions) + RECENT) * width, units),
        (units,),
        (units, len(texts)),
        (len(texts),),
    ]
    if [weight.shape for weight in weights] != shapes:
        raise ValueError("its arrays do not fit each other")
    if not all(weight.dtype == np.float64 and (abs(weight) <= LARGEST).all() for weight in weights):
        raise ValueError("its weights are not all numbers of a reasonable size")
    if not training.prompts:
        raise ValueError("it was trained on no prompt")
    return Policy(Vocabulary(texts), positions, about.max_tokens, weights), training
