"""Machinery: what Loop C changes, policies small enough to be read whole, and the equations that change them.

``softmax``: one choice among K actions, and the gradient of its log-probability. ``reinforce``: the update. ``bandit``:
the prompt whose arms are completions. ``two_step``: the same with time. ``kl_regularised``: the best policy under a KL
penalty. ``tokenizer``: what a language model's actions are. Their loops stand in the commands, in full.

``token_policy``: a policy made of tokens, what it writes, and its gradient; ``policy_file``: its file.
``token_learner``: how it is fine-tuned first, and its loop, which two commands run. ``train_config``: on which prompts,
and how. ``evaluation``: what is measured on the way.
"""
