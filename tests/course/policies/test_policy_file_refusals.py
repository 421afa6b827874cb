"""What is no policy file is refused in one line that names it, whatever is wrong with it."""

import io
import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_policies import same_bits

from course.datasets.records import Training
from course.errors import UserError
from course.policies import policy_file
from course.policies.policy_file import policy_bytes, read_policy
from course.policies.token_policy import Policy, initial_policy

POLICY = initial_policy(["a 1", "b 22"], 2, 3, 4, np.random.default_rng(0))
DIGESTS = ["0123456789abcdef", "fedcba9876543210"]
TRAINING = Training("anywhere", DIGESTS)
GOOD = policy_bytes(POLICY, TRAINING)
TOKENS, W = list(POLICY.vocabulary), POLICY.weights
TRAINED: dict[str, object] = {"rubric": "anywhere", "prompts": DIGESTS}
FACTS: dict[str, object] = {
    "vocabulary": TOKENS,
    "positions": POLICY.positions,
    "max_tokens": 4,
    "training": TRAINED,
}


def npy(array: object, pickled: bool = False) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(array), allow_pickle=pickled)
    return out.getvalue()


def header(text: str, body: bytes = b"") -> bytes:
    """An npy file with this header, well-formed or not."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin-1") + body


def shaped(shape: str, descr: str = "'<f8'") -> bytes:
    return header(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n", b"\0" * 8)


def with_parts(changes: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    """The good file with these parts changed or added, and without those that are empty."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(GOOD)) as good, zipfile.ZipFile(out, "w", kind, compresslevel=1) as file:
        for name, data in ({name: good.read(name) for name in good.namelist()} | changes).items():
            if data:
                file.writestr(name, data)
    return out.getvalue()


def about(**changes: object) -> bytes:
    """The good file with these facts changed, None for one that is missing."""
    facts = {name: value for name, value in (FACTS | changes).items() if value is not None}
    return about_of(json.dumps(facts).encode())


def trained(**changes: object) -> bytes:
    """The good file with this said of its training."""
    return about(training=TRAINED | changes)


def about_of(raw: bytes) -> bytes:
    return with_parts({"about.npy": npy(np.frombuffer(raw, np.uint8))})


def weight(name: str, value: object) -> bytes:
    return with_parts({f"{name}.npy": npy(value)})


def one_byte_off(data: bytes, place: int, flip: int) -> bytes:
    return data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :]


def longer_than_the_file(data: bytes) -> bytes:
    """Both sizes of the part ``hidden.npy`` in the list of the parts made 60,000."""
    sizes = data.rindex(b"hidden.npy") - 46 + 20
    return data[:sizes] + struct.pack("<II", 60_000, 60_000) + data[sizes + 8 :]


def one_wrong(value: float) -> bytes:
    array = W.hidden.copy()
    array[2, 1] = value
    return weight("hidden", array)


