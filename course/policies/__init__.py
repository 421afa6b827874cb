"""Machinery: what Loop C changes, policies small enough to be read whole, and the equations that change them.

``softmax``: one choice among K actions, and the gradient of its log-probability. ``reinforce``: the update. ``bandit``:
the prompt whose arms are completions. ``two_step``: the same with time. ``kl_regularised``: the best policy under a KL
penalty. ``tokenizer``: what a language model's actions are. Their loops stand in the commands, in full.

``vocabulary``, ``token_policy``, ``sampling``: a policy made of tokens, and its file (``policy_file``).
``demonstrations``: the texts it is fine-tuned on first. ``token_learner``: its loop, which two commands run.
``train_config``: on which prompts, and how. ``evaluation``: what is measured on the way.
"""
