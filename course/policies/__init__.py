"""What Loop C changes: policies small enough to be looked at whole, and the equations that change them.

``softmax``: one choice among K actions, and the gradient of its log-probability. ``learner``: the update. ``bandit``:
the prompt whose arms are completions, paid by the verifier. ``two_step``: the same with time. ``kl_regularised``: the
best policy on a leash. ``tokenizer``: what a language model's actions are. Their loops stand in the commands, in full.

``pieces``, ``token_policy``, ``sampling``: a policy made of tokens. ``demonstrations``: the texts it starts from.
``token_learner``: its loop, which four commands run. ``regimes``: on what, and for how long. ``measuring``: what is
looked at on the way.
"""