NOT_ZIP = "a file of a different kind, or an incomplete one"
UNFIT = "its arrays do not fit each other"
UNFINITE = "not all numbers of a reasonable size"
PROMPTS = "expected each digest once and in order"
FOREIGN = "its vocabulary is not one of this lab"
NUMBERS = "`$.max_tokens`"
DEFLATED = with_parts({}, zipfile.ZIP_DEFLATED)
ZEROS = b"\0" * (33 * 2**20)
REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", NOT_ZIP),
    "text": (b"Final: 22\n", NOT_ZIP),
    "one array": (npy(np.zeros(3)), NOT_ZIP),
    "the first half": (GOOD[: len(GOOD) // 2], NOT_ZIP),
    "all but a byte": (GOOD[:-1], ""),
    "all but the first byte": (GOOD[1:], ""),
    "an array before it": (npy(np.zeros(3)) + GOOD, ""),
    "a zip of something else": (with_parts({f"{name}.npy": b"" for name in ("about", *W._fields)}), "about"),
    "larger than is read": (with_parts({"a": ZEROS, "b": ZEROS}, zipfile.ZIP_DEFLATED), "more than 64 MB"),
    "a changed weight": (one_byte_off(GOOD, GOOD.index(W.vectors.tobytes()) + 3, 1), "CRC"),
    **{f"no {name}": (with_parts({f"{name}.npy": b""}), f"{name} is not a file") for name in ("about", *W._fields)},
    "about no JSON": (about_of(b"\xff\x00"), ""),
    "about no UTF-8": (about_of(json.dumps(FACTS).replace("max_tokens", "limit\xff").encode("latin-1")), ""),
    "about cut": (about_of(b'{"vocabulary": ['), ""),
    **{f"about {raw!r}": (about_of(raw), "") for raw in (b"1", b"null", b"[]", b'"vocabulary"', b"NaN", b"{}")},
    **{f"about without {name}": (about(**{name: None}), name) for name in FACTS},
    "pieces a number": (about(vocabulary=5), "`$.vocabulary`"),
    "pieces a text": (about(vocabulary="abc"), "`$.vocabulary`"),
    "pieces of another lab": (about(vocabulary=["<end>", *TOKENS[1:]]), FOREIGN),
    "pieces too few": (about(vocabulary=TOKENS[:5]), FOREIGN),
    "pieces one too many": (about(vocabulary=[*TOKENS, "c"]), UNFIT),
    "a piece twice": (about(vocabulary=[*TOKENS[:-1], TOKENS[-2]]), FOREIGN),
    "two pieces empty": (about(vocabulary=[*TOKENS[:-1], ""]), FOREIGN),
    **{
        f"a piece {piece!r}": (about(vocabulary=[*TOKENS[:-1], piece]), "`$.vocabulary[")
        for piece in (7, None, ["b"], {"b": 1})
    },
    **{f"limit {limit!r}": (about(max_tokens=limit), NUMBERS) for limit in (0, -1, 10_001, True, 4.0, "4", [4])},
    "limit nan": (about(max_tokens=float("nan")), "malformed"),
    "limit inf": (about(max_tokens=float("inf")), "malformed"),
    "limit of five thousand digits": (
        about_of(b'{"vocabulary":[],"positions":[],"max_tokens":' + b"9" * 5000 + b"}"),
        "",
    ),
    **{
        f"places {places!r}": (about(positions=places), "`$.positions")
        for places in ([-1, 1, 2], [0, True, 2], [0, 1.0, 2], ["0"], [10_001, 1, 2], "012", [[0]])
    },
    **{f"training {value!r}": (about(training=value), "`$.training`") for value in (1, "score", [], [None, DIGESTS])},
    "training {}": (about(training={}), "rubric"),
    "training without prompts": (about(training={"rubric": None}), "prompts"),
    "training without a rubric": (about(training={"prompts": DIGESTS}), "rubric"),
    "training with another key": (trained(seed=0), "unknown field `seed`"),
    **{f"a rubric of {n} letters": (trained(rubric="a" * n), "`$.training.rubric`") for n in (0, 61, 9000)},
    **{f"rubric {value!r}": (trained(rubric=value), "`$.training.rubric`") for value in (1, True, ["score"])},
    **{f"trained on {value!r}": (trained(prompts=value), "`$.training.prompts`") for value in (None, 7, DIGESTS[0])},
    **{f"trained on [{value!r}]": (trained(prompts=[value]), "`$.training.prompts[") for value in (None, 7, DIGESTS)},
    "trained on nothing": (trained(prompts=[]), "it was trained on no prompt"),
    "trained on prompts not in order": (trained(prompts=DIGESTS[::-1]), PROMPTS),
    "trained on a prompt twice": (trained(prompts=[DIGESTS[0], *DIGESTS]), PROMPTS),
    **{
        f"trained on the digest {digest!r}": (trained(prompts=sorted([digest, DIGESTS[1]])), "matching regex")
        for digest in (
            "",
            "0123456789abcde",
            "0123456789abcdef0",
            "0123456789abcdeF",
            "0123456789abcdeg",
            "0123456789abcdef\n",
            "٠123456789abcdef",
            "Add 1 + 2.",
        )
    },
    "places a number": (about(positions=3), "`$.positions`"),
    "places one too few": (about(positions=POLICY.positions[1:]), UNFIT),
    **{
        f"a weight {value}": (one_wrong(value), UNFINITE)
        for value in (float("nan"), float("inf"), float("-inf"), 1.1e6)
    },
    **{
        f"hidden as {kind}": (weight("hidden", W.hidden.astype(kind)), UNFINITE)
        for kind in (np.float32, np.int64, np.bool_, np.complex128, ">f8", "S8", "U8")
    },
    **{f"{name} transposed": (weight(name, getattr(W, name).T), "") for name in ("vectors", "hidden", "out")},
    **{f"{name} one longer": (weight(name, np.concatenate([w, w[:1]])), UNFIT) for name, w in W._asdict().items()},
    **{
        f"{name} one wider": (weight(name, np.hstack([w, w[:, :1]])), UNFIT)
        for name, w in W._asdict().items()
        if w.ndim == 2
    },
    **{f"{name} a number": (weight(name, 1.0), "") for name in W._fields},
    **{f"{name} too deep": (weight(name, w[None]), "") for name, w in W._asdict().items()},
    "an object": (with_parts({"hidden.npy": npy(np.array([{}], dtype=object), pickled=True)}), "allow_pickle=False"),
    "a header of another version": (with_parts({"hidden.npy": b"\x93NUMPY\x09\x00\x00\x00\x00\x00"}), "version"),
    "a header that is cut": (with_parts({"hidden.npy": b"\x93NUMPY\x01\x00\xff\xff{"}), "EOF"),
    "a header that is long": (with_parts({"hidden.npy": header("{}" + " " * 20_000)}), "large"),
    "a header of another kind": (with_parts({"hidden.npy": header("[]")}), ""),
    "fewer numbers than named": (with_parts({"hidden.npy": shaped("(12, 3)")}), "read"),
    # Each version of Python words the next one in its own way.
    "a part that goes on after the file": (longer_than_the_file(with_parts({"hidden.npy": shaped("(7000,)")})), ""),
    "packed and changed": (one_byte_off(DEFLATED, DEFLATED.index(b"about.npy") + 9, 3), "decompressing"),
    "a negative size": (with_parts({"hidden.npy": shaped("(-1, 3)")}), ""),
    "a kind of number that is none": (with_parts({"hidden.npy": shaped("(1,)", "'<q99'")}), ""),
}
BY_HAND: dict[str, bytes] = {  # each made zipfile, NumPy or Python raise something of its own
    "about deeper than Python reads": about_of(b"[" * 100_000),
    "about no array": with_parts({"about.npy": b"{}"}),
    "a weight that is no array": with_parts({"hidden.npy": b"hello"}),
    "an open bracket in a header": with_parts({"hidden.npy": shaped("(((")}),
    "a header that needs too much memory": with_parts({"hidden.npy": header("-" * 9_000 + "1")}),
    "an empty tuple as a kind of number": with_parts({"hidden.npy": shaped("(1,)", "()")}),
    "a size that no memory holds": with_parts({"hidden.npy": shaped("(10000000000000000,)")}),
    "a size that no machine can count": with_parts({"hidden.npy": shaped(f"({10**30},)")}),
    "encrypted": one_byte_off(GOOD, GOOD.index(b"PK\x01\x02") + 8, 1),
    "packed by LZMA and changed": one_byte_off(
        LZMA := with_parts({}, zipfile.ZIP_LZMA), LZMA.index(b"about.npy") + 40, 255
    ),
    "packed by bzip2 and changed": one_byte_off(BZ2 := with_parts({}, zipfile.ZIP_BZIP2), BZ2.index(b"BZh") + 8, 255),
    "half a character as a piece": about(vocabulary=[*TOKENS[:-1], "\ud800"]),
}


BEGINNING = ": expected a policy that course.token_train wrote (policy.npz), got: "


def line_of(path: Path) -> str | None:
    """What the line that refuses a file says of it, 1 to 200 characters; None if it is read, or refused else."""
    try:
        read_policy(path)
    except UserError as refusal:
        message = str(refusal).removeprefix(f"{path}{BEGINNING}")
        return message if message != str(refusal) and "\n" not in message and 0 < len(message) <= 200 else None
    return None


def written(folder: Path, data: bytes) -> Path:
    (folder / "policy.npz").write_bytes(data)
    return folder / "policy.npz"


def test_what_is_no_policy_is_refused(tmp_path: Path) -> None:
    lines = {name: line_of(written(tmp_path, data)) for name, (data, _) in REFUSED.items()}
    assert {name: line for name, line in lines.items() if line is None or REFUSED[name][1] not in line} == {}


@pytest.mark.parametrize("name", BY_HAND)
def test_nor_is_what_was_made_by_hand_to_break_it(name: str, tmp_path: Path) -> None:
    assert line_of(written(tmp_path, BY_HAND[name])) is not None


def test_a_file_that_is_not_there_is_refused_and_in_a_folder_the_policy_is_named(tmp_path: Path) -> None:
    assert line_of(tmp_path / "policy.npz") == "No such file or directory"
    inside = written(tmp_path, GOOD)
    with pytest.raises(UserError, match=f"^did you mean {re.escape(str(inside))}\\? "):
        read_policy(tmp_path)


def test_the_parts_changed_here_make_a_good_file_where_nothing_is_changed(tmp_path: Path) -> None:
    for data in (
        with_parts({}),
        about(),
        trained(),
        weight("hidden", W.hidden),
        with_parts({"more": ZEROS}, zipfile.ZIP_DEFLATED),
    ):
        policy, training = read_policy(written(tmp_path, data))
        assert same_bits(policy, POLICY)
        assert training == TRAINING


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "executed",)

    for name in ("about", "hidden"):
        data = with_parts({f"{name}.npy": npy(np.array([Trap()], dtype=object), pickled=True)})
        assert "pickle" in (line_of(written(tmp_path, data)) or "")
    assert not (tmp_path / "executed").exists()


