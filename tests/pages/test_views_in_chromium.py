"""Every view, made from a real run and opened in Chromium: its console is silent, and its numbers stand there.

An example: the page of a bandit's run, opened at ``#step=2``, shows the third update and its advantage in words.
"""

from pathlib import Path

import pytest
from browser import CHROMIUM
from browser import shown as in_chromium
from conftest import ROOT, Lab

from course.pages.learning import learning_data
from course.pages.run import page_of_run

EXAMPLE_RUNS = ROOT / "data" / "example_runs"
LIVE = ROOT / "docs" / "live"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM, reason="Chromium is not here")]


def opened(page: Path, state: str, folder: Path) -> str:
    """The text that a page shows with this in its address; its console was silent."""
    found = in_chromium(page, state, folder)
    assert found.complaints == []
    return found.words


def shown(run: Path, state: str, folder: Path) -> str:
    page = folder / "page.html"
    text, _ = page_of_run(run, [])
    page.write_text(text, encoding="utf-8")
    return opened(page, state, folder)


def test_an_update_of_the_bandit(tmp_path: Path) -> None:
    text = shown(EXAMPLE_RUNS / "bandit", "step=2", tmp_path)
    assert "update 3 of 30" in text
    assert "reward 0 − baseline 0.500 = advantage −0.500, worse than the baseline" in text
    assert "The answer is 323. ← sampled 21.5 % → 17.4 % ▼ down" in text
    assert "Expected reward: 35.5 % before update 3, 38.1 % after it." in text


def test_an_episode_has_both_its_states(tmp_path: Path) -> None:
    text = shown(EXAMPLE_RUNS / "two_steps", "step=20", tmp_path)
    assert "episode 21 of 60" in text
    assert "reward 0, return 1 − baseline 0.700 = advantage +0.300, better than the baseline" in text
    assert "after Final: reward 1 − baseline 0.700 = advantage +0.300" in text


def test_a_place_beyond_the_last_is_the_last(tmp_path: Path) -> None:
    assert "update 30 of 30" in shown(EXAMPLE_RUNS / "bandit", "step=999", tmp_path)


@pytest.fixture
def trained(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ROOT)
    size = ("--sft-steps", 40, "--steps", 20, "--eval-every", 10, "--slow", 2)
    run = lab.folder / "run"
    assert lab("token_train", "--preset", "memorise", "--rubric", "anywhere", *size, "--outdir", run).status == 0
    return run


def test_a_training_and_its_tokens(trained: Path) -> None:
    data = learning_data(trained)
    last = data["trainings"][0]["points"][2]
    text = shown(trained, "step=2&token=1", trained.parent)
    assert f"After 20 updates the rubric pays {100 * last['proxy_reward']:.0f} % and the strict verifier" in text
    assert f"{last['hack_rate'] * last['n']:.0f} of {last['n']} completions are exploits" in text
    second = data["updates"][1]
    assert f"{second['sum']}advantage {second['advantage']:+.3f}, better than the baseline" in text
    assert f"{second['before'][0]:.3f}".replace("-", "−") in text
    assert f"{second['after'][0] - second['before'][0]:+.4f}".replace("-", "−") in text


def test_any_other_run_shows_its_numbers(lab: Lab) -> None:
    assert lab("kl_tradeoff_demo", "--outdir", "run").status == 0
    assert "What the run came to" in shown(Path("run"), "", lab.folder)


def test_a_verdict_of_the_gate(lab: Lab) -> None:
    lab.measured("base", [True] * 6 + [False] * 6)
    lab.measured("next", [False] + [True] * 9 + [False] * 2)
    assert lab("gate", "--baseline", "base", "--candidate", "next", "--min-delta", 0.01, "--report").status == 3
    text = opened(Path("next/gate.html").resolve(), "", lab.folder)
    assert "INCONCLUSIVE: the flips may be chance" in text
    assert "Difference: +25.0 points" in text
    assert "4 gained" in text
    assert "q1: Question 1? (0) baseline (ok) Final: 0 candidate (wrong answer) Final: 1" in text.replace(
        "Final:  ", "Final: "
    )
    assert "✓ same dataset fingerprint" in text


def test_the_verifier_names_what_cannot_be_seen(tmp_path: Path) -> None:
    text = opened(LIVE / "verifier.html", "answer=22&text=Final%3A%202%E2%80%8B2", tmp_path)
    assert "✗ Reward 0. not ascii: expected only ASCII characters" in text
    assert "U+200B ZERO WIDTH SPACE" in text
    assert "prefix ✓ passed ascii ✗ failed here no extra whitespace not reached" in text
    assert "✓ Reward 1." in opened(LIVE / "verifier.html", "", tmp_path)


def test_the_verifier_marks_every_character_that_is_not_ascii(tmp_path: Path) -> None:
    found = in_chromium(LIVE / "verifier.html", "answer=22&text=Fin%D0%B0l%3A%20%F0%9D%9F%9A2", tmp_path)
    assert found.complaints == []
    assert "Every character: Fin а U+0430 CYRILLIC SMALL LETTER A l: 𝟚 U+1D7DA 2" in found.words
    assert found.tags.count("mark") == 2
