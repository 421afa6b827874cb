"""Yours to write, for milestone 3: one update of a policy that writes tokens, from random draws to new weights.

    python3 -m check loop

compares your step with the course's own, on draws that are fixed, and names the mistake if it recognises it. Then a
policy learns with your step:

    python3 -m course.token_train --preset small --step exercises/loop.py:step

The functions that you need are imported below. ``leave_one_out`` is the one that you wrote for level 3.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from course.policies.softmax import Floats
from course.policies.token_policy import Policy, gradient, log_probs, sample_completions
from exercises.reinforce import leave_one_out


def step(
    policy: Policy,
    reference: Policy,
    examples: list[dict[str, Any]],
    u: Floats,
    score: Callable[[dict[str, Any], str], dict[str, Any]],
    group_size: int,
    lr: float,
    kl_coef: float,
) -> Policy:
    """The policy after one update. Change none of the arguments: the reference may be the very same object.

    ``examples``: the example that each of the N completions answers; the ``group_size`` completions of a prompt are
    neighbours. ``u``: a random number from 0 to 1 for each token. The course draws them, and the same ``u`` gives the
    same texts. ``score(example, text)``: a dict with ``reward``. ``kl_coef``: beta.

    Eleven statements are enough, one for each line below. The shapes are those of an update of the preset ``small``: 8
    prompts, 8 completions of each, 12 tokens in the longest completion.

     1. prompts      [64, 2]   the prompts of the examples, as tokens: policy.encode_prompts
     2. completions            what the policy writes: sample_completions(policy, prompts, u).
                               It has .tokens [64, 12] and .lengths [64]
     3. texts        64 texts  the completions as text: policy.decode_completions
     4. reward       [64]      what score gives for each example and its text, as an array
     5. log_ratio    [64]      log p(completion) by the policy, minus the same by the reference.
                               log_probs(policy, prompts, completions) has each token's log p, [64, 12];
                               a completion's is the sum of its row
     6. return_      [64]      the reward, minus kl_coef times log_ratio
     7. baseline     [64]      leave_one_out of each group of 8 returns. It takes a list: group.tolist()
     8. advantage    [64]      the return, minus the baseline
     9. credit       [64, 1]   the advantage, divided by the number of completions. As a column: all tokens of a
                               completion share it. gradient also takes [64, 12], a credit for each token
    10. direction              gradient(policy, prompts, completions, credit), shaped as policy.weights
    11. return                 policy.apply_gradient(direction, lr), which is a new policy
    """
    raise NotImplementedError("write step in exercises/loop.py")