def kept_or_refused(monkeypatch: pytest.MonkeyPatch, data: bytes) -> tuple[Policy, Training] | None:
    monkeypatch.setattr(policy_file, "open_regular", lambda _: io.BytesIO(data))
    try:
        return read_policy(Path("policy.npz"))
    except UserError as refusal:
        message = str(refusal)
    assert message.startswith("policy.npz: expected a policy")
    assert "\n" not in message
    return None


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_a_file_cut_anywhere_is_refused(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    whole = kept_or_refused(monkeypatch, GOOD)
    assert whole is not None  # else the files below are refused for another reason
    assert same_bits(whole[0], POLICY)
    for length in range(0, len(GOOD), every):
        assert kept_or_refused(monkeypatch, GOOD[:length]) is None


@pytest.mark.parametrize("every", [25, pytest.param(3, marks=pytest.mark.slow)])
def test_a_file_with_one_bit_changed_is_refused_or_gives_the_same_policy(
    monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    refused = 0
    places = range(0, len(GOOD), every)
    for place in places:
        kept = kept_or_refused(monkeypatch, one_byte_off(GOOD, place, 2 << place % 7))
        refused += kept is None
        assert kept is None or (same_bits(kept[0], POLICY) and kept[1] == TRAINING)
    assert refused > len(places) / 2
