"""What Loop C changes: policies small enough to be looked at whole, and the equations that change them.

``softmax``: one choice among K actions, and the gradient of its log-probability. ``bandit``: the prompt whose arms are
completions, paid by the verifier. The loops that use them stand in the commands, in full.
"""
