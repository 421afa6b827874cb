"""Random errors of a verifier, and their correction.

The worked example. With false positives at .25 and false negatives at .5, a wrong completion is paid where its draw is
below .25, a right one is not paid where its draw is below .5. Corrected, being paid is worth (1 − .25) / .25 = 3, and
not being paid −1: a right completion gets (3 − 1) / 2 = 1 on average, a wrong one 3 · .25 − 1 · .75 = 0.
"""

import numpy as np
import pytest

from course.policies.random_errors import corrected_reward, with_random_errors

RATES = [(0.25, 0.5), (0.0, 0.3), (0.3, 0.0), (0.2, 0.2), (0.0, 0.0)]


def test_the_worked_example() -> None:
    reward, u = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.24, 0.25, 0.49, 0.5])
    assert with_random_errors(reward, u, 0.25, 0.5).tolist() == [1.0, 0.0, 0.0, 1.0]
    assert corrected_reward(np.array([1.0, 0.0]), 0.25, 0.5).tolist() == [3.0, -1.0]


def test_without_errors_every_reward_stays_what_it_is() -> None:
    reward = np.array([0.0, 0.2, 1.0, 0.8])
    assert with_random_errors(reward, np.zeros(4), 0.0, 0.0).tolist() == reward.tolist()


@pytest.mark.parametrize(("rho_0", "rho_1"), RATES)
@pytest.mark.parametrize("true", [0.0, 1.0])
def test_the_errors_come_at_their_rates_and_the_correction_is_right_on_average(
    true: float, rho_0: float, rho_1: float
) -> None:
    u = (np.arange(1_000) + 0.5) / 1_000  # every thousandth once: the mean is exact
    paid = with_random_errors(np.full(1_000, true), u, rho_0, rho_1)
    assert paid.mean() == pytest.approx(1 - rho_1 if true else rho_0)
    assert corrected_reward(paid, rho_0, rho_1).mean() == pytest.approx(true)


@pytest.mark.parametrize(("rho_0", "rho_1"), [(0.5, 0.5), (0.9, 0.2)])
def test_where_being_paid_says_nothing_nothing_can_be_corrected(rho_0: float, rho_1: float) -> None:
    with pytest.raises(ValueError, match="less than 1"):
        corrected_reward(np.ones(1), rho_0, rho_1)
